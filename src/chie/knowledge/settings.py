"""Settings of the knowledge module, and the store and embedder that they choose."""

from typing import TYPE_CHECKING, Literal

from pydantic import Field, SecretStr

from chie.database.settings import DatabaseSettings, database_url
from chie.database.url import DatabaseUrl, PostgresUrl

if TYPE_CHECKING:
    from chie.knowledge.embedding.base import Embedder
    from chie.knowledge.store.base import NoteStore


class KnowledgeSettings(DatabaseSettings):
    knowledge_store: Literal["database", "vector-search"] | None = Field(
        default=None,
        description="`vector-search` stores notes in a Collection of Google Vector Search 2.0, which has its own "
        "embedding model ([set-up](vector-search.md)). Without it they are in the database; `VECTOR_SEARCH_…` "
        "variables are an error then, unless this is `database`.",
    )
    recall: Literal["confirmed", "own", "all"] = Field(
        default="confirmed",
        description="Notes that hooks show to an assistant unasked: `confirmed` ones and the user's own, only the "
        "user's `own`, or `all`. Search finds the others too.",
    )
    trash_days: int = Field(
        default=30,
        ge=0,
        le=36_500,
        description="How many days deleted notes stay in the trash, from which they can be restored. 0 deletes them at "
        "once.",
    )
    review_stale_months: int = Field(
        default=6,
        ge=1,
        le=120,
        description="Months after which the review asks about a note that nobody has changed, confirmed, been shown or "
        "opened since.",
    )
    embedding_url: str | None = Field(
        default=None,
        description="Base URL of an OpenAI-compatible embeddings server, such as `http://127.0.0.1:1234/v1`. "
        "Without it the built-in bilingual model is used.",
    )
    embedding_model: str = Field(default="text-embedding-3-small", description="Model to use at `CHIE_EMBEDDING_URL`.")
    embedding_key: SecretStr | None = Field(default=None, description="Bearer token for `CHIE_EMBEDDING_URL`.")


def create_embedder(settings: KnowledgeSettings) -> "Embedder":
    from chie.knowledge.embedding.cached import CachedEmbedder
    from chie.knowledge.embedding.onnx import OnnxEmbedder
    from chie.knowledge.embedding.openai import OpenAIEmbedder

    if settings.embedding_url is None:
        return CachedEmbedder(OnnxEmbedder())
    key = settings.embedding_key.get_secret_value() if settings.embedding_key else None
    return CachedEmbedder(OpenAIEmbedder(settings.embedding_url, settings.embedding_model, api_key=key))


def create_store(settings: KnowledgeSettings, embedder: "Embedder | None" = None) -> "NoteStore":
    from chie.knowledge.store.vector_search.config import load_config, reject_unused

    if settings.knowledge_store == "vector-search":
        from chie.knowledge.store.vector_search.store import VectorSearchStore

        return VectorSearchStore(load_config())
    if settings.knowledge_store is None:
        reject_unused()
    return open_store(database_url(settings), embedder or create_embedder(settings))


def open_store(url: DatabaseUrl, embedder: "Embedder") -> "NoteStore":
    """Drivers are imported, and connections opened, on first use."""
    if isinstance(url, PostgresUrl):
        from chie.knowledge.store.postgres.store import PostgresStore

        return PostgresStore(url, embedder)
    from chie.knowledge.store.sqlite.store import SqliteStore

    return SqliteStore(url.path, embedder)
