"""How a passage's score is made, the same on every store that lets us make it.

score = cosine + 0.20 x words + 0.10 x identifiers + 0.20 x verbatim, kept within 0 and 1

- cosine: of the query's and the passage's vectors; meaning, across languages
- words: the passage's share of the query's best BM25, times the share of the query's words that this best passage
  has. A paraphrase has few words in common with its answer, so its best BM25 is mostly chance and must weigh little
- identifiers: the share of the query's identifiers that stand in the passage
- verbatim: 1 where the whole query stands in the passage, and not inside a longer word; somebody who types an exact
  phrase means it

Ranks are never fused: that would give the best lexical match of a paraphrase the weight of a right answer.
`bench/retrieval.py` compares the parts.
"""

from dataclasses import dataclass
from re import Pattern

from chie.knowledge.tokens import fold, identifiers, phrase

WORDS = 0.20
IDENTIFIERS = 0.10
VERBATIM = 0.20

# A passage below this is no answer: better none than a wrong one.
FLOOR = 0.20

# Two notes above this cosine say nearly the same.
SAME = 0.80


@dataclass(frozen=True)
class Question:
    """A query, made ready to be compared with many passages."""

    text: str
    phrase: Pattern[str]
    identifiers: frozenset[str]

    @classmethod
    def of(cls, text: str) -> "Question":
        return cls(text, phrase(fold(text)), frozenset(identifiers(text)))

    def score(self, text: str, *, cosine: float | None, words: float) -> float | None:
        """None for a passage that is no answer. `cosine` is None where there is no vector: then words decide."""
        folded = fold(text)
        verbatim = self.phrase.search(folded) is not None
        bonus = WORDS * words + VERBATIM * verbatim + IDENTIFIERS * self._identified(folded)
        if cosine is None:
            return words + bonus if words else None
        score = max(cosine, 0.0) + bonus
        return score if score >= FLOOR else None

    def _identified(self, folded: str) -> float:
        if not self.identifiers:
            return 0.0
        return sum(word in folded for word in self.identifiers) / len(self.identifiers)


def shown(score: float) -> float:
    return round(min(score, 1.0), 4)
