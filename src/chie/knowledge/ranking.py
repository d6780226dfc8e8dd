"""The score of a passage, the same in every store that computes it itself.

score = cosine + 0.20 x words + 0.10 x identifiers + 0.20 x phrase, clipped to 0 to 1

- cosine: of the vectors of query and passage; semantic, across languages
- words: the passage's BM25 relative to the query's best, times the share of the query's terms in that best passage.
  A paraphrase shares few terms with its answer, so its best BM25 is mostly chance and must weigh little
- identifiers: the share of the query's identifiers that occur in the passage
- phrase: 1 if the whole query occurs in the passage, not inside a longer word

Ranks are not fused: that would give the best lexical match of a paraphrase the weight of a correct answer.
`bench/retrieval.py` compares the parts.
"""

from dataclasses import dataclass
from re import Pattern

from chie.knowledge.tokens import fold, identifiers, phrase

WORD_WEIGHT = 0.20
IDENTIFIER_WEIGHT = 0.10
PHRASE_WEIGHT = 0.20

# Passages with a lower score are left out: no answer is better than a wrong one.
MIN_SCORE = 0.20

# Two notes with at least this cosine say nearly the same.
NEAR_DUPLICATE_COSINE = 0.80


@dataclass(frozen=True)
class ParsedQuery:
    """A query with everything precomputed that scoring a passage needs."""

    text: str
    phrase: Pattern[str]
    identifiers: frozenset[str]

    @classmethod
    def of(cls, text: str) -> "ParsedQuery":
        return cls(text, phrase(fold(text)), frozenset(identifiers(text)))

    def score(self, text: str, *, cosine: float | None, words: float) -> float | None:
        """None for a passage that is not an answer. Without a vector `cosine` is None and the words decide."""
        folded = fold(text)
        verbatim = self.phrase.search(folded) is not None
        bonus = WORD_WEIGHT * words + PHRASE_WEIGHT * verbatim + IDENTIFIER_WEIGHT * self._identified(folded)
        if cosine is None:
            return words + bonus if words else None
        score = max(cosine, 0.0) + bonus
        return score if score >= MIN_SCORE else None

    def _identified(self, folded: str) -> float:
        if not self.identifiers:
            return 0.0
        return sum(word in folded for word in self.identifiers) / len(self.identifiers)


def display_score(score: float) -> float:
    return round(min(score, 1.0), 4)
