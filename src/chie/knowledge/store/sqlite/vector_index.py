"""All vectors in memory, quantised to int8, with their sign bits as a prefilter.

int8 takes a quarter of float32's memory and is faster to scan, because it fits into the processor's caches. Large
indexes score only the rows whose signs agree best with the query's; `bench/search.py` measures what that misses.
Results are scored again with the stored float32 vectors, so rounding errors never show. `estimates` bounds the
errors, so that only the candidates that can become hits are read again.
"""

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from chie.knowledge.embedding.base import Vectors

CHUNK_ROWS = 2048  # converted to float32 at a time: 3 MB, which stays in the processor's cache
PREFILTER_DIVISOR = 12  # one in so many rows is scored
MIN_SCORED_ROWS = 4096
MIN_PREFILTER_ROWS = 4 * MIN_SCORED_ROWS  # with fewer rows the prefilter saves little
ROUNDING = 1e-5  # of sums of float32
SEQ, PASSAGE, NOTE, LENGTH = range(4)


class Rows(NamedTuple):
    """A view that later writes leave alone: they append beyond its end or create new arrays."""

    codes: "NDArray[np.int8]"
    scales: "Vectors"
    signs: "NDArray[np.uint64]"  # one bit per number, set if it is positive
    ids: "NDArray[np.int64]"  # columns: the vector's seq, its passage, its note, the passage's length in tokens

    def first(self, count: int) -> "Rows":
        return Rows(self.codes[:count], self.scales[:count], self.signs[:count], self.ids[:count])

    def at(self, where: "NDArray[np.intp] | NDArray[np.bool_]") -> "Rows":
        return Rows(self.codes[where], self.scales[where], self.signs[where], self.ids[where])

    def put(self, start: int, rows: "Rows") -> None:
        end = start + len(rows.ids)
        self.codes[start:end], self.scales[start:end], self.signs[start:end], self.ids[start:end] = rows


class Estimates(NamedTuple):
    """Of passages: their notes, their cosines with a query, and how far these can be from the exact ones. Passages
    without a vector have the note -1."""

    notes: "NDArray[np.int64]"
    cosines: "Vectors"
    errors: "Vectors"


class VectorIndex:
    """Safe for concurrent readers; writers need a lock."""

    def __init__(self, dimension: int) -> None:
        self._allocate = _allocate(0, dimension)
        self._rows = self._allocate
        self._places: tuple[Rows, NDArray[np.int32]] | None = None  # the position of each passage in these rows

    def __len__(self) -> int:
        return len(self._rows.ids)

    def reserve(self, count: int) -> None:
        """Allocate space for this many rows in total; untouched pages cost no memory."""
        if count > len(self._allocate.ids):
            space = _allocate(count, self._allocate.codes.shape[1])
            space.put(0, self._rows)
            self._allocate, self._rows = space, space.first(len(self))

    def append(self, ids: "NDArray[np.int64]", vectors: "Vectors") -> None:
        end = len(self) + len(ids)
        if end > len(self._allocate.ids):
            self.reserve(end + end // 4)
        self._allocate.put(len(self), Rows(*_quantise(vectors), _signs(vectors), ids))
        self._rows = self._allocate.first(end)

    def keep(self, seqs: "NDArray[np.int64]") -> None:
        """Drop the rows whose seq is not in `seqs`."""
        self._allocate = self._rows = self._rows.at(np.isin(self._rows.ids[:, SEQ], seqs))

    def nearest(
        self,
        query: "Vectors",
        count: int,
        *,
        among: "NDArray[np.int64] | None" = None,
        without: "NDArray[np.int64] | tuple[()]" = (),
    ) -> list[int]:
        """The best passage of each of the `count` nearest notes, restricted to `among` and excluding `without`."""
        rows = self._rows
        if among is not None:
            rows = rows.at(np.isin(rows.ids[:, PASSAGE], among))
        if len(without):
            rows = rows.at(np.isin(rows.ids[:, PASSAGE], without, invert=True))
        if len(rows.ids) >= MIN_PREFILTER_ROWS:
            where = _promising(rows, query)
            found = _best_of_each_note(rows.ids, _scores(rows, query, where), count, where)
            if len(found) == count:
                return found  # else one long note may have taken all of them
        return _best_of_each_note(rows.ids, _scores(rows, query), count)

    def lengths(self, passages: "NDArray[np.int64]") -> "NDArray[np.int64]":
        """In tokens; -1 for passages without a vector."""
        rows, where = self._find(passages)
        return np.where(where < 0, -1, rows.ids[where, LENGTH]) if len(rows.ids) else where

    def estimates(self, query: "Vectors", passages: "NDArray[np.int64]") -> Estimates:
        rows, where = self._find(passages)
        if not len(rows.ids):
            return Estimates(where, np.zeros(len(where), np.float32), np.zeros(len(where), np.float32))
        errors = rows.scales[where] * (np.abs(query).sum() / 2) + ROUNDING  # each number is at most half a step off
        return Estimates(np.where(where < 0, -1, rows.ids[where, NOTE]), _scores(rows, query, where), errors)

    def _find(self, passages: "NDArray[np.int64]") -> "tuple[Rows, NDArray[np.int64]]":
        """The rows, and the positions of these passages in them; -1 for unknown ones."""
        rows, places = self._rows, self._places
        if places is None or places[0] is not rows:
            known = rows.ids[:, PASSAGE]
            where = np.full(known.max(initial=0) + 1, -1, np.int32)
            where[known] = np.arange(len(known))
            self._places = places = rows, where
        inside = passages < len(places[1])
        return rows, np.where(inside, places[1][np.where(inside, passages, 0)], -1)


def _allocate(count: int, dimension: int) -> Rows:
    return Rows(
        np.empty((count, dimension), np.int8),
        np.empty(count, np.float32),
        np.empty((count, -(-dimension // 64)), np.uint64, order="F"),  # read a column at a time
        np.empty((count, 4), np.int64, order="F"),
    )


def _quantise(vectors: "Vectors") -> "tuple[NDArray[np.int8], Vectors]":
    largest = np.abs(vectors).max(axis=1, keepdims=True)
    largest[largest == 0] = 1
    codes = np.rint(vectors * (127 / largest)).astype(np.int8)
    return codes, (largest[:, 0] / 127).astype(np.float32)


def _signs(vectors: "Vectors") -> "NDArray[np.uint64]":
    bits = np.zeros((len(vectors), -(-vectors.shape[1] // 64) * 64), np.bool_)
    np.greater(vectors, 0, out=bits[:, : vectors.shape[1]])
    return np.packbits(bits, axis=1).view(np.uint64)


def _promising(rows: Rows, query: "Vectors") -> "NDArray[np.intp]":
    """Positions of the rows whose signs agree best; ties are all included."""
    pairs = list(zip(rows.signs.T, _signs(query[None])[0], strict=True))
    unlike = np.zeros(len(rows.ids), np.uint16)
    for start in range(0, len(pairs), 3):  # three times 64 fits into a byte
        unlike += sum(np.bitwise_count(column ^ signs) for column, signs in pairs[start : start + 3])
    enough = max(len(unlike) // PREFILTER_DIVISOR, MIN_SCORED_ROWS)
    limit = int(np.searchsorted(np.cumsum(np.bincount(unlike)), enough))
    return np.flatnonzero(unlike <= limit)


def _scores(rows: Rows, query: "Vectors", where: "NDArray[np.intp] | None" = None) -> "Vectors":
    """Uses `vecdot`: a matrix product would start BLAS threads, which on a busy machine wait for each other a hundred
    times longer than the work takes."""
    scores = np.empty(len(rows.codes) if where is None else len(where), np.float32)
    wide = np.empty((min(CHUNK_ROWS, len(scores)), len(query)), np.float32)
    for start in range(0, len(scores), CHUNK_ROWS):
        part = slice(start, start + CHUNK_ROWS)
        chunk = rows.codes[part] if where is None else rows.codes.take(where[part], axis=0)
        np.copyto(wide[: len(chunk)], chunk)
        np.vecdot(wide[: len(chunk)], query, out=scores[part])
    scores *= rows.scales if where is None else rows.scales[where]
    return scores


def _best_of_each_note(
    ids: "NDArray[np.int64]", scores: "Vectors", count: int, where: "NDArray[np.intp] | None" = None
) -> list[int]:
    """`where` are the positions of the scored rows, if they are not all. A long note may have many of the best rows,
    so look deeper until enough notes are found."""
    depth = min(4 * count, len(scores))
    while True:
        best = _top(scores, depth)
        best = best if where is None else where[best]
        _, first = np.unique(ids[best, NOTE], return_index=True)
        if len(first) >= count or depth == len(scores):
            passages: list[int] = ids[best[np.sort(first)[:count]], PASSAGE].tolist()
            return passages
        depth = min(4 * depth, len(scores))


def _top(scores: "Vectors", count: int) -> "NDArray[np.intp]":
    """Positions of the highest scores, highest first."""
    part = np.arange(len(scores)) if count >= len(scores) else np.argpartition(scores, -count)[-count:]
    return part[np.argsort(-scores[part], kind="stable")]
