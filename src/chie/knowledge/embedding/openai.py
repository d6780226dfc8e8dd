"""An embedder behind any OpenAI-compatible `/v1/embeddings`: LM Studio, Ollama, OpenAI and others."""

import time
from collections.abc import Callable, Sequence
from functools import cached_property
from threading import Lock
from typing import TYPE_CHECKING, Any

from chie.knowledge.embedding.base import Embedder, EmbeddingError

if TYPE_CHECKING:
    import httpx2

    from chie.knowledge.embedding.base import Vectors

BATCH = 64
SECONDS = 10.0  # for one text: somebody waits for a search, or for a note to be saved
SECONDS_FOR_MANY = 30.0
PAUSE = 15.0  # seconds in which a server that did not answer is not asked again


class OpenAIEmbedder(Embedder):
    def __init__(
        self, base_url: str, model: str, *, api_key: str | None = None, clock: Callable[[], float] = time.monotonic
    ) -> None:
        self._url = f"{base_url.rstrip('/').removesuffix('/embeddings')}/embeddings"
        self._model = model
        self._headers = {"Authorization": f"Bearer {api_key}"} if api_key else {}
        self._length: int | None = None  # of the vectors, as the first answer had them
        self._measuring = Lock()
        self._clock = clock
        self._silent_until = clock()
        self._silence = ""  # what was said when it did not answer

    @property
    def id(self) -> str:
        return f"openai-{self._model}"

    def embed(self, texts: Sequence[str]) -> "Vectors":
        batches = [texts[i : i + BATCH] for i in range(0, len(texts), BATCH)]
        rows = _unit([row for batch in batches for row in self._batch(batch)])
        if rows is None:
            raise EmbeddingError(
                f"the embedding server at {self._url} did not answer with vectors of numbers, all of one length. "
                "Look at that server's log, or set CHIE_EMBEDDING_MODEL to a model for embeddings."
            )
        self._require_length(rows.shape[1])
        return rows

    def _require_length(self, length: int) -> None:
        """Stores name the model once by its id and this length; others under that name could be compared with none."""
        with self._measuring:
            self._length = self._length or length
        if length != self._length:
            raise EmbeddingError(
                "the embedding server now gives vectors of another length: its model was changed under the same name. "
                "Restart Chie, and the notes are read anew."
            )

    @cached_property
    def _client(self) -> "httpx2.Client":
        import httpx2

        return httpx2.Client(headers=self._headers)

    def _batch(self, texts: Sequence[str]) -> list[list[float]]:
        """A save asks twice, for what is like the note and for the note: nobody shall wait for one silence twice."""
        import httpx2

        if self._clock() < self._silent_until:
            raise EmbeddingError(self._silence)
        body, alone = {"model": self._model, "input": list(texts)}, len(texts) == 1
        try:
            answer = self._client.post(self._url, json=body, timeout=SECONDS if alone else SECONDS_FOR_MANY)
        except httpx2.HTTPError as error:
            silence = (
                f"the embedding server at {self._url} did not answer ({type(error).__name__}). "
                "Start it, or correct CHIE_EMBEDDING_URL."
            )
            if alone and isinstance(error, httpx2.TimeoutException):
                self._silence, self._silent_until = silence, self._clock() + PAUSE
            raise EmbeddingError(silence) from error
        if answer.status_code != 200:
            raise EmbeddingError(self._refusal(answer.status_code))
        return self._rows(answer, len(texts))

    def _refusal(self, status: int) -> str:
        hint = {
            401: "Set CHIE_EMBEDDING_KEY.",
            403: "Set CHIE_EMBEDDING_KEY to a key that may use this model.",
            404: f"Is CHIE_EMBEDDING_MODEL={self._model} loaded there, and does the address end in /v1?",
            429: "Wait a little, then try again.",
        }.get(status, "Look at that server's log.")
        return f"the embedding server at {self._url} answered {status}. {hint}"

    def _rows(self, answer: "httpx2.Response", expected: int) -> list[list[float]]:
        try:
            data: list[dict[str, Any]] = sorted(answer.json()["data"], key=lambda row: row["index"])
            rows = [row["embedding"] for row in data]
        except (ValueError, KeyError, TypeError) as error:
            raise EmbeddingError(
                f"{self._url} did not answer as an embeddings endpoint. Correct CHIE_EMBEDDING_URL."
            ) from error
        if len(rows) != expected:
            raise EmbeddingError(f"{self._url} answered {len(rows)} vectors for {expected} texts.")
        return rows


def _unit(rows: list[list[float]]) -> "Vectors | None":
    """None for what is no table of finite numbers: a null would become NaN, and be stored as such."""
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
