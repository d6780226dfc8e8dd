"""An embedder for OpenAI-compatible `/v1/embeddings` endpoints: LM Studio, Ollama, OpenAI and others."""

import time
from collections.abc import Callable, Sequence
from functools import cached_property
from threading import Lock
from typing import TYPE_CHECKING, Any

from chie.knowledge.embedding.base import Embedder, EmbeddingError
from chie.messages.catalogue import Message

if TYPE_CHECKING:
    import httpx2

    from chie.knowledge.embedding.base import Vectors

BATCH_SIZE = 64
TIMEOUT_SECONDS = 10.0  # for one text: a user waits for a search or a save
BATCH_TIMEOUT_SECONDS = 30.0
COOLDOWN_SECONDS = 15.0  # after a timeout, fail at once instead of waiting again


class OpenAIEmbedder(Embedder):
    def __init__(
        self, base_url: str, model: str, *, api_key: str | None = None, clock: Callable[[], float] = time.monotonic
    ) -> None:
        self._url = f"{base_url.rstrip('/').removesuffix('/embeddings')}/embeddings"
        self._model = model
        self._headers = {"Authorization": f"Bearer {api_key}"} if api_key else {}
        self._dimension: int | None = None  # of the first response
        self._dimension_lock = Lock()
        self._clock = clock
        self._unavailable_until = clock()
        self._timeout_reason: Message | None = None

    @property
    def id(self) -> str:
        return f"openai-{self._model}"

    def embed(self, texts: Sequence[str]) -> "Vectors":
        batches = [texts[i : i + BATCH_SIZE] for i in range(0, len(texts), BATCH_SIZE)]
        rows = _unit([row for batch in batches for row in self._batch(batch)])
        if rows is None:
            raise EmbeddingError("embedding.vectors_invalid", url=self._url)
        self._require_dimension(rows.shape[1])
        return rows

    def _require_dimension(self, dimension: int) -> None:
        """Stores name the model once, by its id and dimension, and cannot compare vectors of another dimension."""
        with self._dimension_lock:
            self._dimension = self._dimension or dimension
        if dimension != self._dimension:
            raise EmbeddingError("embedding.dimension_changed")

    @cached_property
    def _client(self) -> "httpx2.Client":
        import httpx2

        return httpx2.Client(headers=self._headers)

    def _batch(self, texts: Sequence[str]) -> list[list[float]]:
        """A save embeds twice, for similar notes and for the note; do not pay the same timeout twice."""
        import httpx2

        if self._timeout_reason and self._clock() < self._unavailable_until:
            raise EmbeddingError(self._timeout_reason)
        single = len(texts) == 1
        timeout = TIMEOUT_SECONDS if single else BATCH_TIMEOUT_SECONDS
        try:
            response = self._client.post(self._url, json={"model": self._model, "input": list(texts)}, timeout=timeout)
        except httpx2.HTTPError as error:
            failure = EmbeddingError("embedding.server_unreachable", url=self._url, error=type(error).__name__)
            if single and isinstance(error, httpx2.TimeoutException):
                self._timeout_reason, self._unavailable_until = failure.reason, self._clock() + COOLDOWN_SECONDS
            raise failure from error
        if response.status_code != 200:
            raise self._status_error(response.status_code)
        return self._rows(response, len(texts))

    def _status_error(self, status: int) -> EmbeddingError:
        hints = {
            401: Message("embedding.hint_key_missing"),
            403: Message("embedding.hint_key_forbidden"),
            404: Message("embedding.hint_model_missing", model=self._model),
            429: Message("embedding.hint_rate_limited"),
        }
        hint = hints.get(status, Message("embedding.hint_server_log"))
        return EmbeddingError("embedding.server_error", url=self._url, status=status, hint=hint)

    def _rows(self, response: "httpx2.Response", expected: int) -> list[list[float]]:
        try:
            data: list[dict[str, Any]] = sorted(response.json()["data"], key=lambda row: row["index"])
            rows = [row["embedding"] for row in data]
        except (ValueError, KeyError, TypeError) as error:
            raise EmbeddingError("embedding.response_invalid", url=self._url) from error
        if len(rows) != expected:
            raise EmbeddingError("embedding.count_mismatch", url=self._url, count=len(rows), expected=expected)
        return rows


def _unit(rows: list[list[float]]) -> "Vectors | None":
    """Normalised rows; None if they are not a table of finite numbers. A null would otherwise be stored as NaN."""
    import numpy as np

    try:
        with np.errstate(over="ignore"):
            vectors = np.array(rows, np.float32)
            norms = np.linalg.norm(vectors, axis=-1, keepdims=True)
    except (ValueError, TypeError):
        return None
    if vectors.ndim != 2 or not vectors.size or not np.isfinite(norms).all():
        return None
    norms[norms == 0] = 1
    vectors /= norms
    return vectors
