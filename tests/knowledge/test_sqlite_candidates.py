"""Choosing candidates in memory: by words as BM25 ranks them, and without those that cannot become hits."""

import sqlite3
from collections import Counter
from collections.abc import Iterator, Sequence
from math import log
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.contract.note_store import a_note
from tests.fakes.embedders import HashingEmbedder

from chie.knowledge.search.ranking import MIN_PHRASE_COVERAGE, Match
from chie.knowledge.store.scoring import K1, MAX_LEXICAL_CANDIDATES, B, RankedPassage, best_per_note
from chie.knowledge.store.sqlite import words
from chie.knowledge.store.sqlite.pruning import contenders
from chie.knowledge.store.sqlite.store import SqliteStore
from chie.knowledge.store.sqlite.vector_index import Estimates
from chie.knowledge.viewer import Viewer

TEXTS = [
    "redis is full",
    "redis evicts keys when redis is full, so redis needs memory",
    "memory of the cache server",
    "キャッシュが満杯でredisが書き込みを拒否する",
    "an unrelated note on the coffee machine",
]


@pytest.fixture
def store(tmp_path: Path) -> Iterator[SqliteStore]:
    store = SqliteStore(tmp_path / "chie.db", HashingEmbedder())
    for text in TEXTS:
        store.save(a_note(text))
    yield store
    store.close()


def bm25(connection: sqlite3.Connection, weights: dict[str, float], average: float) -> dict[int, tuple[float, float]]:
    """Score and covered weight of each passage with one of the terms, by the definition."""
    found = {}
    for passage, stored in connection.execute("SELECT rowid, tokens FROM words"):
        often = Counter(stored.split())
        norm = K1 * (1 - B + B * often.total() / average)
        parts = [(often[term], weight) for term, weight in weights.items() if often[term]]
        if parts:
            score = sum(weight * number * (K1 + 1) / (number + norm) for number, weight in parts)
            found[passage] = score, sum(weight for _, weight in parts)
    return found


@pytest.mark.req("SE-1")
@pytest.mark.parametrize("loaded", [True, False], ids=["lengths in memory", "lengths in the file"])
@pytest.mark.parametrize("terms", [["redi"], ["redi", "memory", "full"], ["メモ", "満杯", "redi"], ["ナシ"]])
def test_candidates_by_words_are_those_of_bm25(store: SqliteStore, terms: list[str], loaded: bool) -> None:
    if loaded:
        store.search("redis", limit=1, tags=())
    weights = {term: log(2 + number) for number, term in enumerate(terms)}
    with store._file.read() as connection:
        seen = words.corpus(connection, Viewer("anonymous"))
        average = seen.tokens / seen.passages
        expected = bm25(connection, weights, average)

        def lengths(passages: "np.typing.NDArray[np.int64]") -> "np.typing.NDArray[np.int64]":
            return store._vectors.lengths(connection, passages)

        found = words.covered(connection, list(weights.items()), average, lengths, None)
        some = words.covered(connection, list(weights.items()), average, lengths, [2, 3])
    assert found == pytest.approx({passage: weight for passage, (_, weight) in expected.items()})
    assert list(found) == sorted(expected, key=lambda passage: -expected[passage][0])
    assert some == pytest.approx({passage: found[passage] for passage in found if passage in (2, 3)})


def test_no_more_candidates_by_words_than_are_ranked(store: SqliteStore) -> None:
    for number in range(MAX_LEXICAL_CANDIDATES + 5):
        store.save(a_note(f"kafka topic {number}"))
    with store._file.read() as connection:
        found = words.covered(connection, [("kafka", 1.0)], 3.0, lambda passages: np.full(len(passages), 3), None)
    assert len(found) == MAX_LEXICAL_CANDIDATES
    assert list(found) == sorted(found)  # equally good: the oldest


def test_keyed_terms_are_looked_up_for_owners_of_private_notes_only(store: SqliteStore) -> None:
    store.save(a_note("kafka", user_id="aki", private=True))
    with store._file.read() as connection:
        assert words.corpus(connection, Viewer("aki")).audiences == ("", "aki")
        assert words.corpus(connection, Viewer("ben")).audiences == ("",)
    assert [hit.title for hit in store.search("kafka", limit=1, tags=(), viewer=Viewer("aki")).hits] == ["kafka"]
    assert "kafka" not in [hit.title for hit in store.search("kafka", limit=9, tags=(), viewer=Viewer("ben")).hits]


@st.composite
def candidates(draw: st.DrawFn) -> tuple[list[Match], list[int], list[float], list[float]]:
    """Exact matches, their notes, and estimates that are off by less than the errors."""
    count = draw(st.integers(1, 40))
    shares = st.sampled_from([0.0, 0.05, 0.12, 0.5, 0.995, 1.0])
    cosines = [draw(st.floats(-1, 1)) for _ in range(count)]
    matches = [
        Match(cosine, share := draw(shares), share >= MIN_PHRASE_COVERAGE and draw(st.booleans())) for cosine in cosines
    ]
    errors = [draw(st.floats(0.001, 0.2)) for _ in range(count)]
    estimates = [cosine + draw(st.floats(-0.99, 0.99)) * error for cosine, error in zip(cosines, errors, strict=True)]
    return matches, [draw(st.integers(0, 12)) for _ in range(count)], estimates, errors


@pytest.mark.req("SE-1")
@given(given_=candidates(), limit=st.integers(1, 12), unknown=st.sets(st.integers(0, 39)))
def test_leaving_out_candidates_changes_no_hit(
    given_: tuple[list[Match], list[int], list[float], list[float]], limit: int, unknown: set[int]
) -> None:
    matches, notes, cosines, errors = given_
    in_memory = np.array([-1 if passage in unknown else note for passage, note in enumerate(notes)])
    shares = {passage: match.words for passage, match in enumerate(matches) if match.words}

    def best(passages: Sequence[int]) -> list[RankedPassage]:
        ranked = [RankedPassage(notes[passage], passage, passage, matches[passage]) for passage in passages]
        return best_per_note([one for one in ranked if one.match.is_hit], limit)

    everything = range(len(matches))
    estimates = Estimates(in_memory, np.array(cosines), np.array(errors))
    kept = contenders(everything, shares or {99: 1.0}, estimates, limit)
    assert [one.match.rank for one in best(kept)] == [one.match.rank for one in best(everything)]
    assert set(kept) >= unknown.intersection(everything)
