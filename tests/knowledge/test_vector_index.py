"""The scan in memory, at a size where only promising rows are scored."""

import numpy as np
import pytest
from numpy.typing import NDArray

from chie.knowledge.store.sqlite.vector_index import MIN_PREFILTER_ROWS, VectorIndex

Vectors = NDArray[np.float32]
DIMENSION = 100  # not a multiple of 64
CROWD = MIN_PREFILTER_ROWS + 5_000


def unit(vectors: NDArray[np.floating]) -> Vectors:
    found: Vectors = (vectors / np.linalg.norm(vectors, axis=-1, keepdims=True)).astype(np.float32)
    return found


def ids(notes: NDArray[np.int64]) -> NDArray[np.int64]:
    """A passage a row, numbered after it."""
    numbers = np.arange(len(notes))
    return np.stack([numbers, numbers, notes], axis=1)


@pytest.fixture(scope="module")
def crowd() -> Vectors:
    """Vectors as texts have them: gathered around some subjects."""
    random = np.random.default_rng(3)
    subjects = random.standard_normal((300, DIMENSION))
    return unit(random.choice(subjects, CROWD) + 0.6 * random.standard_normal((CROWD, DIMENSION)))


@pytest.mark.req("KG-4")
def test_among_very_many_the_nearest_are_found_as_a_full_comparison_finds_them(crowd: Vectors) -> None:
    index = VectorIndex(DIMENSION)
    index.append(ids(np.arange(CROWD)), crowd)
    found = []
    for query in crowd[:: CROWD // 40]:
        exact = set(np.argsort(-(crowd @ query))[:10].tolist())
        found.append(len(exact.intersection(index.nearest(query, 50))) / 10)
    assert np.mean(found) >= 0.995


def test_a_note_that_owns_all_promising_rows_does_not_hide_the_others(crowd: Vectors) -> None:
    query = unit(np.ones(DIMENSION))
    long_note = unit(query + 0.01 * crowd[: CROWD // 2])
    index = VectorIndex(DIMENSION)
    index.append(
        ids(np.r_[np.zeros(CROWD // 2), np.arange(1, CROWD // 2 + 1)].astype(int)),
        np.r_[long_note, crowd[: CROWD // 2]],
    )
    assert len(index.nearest(query, 10)) == 10


def test_rows_that_were_deleted_are_not_promising(crowd: Vectors) -> None:
    index = VectorIndex(DIMENSION)
    index.append(ids(np.arange(CROWD)), crowd)
    index.keep(np.arange(1, CROWD))
    assert 0 not in index.nearest(crowd[0], 10)


def test_a_choice_of_passages_holds_among_very_many(crowd: Vectors) -> None:
    index = VectorIndex(DIMENSION)
    index.append(ids(np.arange(CROWD)), crowd)
    assert index.nearest(crowd[7], 3, among=np.array([5, 7, 9]))[0] == 7
    assert set(index.nearest(crowd[7], 3, among=np.array([5, 7, 9]))) == {5, 7, 9}
