"""Vectors from another store, so that copied notes are not embedded again."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

from chie.knowledge.embedding.base import Embedder

if TYPE_CHECKING:
    from chie.knowledge.embedding.base import Vectors


class PrecomputedEmbedder(Embedder):
    """Embeds only texts without a precomputed vector."""

    def __init__(self, inner: Embedder) -> None:
        self._inner = inner
        self._rows: dict[str, Vectors] = {}

    @property
    def id(self) -> str:
        return self._inner.id

    def use(self, rows: "dict[str, Vectors]") -> None:
        """Replace the precomputed vectors, given by text."""
        self._rows = rows

    def embed(self, texts: Sequence[str]) -> "Vectors":
        import numpy as np

        missing = [text for text in dict.fromkeys(texts) if text not in self._rows]
        new = dict(zip(missing, self._inner.embed(missing), strict=True)) if missing else {}
        return np.vstack([new[text] if text in new else self._rows[text] for text in texts])
