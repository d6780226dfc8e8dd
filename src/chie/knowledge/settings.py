"""What an operator can set for the knowledge room, and how its parts are chosen by it."""

from pathlib import Path
from typing import TYPE_CHECKING, Literal

from pydantic import Field, SecretStr
from pydantic_settings import BaseSettings, SettingsConfigDict

from chie.errors import ConfigurationError, ValidationError
from chie.settings import Home, home_folder

if TYPE_CHECKING:
    from chie.knowledge.embedding.base import Embedder
    from chie.knowledge.store.base import NoteStore

POSTGRES = ("postgresql", "postgres")


class KnowledgeSettings(BaseSettings):
    model_config = SettingsConfigDict(env_prefix="CHIE_", extra="ignore")

    home: Home = Field(
        default_factory=home_folder,
        description="Folder that holds the database file.",
    )
    knowledge_store: Literal["vector-search"] | None = Field(
        default=None,
        description="`vector-search` keeps notes in a Collection of Google Vector Search 2.0, which reads them with a "
        "model of its own ([set-up](vector-search.md)). Without it they are in the database.",
    )
    database_url: SecretStr | None = Field(
        default=None,
        description="`postgresql://user:password@host/name` keeps the notes there, beside the conversations. "
        "Without it they are in `chie.db` under `CHIE_HOME`.",
    )
    embedding_url: str | None = Field(
        default=None,
        description="Base URL of an OpenAI-compatible embeddings server, such as `http://127.0.0.1:1234/v1`. "
        "Without it the built-in bilingual model is used.",
    )
    embedding_model: str = Field(
        default="text-embedding-3-small", description="Model to ask for at `CHIE_EMBEDDING_URL`."
    )
    embedding_key: SecretStr | None = Field(default=None, description="Bearer token for `CHIE_EMBEDDING_URL`.")


def create_embedder(settings: KnowledgeSettings) -> "Embedder":
    from chie.knowledge.embedding.onnx import OnnxEmbedder
    from chie.knowledge.embedding.openai import OpenAIEmbedder
    from chie.knowledge.embedding.recent import RecentEmbedder

    if settings.embedding_url is None:
        return RecentEmbedder(OnnxEmbedder())
    key = settings.embedding_key.get_secret_value() if settings.embedding_key else None
    return RecentEmbedder(OpenAIEmbedder(settings.embedding_url, settings.embedding_model, api_key=key))


def create_store(settings: KnowledgeSettings) -> "NoteStore":
    if settings.knowledge_store == "vector-search":
        from chie.knowledge.store.vector_search.config import load_config
        from chie.knowledge.store.vector_search.store import VectorSearchStore

        return VectorSearchStore(load_config())
    return open_store(database(settings), create_embedder(settings))


def database(settings: KnowledgeSettings) -> str:
    """The one place where everything lives: the URL of a database, or the path of a file."""
    if settings.database_url is None:
        return str(settings.home.expanduser() / "chie.db")
    url = settings.database_url.get_secret_value()
    if _scheme(url) not in (*POSTGRES, "sqlite"):
        raise ConfigurationError(
            "CHIE_DATABASE_URL is not the address of a database that Chie knows. "
            "Write postgresql://user:password@host/name, or sqlite:////folder/file.db, or leave it out."
        )
    return url


def open_store(place: str, embedder: "Embedder") -> "NoteStore":
    """Nothing is loaded or connected yet."""
    if _scheme(place) in POSTGRES:
        from chie.knowledge.store.postgres.store import PostgresStore

        return PostgresStore(place, embedder)
    from chie.knowledge.store.sqlite.store import SqliteStore

    return SqliteStore(_sqlite_path(place), embedder)


def name_of(place: str) -> str:
    """The same for every spelling of the same place, and without a password."""
    if _scheme(place) in POSTGRES:
        from chie.knowledge.store.postgres.address import parse

        return parse(place).name
    if _scheme(place) not in ("", "sqlite"):
        raise ValidationError("this is no place that notes can go to. Write postgresql://user@host/name, or a path.")
    return str(_sqlite_path(place).resolve())


def _sqlite_path(place: str) -> Path:
    """As SQLAlchemy reads it for the conversations: three slashes, the path, and what it tells the driver. A path that
    somebody typed may begin at their home, which no shell put there for `--to=~/chie.db`."""
    if _scheme(place) == "sqlite":
        return Path(place.partition(":///")[2].partition("?")[0])
    return Path(place).expanduser()


def _scheme(place: str) -> str:
    return place.partition("://")[0].partition("+")[0] if "://" in place else ""
