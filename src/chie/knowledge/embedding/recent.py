"""Remembers the last few vectors: a save first looks for similar notes, then stores what it looked with."""

from collections import OrderedDict
from collections.abc import Sequence
from threading import Lock
from typing import TYPE_CHECKING

from chie.knowledge.embedding.base import Embedder

if TYPE_CHECKING:
    from chie.knowledge.embedding.base import Vectors

KEPT = 256


class RecentEmbedder(Embedder):
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
            while len(self._rows) > KEPT:
                self._rows.popitem(last=False)
