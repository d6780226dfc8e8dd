"""Rank, score and confidence of a match, by its parts."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from chie.knowledge.search.ranking import (
    MIN_COVERAGE,
    MIN_SIMILARITY,
    PHRASE_BONUS,
    WORDS_BONUS,
    Match,
    Query,
    display_score,
)
from chie.knowledge.store.scoring import part_of_word, term_weights, total_weight

SHARES = st.floats(0, 1)


def test_the_parts_of_a_rank_add_up() -> None:
    assert Match(0.5, 0.0).rank == pytest.approx(0.5)
    assert Match(0.5, 1.0).rank == pytest.approx(0.5 + WORDS_BONUS)
    assert Match(0.5, 0.5).rank == pytest.approx(0.5 + WORDS_BONUS / 4)
    assert Match(0.5, 1.0, verbatim=True).rank == pytest.approx(0.5 + WORDS_BONUS + PHRASE_BONUS)
    assert Match(-0.9, 0.0).rank == 0


def test_the_score_is_the_similarity_alone() -> None:
    assert [Match(0.4, words).similarity for words in (0.0, 0.5, 1.0)] == [0.4, 0.4, 0.4]
    assert Match(-0.2, 1.0).similarity == 0
    assert Match(None, 0.7).similarity == 0.7  # words are all that is known


def test_what_neither_resembles_nor_shares_words_is_no_hit() -> None:
    assert Match(MIN_SIMILARITY, 0.0).is_hit
    assert not Match(MIN_SIMILARITY - 0.01, 0.0).is_hit
    assert Match(0.0, MIN_COVERAGE).is_hit
    assert not Match(0.0, MIN_COVERAGE - 0.01).is_hit
    assert Match(0.0, 0.0, verbatim=True).is_hit
    assert not Match(None, 0.0).is_hit
    assert Match(None, 0.01).is_hit


@pytest.mark.req("SE-2")
@given(words=SHARES, passages=st.integers(0, 10**9))
def test_words_alone_do_not_make_a_hit_confident(words: float, passages: int) -> None:
    assert not Match(0.2, words).is_confident(passages)


@pytest.mark.req("SE-2")
@given(cosine=SHARES, words=SHARES, passages=st.integers(1, 10**6))
def test_among_more_notes_it_takes_more_to_be_confident(cosine: float, words: float, passages: int) -> None:
    match = Match(cosine, words)
    assert match.is_confident(passages) or not match.is_confident(10 * passages)
    assert Match(1.0, words).is_confident(passages)


@pytest.mark.parametrize(
    ("query", "text", "matches"),
    [
        ("ＶＰＮ の設定", "社内 vpn の設定です", True),
        ("AI", "we maintain the mail server", False),
        ("AI", "生成AIの使い方", True),
        ("Go", "the category of good algorithms", False),
        ("Go", "Goのビルドは make build", True),
        ("R", "for every error", False),
        ("R", "統計は R で書く", True),
        ("C++", "the C++ client", True),
        (".env", "copy config/.env.example", True),
        ("foo.bar", "call foo.bar()", True),
        ("connect", "worker_connections must be raised", True),
        ("worker_connections", "set worker_connections 1024", True),
        ("mail server", "the email server", False),
        ("10.0.0.1", "10.0.0.12 is down", False),
        ("10.0.0.1", "ping 10.0.0.1", True),
        ("接続", "再接続エラー", True),
        ("接続 error", "再接続 errors", True),
    ],
)
def test_query_inside_a_longer_word_does_not_match(query: str, text: str, matches: bool) -> None:
    assert Query(query).occurs_in(text) is matches


def test_displayed_score_is_clipped_and_rounded() -> None:
    assert (display_score(1.3), display_score(1.0), display_score(0.123456)) == (1.0, 1.0, 0.1235)


@pytest.mark.parametrize(
    ("term", "weight"),
    [
        ("障害", 1.0),
        ("サバ", 1.0),
        ("nginx", 2.0),
        ("413", 2.0),
        ("ノ障", 0.3),
        ("害ガ", 0.3),
        ("何ガ", 0.1),
        ("起キ", 1.0),
    ],
)
def test_particles_count_less_and_latin_words_more_than_bigrams(term: str, weight: float) -> None:
    assert part_of_word(term) == weight


def test_question_words_cost_a_passage_hardly_any_share_of_the_query() -> None:
    terms = ["障害", "害ノ", "原因", "因ハ", "ハ何", "何カ"]
    known = term_weights({"障害": 1, "原因": 1}, 100)
    assert sum(known.values()) / total_weight(terms, known, 100) > 0.6
