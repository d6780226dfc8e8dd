"""Values that two notes agree in, however they are written."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from chie.knowledge.review.quantities import quantities
from chie.knowledge.review.shared_values import spelt_alike

pytestmark = pytest.mark.req("MT-3")


@pytest.mark.parametrize(
    ("text", "measure", "value"),
    [
        ("Queries end after half an hour.", "time", 1_800),
        ("an hour and a half", "time", 5_400),
        ("1分半で打ち切る", "time", 90),
        ("半日かかる", "time", 43_200),
        ("開始は午後6時半", "clock", 18.5),
        ("It starts at 6:30 PM.", "clock", 18.5),
        ("12 am に始まる", "clock", 0),
        ("closes at 12 pm", "clock", 12),
        ("starts at two in the morning", "clock", 2),
        ("Runs at 11 at night.", "clock", 23),
        ("twelve at night", "clock", 0),
        ("closes at noon", "clock", 12),
        ("正午に締め切る", "clock", 12),
        ("reset at midnight", "clock", 0),
        ("三回まで再試行する", "times", 3),
        ("twice a week", "times", 2),
        ("使用率が8割を超えたら", "share", 80),
        ("容量の4分の1を使う", "share", 25),
        ("three quarters of the disk", "share", 75),
        ("回答者の半数が賛成", "share", 50),
        ("limited to fifty connections", "connection", 50),
        ("3千円まで", "yen", 3_000),
        ("costs $1,200", "usd", 1_200),
        ("¥5000 per user", "yen", 5_000),
        ("幅は1.5メートル", "length", 1.5),
        ("2.4GHz", "frequency", 2.4e9),
        ("needs two more approvals, no exceptions", "approval", 2),
        ("up to 50,000 search result rows to CSV", "row", 50_000),
        ("three further attempts", "times", 3),
        ("It runs every week.", "period", 604_800),
        ("毎週リリースする", "period", 604_800),
        ("every other Tuesday", "period", 1_209_600),
        ("隔週で集まる", "period", 1_209_600),
        ("a fortnightly call", "period", 1_209_600),
        ("every two weeks", "period", 1_209_600),
        ("週に1回確認する", "period", 604_800),
        ("once a month", "period", 2_592_000),
        ("月次で締める", "period", 2_592_000),
        ("The nightly export", "period", 86_400),
        ("15分ごとに取りに行く", "period", 900),
        ("polls at 15-minute intervals", "period", 900),
        ("1時間に1回同期する", "period", 3_600),
        ("hourly", "period", 3_600),
    ],
)
def test_values_in_words_are_read(text: str, measure: str, value: float) -> None:
    assert [(one.measure, one.value) for one in quantities(text)] == [(measure, (value,))]


@pytest.mark.parametrize(
    "text",
    [
        "過半数の賛成",
        "一部の画面",
        "十分に確認する",
        "第三者",
        "the second half",
        "If the last one fails, tell them.",
        "毎回確認する",
        "$HOME",
        "the afternoon",
    ],
)
def test_words_that_only_look_like_values_are_none(text: str) -> None:
    assert quantities(text) == []


@pytest.mark.parametrize(
    ("a", "b", "expected"),
    [
        ("The limit is 90 seconds.", "上限は1分半。", ("The limit is 1分半.", "上限は1分半。")),
        ("Kept for 30 days.", "保存は1か月。", ("Kept for 1か月.", "保存は1か月。")),
        ("It starts at 2 am.", "at two in the morning", ("It starts at 2 am.", "at 2 am")),
        ("最大2 GBまで", "up to 2048 MB", ("最大2 GBまで", "up to 2 GB")),
        ("It takes 100 s.", "It takes 103 s.", ("It takes 100 s.", "It takes 103 s.")),
        ("半分まで使える", "up to 50 % of it", ("半分まで使える", "up to 半分 of it")),
        ("送料は1,500円", "shipping is ¥1500", ("送料は¥1500", "shipping is ¥1500")),
        ("a cable of 200 cm", "2メートルのケーブル", ("a cable of 2メートル", "2メートルのケーブル")),
        ("once in 3 months", "1四半期に1回", ("once in 1四半期", "1四半期に1回")),
        ("30 seconds", "30 minutes", ("30 seconds", "30 minutes")),
        ("3 replicas", "3 GB", ("3 replicas", "3 GB")),
    ],
)
def test_equal_values_are_spelt_alike_and_others_are_left(a: str, b: str, expected: tuple[str, str]) -> None:
    assert spelt_alike(a, b) == expected


@given(st.text(max_size=80), st.text(max_size=80))
def test_the_order_does_not_matter_and_any_text_is_taken(a: str, b: str) -> None:
    first, second = spelt_alike(a, b)
    assert spelt_alike(b, a) == (second, first)


@pytest.mark.parametrize(
    "form",
    ["{}日ごと", "every {} days", "{}-day intervals", "{}時間半", "{}分の1", "3分の{}", "{} s", "{}件", "v{}", "${}"],
)
@pytest.mark.parametrize("digits", [400, 5_000])
def test_endless_numbers_in_a_note_stop_no_review(form: str, digits: int) -> None:
    """Python refuses to make a float, or an integer at all, of them."""
    text = form.format("9" * digits)
    spelt_alike(text, text)
    assert all(len(one.value) <= 4 for one in quantities(text))
