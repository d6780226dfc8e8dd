"""Leaves out the candidates that cannot become hits, before anything is read from the file for them.

The vectors in memory are rounded, so they give a range for the rank of each candidate. A candidate whose range lies
below those of enough other notes cannot be among the best, whatever its exact rank is.
"""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from chie.knowledge.search.ranking import MIN_COVERAGE, MIN_PHRASE_COVERAGE, MIN_SIMILARITY, PHRASE_BONUS, WORDS_BONUS

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from chie.knowledge.store.sqlite.vector_index import Estimates


def contenders(
    candidates: Sequence[int], words: Mapping[int, float], estimates: "Estimates", limit: int
) -> Sequence[int]:
    """Those of the candidates that can be the best passage of one of the `limit` best notes."""
    import numpy as np

    if len(candidates) <= limit:
        return candidates
    notes, cosines, errors = estimates
    shares = np.array([words.get(passage, 0.0) for passage in candidates])
    bonus = WORDS_BONUS * shares**2
    certain = (notes >= 0) & ((cosines - errors >= MIN_SIMILARITY) | (shares >= MIN_COVERAGE))
    lowest = np.where(certain, np.maximum(cosines - errors, 0) + bonus, -np.inf)
    verbatim = shares >= MIN_PHRASE_COVERAGE if words else True
    highest = np.where(notes < 0, np.inf, np.maximum(cosines + errors, 0) + bonus + PHRASE_BONUS * verbatim)
    threshold = _of_best_notes(notes, lowest, limit)
    return [candidates[position] for position in np.flatnonzero(highest >= threshold).tolist()]


def _of_best_notes(notes: "NDArray[np.int64]", ranks: "NDArray[np.float64]", limit: int) -> float:
    """The rank of the best passage of the note that is last among the `limit` best."""
    best: dict[int, float] = {}
    for note, rank in zip(notes.tolist(), ranks.tolist(), strict=True):
        if rank > best.get(note, float("-inf")):
            best[note] = rank
    return sorted(best.values(), reverse=True)[limit - 1] if len(best) >= limit else float("-inf")
