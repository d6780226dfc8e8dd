"""Vectors that another store has already: a copy of its notes need not be read again."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

from chie.knowledge.embedding.base import Embedder

if TYPE_CHECKING:
    from chie.knowledge.embedding.base import Vectors


class CarriedEmbedder(Embedder):
    """Asks the model only for what was not carried over."""

    def __init__(self, inner: Embedder) -> None:
        self._inner = inner
        self._rows: dict[str, Vectors] = {}

    @property
    def id(self) -> str:
        return self._inner.id

    def carry(self, rows: "dict[str, Vectors]") -> None:
        """By the text that was read; those of before are forgotten."""
        self._rows = rows

    def embed(self, texts: Sequence[str]) -> "Vectors":
        import numpy as np

        missing = [text for text in dict.fromkeys(texts) if text not in self._rows]
        made = dict(zip(missing, self._inner.embed(missing), strict=True)) if missing else {}
        return np.vstack([made[text] if text in made else self._rows[text] for text in texts])
