"""The default embedder: our bilingual model, from the files in `default/`, on this machine's CPU."""

import hashlib
import logging
from collections.abc import Callable, Sequence
from functools import cached_property
from pathlib import Path
from threading import Lock
from typing import TYPE_CHECKING

from chie.knowledge.embedding.base import Embedder, EmbeddingError
from chie.knowledge.embedding.wordpiece import WordPiece

if TYPE_CHECKING:
    from chie.knowledge.embedding.base import Vectors

logger = logging.getLogger(__name__)

DEFAULT = Path(__file__).parent / "default"
LIMIT = 256  # tokens that the model reads


class OnnxEmbedder(Embedder):
    """Loads on first use, which takes a fifth of a second; until then it costs nothing."""

    def __init__(self, folder: Path = DEFAULT) -> None:
        self._folder = folder
        self._loading = Lock()

    @cached_property
    def id(self) -> str:
        """Size and head of the weights: changes with the model, and is quicker than hashing 30 MB."""
        try:
            with (self._folder / "model.onnx").open("rb") as file:
                head = file.read(1 << 16)
                size = file.seek(0, 2)
                file.seek(-(1 << 16), 2)
                digest = hashlib.sha256(head + file.read() + str(size).encode())
        except OSError as error:
            raise EmbeddingError(f"the embedding model cannot be read: {error.strerror}. {_REINSTALL}") from error
        return f"chie-onnx-{digest.hexdigest()[:12]}"

    def embed(self, texts: Sequence[str]) -> "Vectors":
        import numpy as np

        # One text a call: int8 activations are scaled per call, so a batch would move every vector a little.
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
            logger.exception("the embedding model did not load")
            raise EmbeddingError(f"the embedding model did not load. {_REINSTALL}") from error


_REINSTALL = "Install chie again, or set CHIE_EMBEDDING_URL to use another model."


def _load(folder: Path) -> Callable[[str], "Vectors"]:
    import numpy as np
    import onnxruntime

    tokenizer = WordPiece.load(folder / "tokenizer.json")
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = options.inter_op_num_threads = 1
    options.enable_cpu_mem_arena = False  # 7 MB less, and no slower for one text at a time
    session = onnxruntime.InferenceSession(str(folder / "model.onnx"), options, providers=["CPUExecutionProvider"])

    def encode(text: str) -> "Vectors":
        ids = np.array([tokenizer.encode(text, LIMIT)], np.int64)
        rows: Vectors = session.run(None, {"input_ids": ids, "attention_mask": np.ones_like(ids)})[0]
        return rows

    return encode
