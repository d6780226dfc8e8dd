"""Terms of passages that not everybody may see carry a key of their audience in the lexical index.

The audience of a note is the team, its author, the readers of another space, or its author there (`note.audience`). A
search looks up its terms with the keys of the viewer's audiences. So neither its matches nor its statistics depend on
notes that the viewer must not see: otherwise a score would tell whether such a note contains a word.
"""

import hashlib
from collections.abc import Iterable, Mapping, Sequence
from functools import lru_cache

MARK = "\ue000"  # a private use character, which no token contains
KEY_LENGTH = 16


@lru_cache(maxsize=1024)
def audience_key(audience: str) -> str:
    """Empty for the team's notes."""
    return f"{MARK}{hashlib.sha256(audience.encode()).hexdigest()[:KEY_LENGTH]}{MARK}" if audience else ""


def indexed_terms(terms: Iterable[str], audience: str | None) -> list[str]:
    """The terms of a passage as they are indexed."""
    key = audience_key(audience or "")
    return [f"{key}{term}" for term in terms]


def visible_terms(terms: Iterable[str], audiences: Sequence[str]) -> dict[str, str]:
    """The indexed terms that a search looks up, and the plain term of each."""
    keys = [audience_key(audience) for audience in audiences]
    return {f"{key}{term}": term for term in terms for key in keys}


def visible_ranges(prefixes: Iterable[str], audiences: Sequence[str]) -> list[tuple[str, str]]:
    """The indexed terms with the prefixes, as half-open ranges in the order of code points."""
    starts = visible_terms(prefixes, audiences)
    return [(start, start[:-1] + chr(ord(start[-1]) + 1)) for start in starts]


def plain(indexed: str) -> str:
    return indexed.rpartition(MARK)[2]


def frequencies(found: Iterable[tuple[str, int]]) -> dict[str, int]:
    """The number of visible passages with each plain term, from the numbers with each indexed one."""
    counts: dict[str, int] = {}
    for indexed, number in found:
        counts[plain(indexed)] = counts.get(plain(indexed), 0) + number
    return counts


def lookups(weights: Mapping[str, float], audiences: Sequence[str]) -> Sequence[tuple[str, float]]:
    """The indexed terms to look up, with the weights of their plain terms."""
    return [(indexed, weights[term]) for indexed, term in visible_terms(weights, audiences).items()]
