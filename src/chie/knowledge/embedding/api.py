"""`POST /v1/embeddings`: the embedding model of the notes for OpenAI-compatible clients."""

from base64 import b64encode
from typing import Annotated, Any, Literal

from fastapi import APIRouter
from pydantic import BaseModel, ConfigDict, Field

from chie.errors import NotFoundError, ValidationError
from chie.http.openapi_errors import errors
from chie.http.routing import Router
from chie.knowledge.embedding.base import Embedder

ALIAS = "chie-embedding"
MAX_TEXTS = 256
MAX_CHARACTERS = 400_000  # of all texts together: half a minute of one processor

Text = Annotated[str, Field(min_length=1)]
Tokens = list[int]


class EmbeddingRequest(BaseModel):
    """Fields that are not supported are kept, to be refused by name."""

    model_config = ConfigDict(extra="allow")

    model: str = Field(min_length=1, max_length=200, description=f"`{ALIAS}`, or the model's own id.")
    input: Text | list[Text] | Tokens | list[Tokens]
    encoding_format: Literal["float", "base64"] | None = "float"
    dimensions: int | None = Field(None, ge=1, description="Must be the model's own number.")
    user: str | None = None


class Embedding(BaseModel):
    object: Literal["embedding"] = "embedding"
    index: int
    embedding: list[float] | str


class Usage(BaseModel):
    """Tokens are not counted."""

    prompt_tokens: int = 0
    total_tokens: int = 0


class Embeddings(BaseModel):
    object: Literal["list"] = "list"
    data: list[Embedding]
    model: str
    usage: Usage = Usage()


def create_embeddings_api(embedder: Embedder) -> APIRouter:
    router = Router(tags=["openai"])

    @router.post("/embeddings", responses=errors(401, 403, 404, 413, 429))
    def create_embeddings(body: EmbeddingRequest) -> Embeddings:
        """Vectors of texts, from the model that embeds the notes."""
        if body.model not in (ALIAS, embedder.id):
            raise NotFoundError("embedding.model_unknown", alias=ALIAS, id=embedder.id)
        if extra := [name[:60] for name, value in (body.model_extra or {}).items() if value is not None]:
            raise ValidationError("embedding.fields_unsupported", names=extra[:20])
        rows = embedder.embed(_texts(body.input))
        if body.dimensions not in (None, rows.shape[1]):
            raise ValidationError("embedding.dimensions_unsupported", dimensions=int(rows.shape[1]))
        encoded: list[Any] = rows.tolist()
        if body.encoding_format == "base64":
            encoded = [b64encode(row.astype("<f4").tobytes()).decode() for row in rows]
        data = [Embedding(index=index, embedding=row) for index, row in enumerate(encoded)]
        return Embeddings(data=data, model=embedder.id)

    return router


def _texts(given: str | list[str] | Tokens | list[Tokens]) -> list[str]:
    texts = [text for text in ([given] if isinstance(given, str) else given) if isinstance(text, str)]
    if not isinstance(given, str) and len(texts) != len(given):
        raise ValidationError("embedding.tokens_unsupported")
    if not texts or len(texts) > MAX_TEXTS or sum(map(len, texts)) > MAX_CHARACTERS:
        raise ValidationError("embedding.input_size", texts=MAX_TEXTS, characters=MAX_CHARACTERS)
    return texts
