"""How a passage's score is made, the same on every store that lets us make it.

score = cosine + 0.10 x lexical + 0.10 x identifiers + 0.20 x verbatim, kept within 0 and 1

- cosine: of the query's and the passage's vectors; meaning, across languages
- lexical: BM25 divided by the query's best BM25; a small bonus, because for a paraphrase it is mostly wrong
- identifiers: the share of the query's identifiers that stand in the passage
- verbatim: 1 where the whole query stands in the passage; somebody who types an exact phrase means it

Ranks are never fused: that would give the best lexical match of a paraphrase the weight of a right answer.
`bench/retrieval.py` compares the parts.
"""

from dataclasses import dataclass

from chie.knowledge.tokens import fold, identifiers

LEXICAL = 0.10
IDENTIFIERS = 0.10
VERBATIM = 0.20

# Below this cosine, with no word in common, a passage is not an answer: better none than a wrong one.
FLOOR = 0.25

# Two notes above this cosine say nearly the same.
SAME = 0.86


@dataclass(frozen=True)
class Question:
    """A query, made ready to be compared with many passages."""

    text: str
    folded: str
    identifiers: frozenset[str]

    @classmethod
    def of(cls, text: str) -> "Question":
        return cls(text, fold(text), frozenset(identifiers(text)))

    def score(self, text: str, *, cosine: float | None, lexical: float) -> float:
        """`cosine` is None where there is no vector: then the words alone decide."""
        folded = fold(text)
        bonus = VERBATIM * (self.folded in folded) + IDENTIFIERS * self._identified(folded)
        meaning = lexical * 0.5 if cosine is None else max(cosine, 0.0)
        return meaning + LEXICAL * lexical + bonus

    def _identified(self, folded: str) -> float:
        if not self.identifiers:
            return 0.0
        return sum(word in folded for word in self.identifiers) / len(self.identifiers)


def shown(score: float) -> float:
    return round(min(score, 1.0), 4)
