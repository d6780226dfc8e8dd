"""Cosines of words and short texts, which occur again and again while notes are compared."""

from collections import OrderedDict
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from chie.knowledge.embedding.base import Vectors

MAX_WORDS = 20_000  # about 30 MB


class Vocabulary:
    """Embeds a text once, and forgets those that were not used for longest."""

    def __init__(self, embed: "Callable[[Sequence[str]], Vectors]") -> None:
        self._embed = embed
        self._vectors: OrderedDict[str, Vectors] = OrderedDict()

    def likeness(self, a: str, b: str) -> float:
        return float(self._vector(a) @ self._vector(b))

    def _vector(self, text: str) -> "Vectors":
        vector = self._vectors.get(text)
        if vector is None:
            vector = self._vectors[text] = self._embed([text])[0]
            if len(self._vectors) > MAX_WORDS:
                self._vectors.popitem(last=False)
        else:
            self._vectors.move_to_end(text)
        return vector
