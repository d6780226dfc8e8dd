"""Caches recent vectors: a save first searches for similar notes, then stores the same vectors."""

from collections import OrderedDict
from collections.abc import Sequence
from threading import Lock
from typing import TYPE_CHECKING

from chie.knowledge.embedding.base import Embedder

if TYPE_CHECKING:
    from chie.knowledge.embedding.base import Vectors

MAX_CACHED_VECTORS = 256


class CachedEmbedder(Embedder):
    def __init__(self, inner: Embedder) -> None:
        self._inner = inner
        self._rows: OrderedDict[str, Vectors] = OrderedDict()
        self._lock = Lock()

    @property
    def id(self) -> str:
        return self._inner.id

    def embed(self, texts: Sequence[str]) -> "Vectors":
        import numpy as np

        with self._lock:
            known = {text: self._rows[text] for text in texts if text in self._rows}
        missing = [text for text in dict.fromkeys(texts) if text not in known]
        if missing:
            known.update(zip(missing, self._inner.embed(missing), strict=True))
            self._keep({text: known[text] for text in missing})
        return np.vstack([known[text] for text in texts])

    def _keep(self, rows: "dict[str, Vectors]") -> None:
        with self._lock:
            self._rows.update(rows)
            while len(self._rows) > MAX_CACHED_VECTORS:
                self._rows.popitem(last=False)
