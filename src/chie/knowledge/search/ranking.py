"""How passages are ranked, and how sure a hit is; the same in every store that ranks passages itself.

rank = cosine + 0.8 x words squared + 0.2 x phrase

- cosine: of the vectors of query and passage; semantic, across languages
- words: the share of the query's words that the passage has, each weighed by its rarity. Squared, because a paraphrase
  shares a few words with many notes by chance, and a question that repeats the note's words shares most with one
- phrase: 1 if the whole query occurs in the passage, not inside a longer word

Words rank; they do not make a hit similar. The score that is shown is the cosine alone, and a hit is confident if
cosine + 0.5 x words squared is above what unrelated notes reach by chance, which grows with their number.
`bench/retrieval` measures all of this; docs/decisions/0017-ranking.md has the figures.
"""

from dataclasses import dataclass
from functools import cached_property
from math import log10
from re import Pattern

from chie.knowledge.search.tokens import fold, phrase

WORDS_BONUS = 0.8
PHRASE_BONUS = 0.20
MIN_PHRASE_COVERAGE = 0.99  # a passage with the whole query has all of its words

# Passages that are neither similar nor share words are left out: no hit is better than a wrong one.
MIN_SIMILARITY = 0.20
MIN_COVERAGE = 0.12

# Confidence: see docs/decisions/0017-ranking.md for the calibration.
CONFIDENT_WORDS = 0.5
CONFIDENT_SIMILARITY = 0.25  # words alone do not make a hit confident
CONFIDENT_LINES = ((0.25, 0.105), (0.39, 0.045))  # among one passage, and the rise for ten times as many: few, many
CONFIDENT_COVERAGE = 0.9  # if nothing could be embedded

# Two notes with at least this cosine say nearly the same.
NEAR_DUPLICATE_COSINE = 0.80


@dataclass(frozen=True)
class Query:
    """A query with everything precomputed that ranking a passage needs."""

    text: str

    @cached_property
    def _folded(self) -> str:
        return fold(self.text)

    @cached_property
    def _phrase(self) -> Pattern[str]:
        return phrase(self._folded)

    def occurs_in(self, text: str) -> bool:
        """Most texts do not have the query anywhere, so its pattern is seldom compiled, which takes long."""
        folded = fold(text)
        return self._folded in folded and self._phrase.search(folded) is not None


@dataclass(frozen=True)
class Match:
    """How a passage matches a query: its cosine, None without vectors, its share of the query's words, and whether
    it has the whole query as a phrase."""

    cosine: float | None
    words: float
    verbatim: bool = False

    @property
    def is_hit(self) -> bool:
        if self.cosine is None:
            return self.words > 0
        return self.cosine >= MIN_SIMILARITY or self.words >= MIN_COVERAGE or self.verbatim

    @property
    def rank(self) -> float:
        return max(self.cosine or 0.0, 0.0) + WORDS_BONUS * self.words**2 + PHRASE_BONUS * self.verbatim

    @property
    def similarity(self) -> float:
        """Without vectors, how much of the query the passage has is all that is known."""
        return self.words if self.cosine is None else max(self.cosine, 0.0)

    def is_confident(self, passages: int) -> bool:
        """Whether the match stands out among this many passages."""
        if self.cosine is None:
            return self.words >= CONFIDENT_COVERAGE
        evidence = self.cosine + CONFIDENT_WORDS * self.words**2
        size = log10(max(passages, 1))
        threshold = min(base + step * size for base, step in CONFIDENT_LINES)
        return self.cosine >= CONFIDENT_SIMILARITY and evidence >= threshold


def display_score(score: float) -> float:
    return round(min(score, 1.0), 4)
