"""Terms of private passages carry a key of their owner in the lexical index.

A search looks up its terms plain and with the viewer's key. So neither its matches nor its statistics depend on notes
that the viewer must not see: otherwise a score would tell whether somebody's private note contains a word.
"""

import hashlib
from collections.abc import Iterable, Mapping, Sequence

MARK = "\ue000"  # a private use character, which no token contains
KEY_LENGTH = 16


def owner_key(owner: str) -> str:
    return f"{MARK}{hashlib.sha256(owner.encode()).hexdigest()[:KEY_LENGTH]}{MARK}"


def indexed_terms(terms: Iterable[str], owner: str | None) -> list[str]:
    """The terms of a passage as they are indexed; `owner` is None if everybody may see it."""
    key = "" if owner is None else owner_key(owner)
    return [f"{key}{term}" for term in terms]


def visible_terms(terms: Iterable[str], viewer: str | None) -> dict[str, str]:
    """The indexed terms that a viewer's search looks up, and the plain term of each; None for a viewer without private
    notes."""
    if viewer is None:
        return {term: term for term in terms}
    key = owner_key(viewer)
    return {indexed: term for term in terms for indexed in (term, f"{key}{term}")}


def visible_ranges(prefixes: Iterable[str], viewer: str | None) -> list[tuple[str, str]]:
    """The indexed terms with the prefixes, as half-open ranges in the order of code points."""
    starts = visible_terms(prefixes, viewer)
    return [(start, start[:-1] + chr(ord(start[-1]) + 1)) for start in starts]


def plain(indexed: str) -> str:
    return indexed.rpartition(MARK)[2]


def frequencies(found: Iterable[tuple[str, int]]) -> dict[str, int]:
    """The number of visible passages with each plain term, from the numbers with each indexed one."""
    counts: dict[str, int] = {}
    for indexed, number in found:
        counts[plain(indexed)] = counts.get(plain(indexed), 0) + number
    return counts


def lookups(weights: Mapping[str, float], viewer: str | None) -> Sequence[tuple[str, float]]:
    """The indexed terms to look up, with the weights of their plain terms."""
    return [(indexed, weights[term]) for indexed, term in visible_terms(weights, viewer).items()]
