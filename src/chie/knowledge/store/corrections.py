"""English words with one letter wrong, missing, extra or swapped with the next.

A word that no visible passage has is compared with the visible vocabulary: with the part that begins with the same two
letters, which is one range of an index, and with the hundred words that a slip in those two letters makes.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from string import ascii_lowercase

from chie.knowledge.search.tokens import latin_words, stem

MIN_LETTERS = 5  # shorter words have too many neighbours
MAX_LETTERS = 24
MAX_WORDS = 2  # unknown ones in a query; more of them are no slips, but other words than the notes have
WEIGHT = 0.8  # of a corrected word beside an exact one

PREFIX = 2  # letters


Lookup = Callable[[Sequence[str], Sequence[str]], dict[str, int]]
"""Returns the number of visible passages with each of the terms, and with each term that has one of the prefixes."""


@dataclass(frozen=True)
class Terms:
    """The terms of a query, how many visible passages have each known one, and which of them are corrections."""

    terms: Sequence[str]
    frequencies: Mapping[str, int]
    corrected: frozenset[str] = frozenset()

    def weighed(self, weights: Mapping[str, float]) -> dict[str, float]:
        return {term: weight * (WEIGHT if term in self.corrected else 1) for term, weight in weights.items()}


def with_corrections(text: str, terms: Sequence[str], known: Mapping[str, int], look_up: Lookup) -> Terms:
    """The terms of the text. Those that are not `known` are replaced by known ones if one slip explains them; of
    several, by the most frequent one."""
    unknown = [word for word in misspellable(text) if stem(word) in terms and stem(word) not in known]
    if not 0 < len(unknown) <= MAX_WORDS:
        return Terms(terms, known)
    spellings = {stem(word): spelling_terms(word) for word in unknown}
    found = _similar(look_up, unknown, set().union(*spellings.values()))
    best = {
        term: max(possible, key=lambda one: (found[one], one))
        for term, near in spellings.items()
        if (possible := near & found.keys())
    }
    corrected = frozenset(best.values()) - known.keys()
    return Terms(
        list(dict.fromkeys(best.get(term, term) for term in terms)),
        {**known, **{term: found[term] for term in corrected}},
        corrected,
    )


def _similar(look_up: Lookup, words: Sequence[str], spellings: set[str]) -> dict[str, int]:
    prefixes = tuple({word[:PREFIX] for word in words})
    return look_up([term for term in spellings if not term.startswith(prefixes)], prefixes)


def misspellable(text: str) -> list[str]:
    words = (word.casefold() for word in latin_words(text))
    return [word for word in dict.fromkeys(words) if MIN_LETTERS <= len(word) <= MAX_LETTERS]


def spelling_terms(word: str) -> set[str]:
    """The terms of all words that one slip turns into this one."""
    return {stem(spelling) for spelling in _spellings(word)} - {stem(word)}


def _spellings(word: str) -> set[str]:
    parts = [(word[:at], word[at:]) for at in range(len(word) + 1)]
    return {
        *(before + after[1:] for before, after in parts if after),
        *(before + after[1] + after[0] + after[2:] for before, after in parts if len(after) > 1),
        *(before + letter + after[1:] for before, after in parts if after for letter in ascii_lowercase),
        *(before + letter + after for before, after in parts for letter in ascii_lowercase),
    }
