"""The scan in memory, at a size where only promising rows are scored."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
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
    return np.stack([numbers, numbers, notes, numbers], axis=1)


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


@pytest.mark.req("SE-1")
@given(seed=st.integers(0, 2**32 - 1), rows=st.integers(1, 60), sharp=st.floats(0, 8))
def test_estimates_are_as_close_as_they_say(seed: int, rows: int, sharp: float) -> None:
    """Also for vectors with a few large numbers, which are rounded the most."""
    random = np.random.default_rng(seed)
    vectors = unit(np.exp(sharp * random.random((rows, DIMENSION))) * random.standard_normal((rows, DIMENSION)))
    query = unit(random.standard_normal(DIMENSION))
    index = VectorIndex(DIMENSION)
    index.append(ids(np.arange(rows)), vectors)
    wanted = random.permutation(rows + 3)  # three of them are unknown
    notes, cosines, errors = index.estimates(query, wanted)
    known = wanted < rows
    assert notes[known].tolist() == wanted[known].tolist()
    assert set(notes[~known]) == {-1}
    assert (np.abs(cosines[known] - vectors[wanted[known]] @ query) <= errors[known]).all()


def test_lengths_follow_what_is_appended_and_dropped(crowd: Vectors) -> None:
    index = VectorIndex(DIMENSION)
    assert index.lengths(np.array([0, 7])).tolist() == [-1, -1]
    index.append(np.array([[1, 9, 1, 30], [2, 4, 2, 20]]), crowd[:2])  # not in the order of passages
    assert index.lengths(np.array([4, 9, 5, 100])).tolist() == [20, 30, -1, -1]
    index.append(np.array([[3, 5, 3, 10]]), crowd[2:3])
    index.keep(np.array([1, 3]))
    assert index.lengths(np.array([4, 9, 5])).tolist() == [-1, 30, 10]


@pytest.mark.req("SE-1")
@pytest.mark.parametrize("rows", [MIN_PREFILTER_ROWS - 1, MIN_PREFILTER_ROWS, CROWD])
def test_the_ten_nearest_are_found_at_every_size(crowd: Vectors, rows: int) -> None:
    index = VectorIndex(DIMENSION)
    index.append(ids(np.arange(rows)), crowd[:rows])
    random = np.random.default_rng(5)
    found = []
    for row in range(0, rows, rows // 40):
        query = unit(crowd[row] + random.standard_normal(DIMENSION) / 20)
        exact = np.argsort(-(crowd[:rows] @ query))[:10]
        found.append(np.isin(exact, index.nearest(query, 50)).mean())
    assert np.mean(found) >= 0.995
