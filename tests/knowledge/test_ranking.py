"""A passage's score, by its parts."""

import pytest

from chie.knowledge.ranking import IDENTIFIER_WEIGHT, MIN_SCORE, PHRASE_WEIGHT, WORD_WEIGHT, ParsedQuery, display_score


def test_the_parts_of_a_score_add_up() -> None:
    question = ParsedQuery.of("client_max_body_size, proxy_read_timeout or send_timeout")
    text = "raise client_max_body_size"
    assert question.score(text, cosine=0.5, words=0.6) == pytest.approx(0.5 + WORD_WEIGHT * 0.6 + IDENTIFIER_WEIGHT / 3)


def test_phrase_match_ignores_width_and_case() -> None:
    question = ParsedQuery.of("ＶＰＮ の設定")
    assert question.score("社内 vpn の設定です", cosine=0.5, words=0.0) == pytest.approx(0.5 + PHRASE_WEIGHT)
    assert question.score("社内の設定", cosine=0.5, words=0.0) == pytest.approx(0.5)
    assert question.text == "ＶＰＮ の設定"


@pytest.mark.parametrize(
    ("query", "text", "matches"),
    [
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
    question = ParsedQuery.of(query)
    expected = 0.5 + PHRASE_WEIGHT * matches + IDENTIFIER_WEIGHT * bool(question.identifiers)
    assert question.score(text, cosine=0.5, words=0.0) == pytest.approx(expected)


def test_negative_cosine_counts_as_zero() -> None:
    assert ParsedQuery.of("x y").score("x y", cosine=-0.9, words=1.0) == pytest.approx(WORD_WEIGHT + PHRASE_WEIGHT)


def test_passages_below_the_minimum_score_are_left_out() -> None:
    question = ParsedQuery.of("nothing of it")
    assert question.score("あ", cosine=MIN_SCORE, words=0.0) == MIN_SCORE
    assert question.score("あ", cosine=MIN_SCORE - 0.01, words=0.0) is None


def test_without_a_vector_the_words_decide() -> None:
    question = ParsedQuery.of("disk is full")
    assert question.score("the disk is full", cosine=None, words=0.5) == pytest.approx(
        0.5 + WORD_WEIGHT * 0.5 + PHRASE_WEIGHT
    )
    assert question.score("disk", cosine=None, words=0.01) == pytest.approx(0.01 + WORD_WEIGHT * 0.01)
    assert question.score("the disk is full", cosine=None, words=0.0) is None


def test_displayed_score_is_clipped_and_rounded() -> None:
    assert (display_score(1.3), display_score(1.0), display_score(0.123456)) == (1.0, 1.0, 0.1235)
