"""The default embedder: our bilingual model in `default/`, on the CPU."""

import hashlib
import logging
from collections.abc import Callable, Sequence
from functools import cached_property
from pathlib import Path
from threading import Lock
from typing import TYPE_CHECKING

from chie.knowledge.embedding.base import Embedder, EmbeddingError
from chie.knowledge.embedding.onnx_runtime import open_session
from chie.knowledge.embedding.wordpiece import WordPiece

if TYPE_CHECKING:
    from chie.knowledge.embedding.base import Vectors

logger = logging.getLogger(__name__)

DEFAULT_MODEL = Path(__file__).parent / "default"
MAX_TOKENS = 256  # the model's context


class OnnxEmbedder(Embedder):
    """Loads the model on first use, in about 0.2 seconds."""

    def __init__(self, folder: Path = DEFAULT_MODEL) -> None:
        self._folder = folder
        self._loading = Lock()

    @cached_property
    def id(self) -> str:
        """Hashes the start, end and size of the weights, which is faster than hashing 30 MB."""
        try:
            with (self._folder / "model.onnx").open("rb") as file:
                head = file.read(1 << 16)
                size = file.seek(0, 2)
                file.seek(-(1 << 16), 2)
                digest = hashlib.sha256(head + file.read() + str(size).encode())
        except OSError as error:
            raise EmbeddingError("embedding.model_unreadable", reason=error.strerror or "") from error
        return f"chie-onnx-{digest.hexdigest()[:12]}"

    def embed(self, texts: Sequence[str]) -> "Vectors":
        import numpy as np

        # One text per call: int8 activations are scaled per call, so a batch would change every vector a little.
        return np.vstack([self._encode(text) for text in texts])

    @property
    def _encode(self) -> Callable[[str], "Vectors"]:
        with self._loading:
            return self._encoder

    @cached_property
    def _encoder(self) -> Callable[[str], "Vectors"]:
        try:
            return _load(self._folder)
        except Exception as error:
            logger.exception("the embedding model failed to load")
            raise EmbeddingError("embedding.model_load_failed") from error


def _load(folder: Path) -> Callable[[str], "Vectors"]:
    import numpy as np

    tokenizer = WordPiece.load(folder / "tokenizer.json")
    session = open_session(folder / "model.onnx")

    def run(tokens: Sequence[int]) -> "Vectors":
        ids = np.array([tokens], np.int64)
        rows: Vectors = session.run(None, {"input_ids": ids, "attention_mask": np.ones_like(ids)})[0]
        return rows

    def encode(text: str) -> "Vectors":
        """A text beyond the model's context is the mean of its windows, so that its end counts too."""
        windows = tokenizer.windows(text, MAX_TOKENS)
        if len(windows) == 1:
            return run(windows[0])
        mean = np.mean([run(window) for window in windows], axis=0)
        return np.asarray(mean / np.linalg.norm(mean), np.float32)

    return encode
