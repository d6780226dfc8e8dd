"""The lexical part of a search: BM25 over the postings of FTS5, evaluated with numpy."""

import json
import sqlite3
from collections.abc import Callable, Iterable, Sequence
from typing import TYPE_CHECKING, NamedTuple

from chie.knowledge.store import private_terms
from chie.knowledge.store.scoring import K1, MAX_LEXICAL_CANDIDATES, B
from chie.knowledge.viewer import Viewer

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

_FREQUENCIES = "SELECT term, doc FROM json_each(?) CROSS JOIN vocabulary ON term = value"
_WITH_PREFIX = (
    "SELECT term, doc FROM json_each(?) r CROSS JOIN vocabulary v ON v.term >= r.value ->> 0 AND v.term < r.value ->> 1"
)


class Corpus(NamedTuple):
    """Counts of what the viewer may see, and those of the viewer's audiences that have passages."""

    passages: int
    tokens: int
    audiences: tuple[str, ...]


def corpus(connection: sqlite3.Connection, viewer: Viewer) -> Corpus:
    rows = connection.execute(
        "SELECT owner, passages, tokens FROM corpus WHERE passages > 0 AND owner IN (SELECT value FROM json_each(?))"
        " ORDER BY owner",
        (json.dumps(viewer.audiences),),
    ).fetchall()
    return Corpus(sum(row[1] for row in rows), sum(row[2] for row in rows), tuple(row[0] for row in rows))


def frequencies(
    connection: sqlite3.Connection, audiences: Sequence[str], terms: Iterable[str], prefixes: Sequence[str] = ()
) -> dict[str, int]:
    """The number of visible passages with each term, and with each that has one of the prefixes; unknown terms are
    left out."""
    indexed = list(private_terms.visible_terms(terms, audiences))
    found = connection.execute(_FREQUENCIES, (json.dumps(indexed),)).fetchall()
    if prefixes:
        ranges = private_terms.visible_ranges(prefixes, audiences)
        found += connection.execute(_WITH_PREFIX, (json.dumps(ranges),)).fetchall()
    return private_terms.frequencies(found)


def covered(
    connection: sqlite3.Connection,
    lookups: Sequence[tuple[str, float]],
    average: float,
    lengths: "Callable[[NDArray[np.int64]], NDArray[np.int64]]",
    among: Sequence[int] | None,
) -> dict[int, float]:
    """The candidates by BM25, with the weight of the terms that they have. `average` and `lengths` count tokens."""
    import numpy as np

    passages, terms, often = _postings(connection, [term for term, _ in lookups], among)
    if not len(passages):
        return {}
    weights = np.array([weight for _, weight in lookups])[terms]
    scores = weights * (K1 + 1) * often / (often + K1 * (1 - B + B * lengths(passages) / average))
    first = np.flatnonzero(np.diff(passages, prepend=-1))
    best = np.argsort(-np.add.reduceat(scores, first), kind="stable")[:MAX_LEXICAL_CANDIDATES]
    found = np.add.reduceat(weights, first)[best]
    return dict(zip(passages[first[best]].tolist(), found.tolist(), strict=True))


def _postings(
    connection: sqlite3.Connection, terms: Sequence[str], among: Sequence[int] | None
) -> "tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.int64]]":
    """Passages in order, the positions of the terms that they have, and how often. SQLite concatenates the numbers,
    because a row for each of them would take longer than all the rest."""
    import numpy as np

    texts = [
        connection.execute("SELECT group_concat(doc) FROM postings WHERE term = ?", (term,)).fetchone()[0] or ""
        for term in terms
    ]
    found = [np.fromstring(text, np.int64, sep=",") for text in texts]
    pairs = np.concatenate([passages * len(terms) + number for number, passages in enumerate(found)])
    pairs, often = np.unique(pairs, return_counts=True)
    passages, numbers = np.divmod(pairs, len(terms))
    if among is not None:
        inside = np.isin(passages, among)
        passages, numbers, often = passages[inside], numbers[inside], often[inside]
    return passages, numbers, often
