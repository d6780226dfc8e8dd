import pytest

from chie.knowledge.review.dates import dates, differ
from chie.knowledge.review.quantities import quantities

DATES = {
    "2月13日の障害": (0, 2, 13),
    "2/13(木)に落ちた": (0, 2, 13),
    "the outage of February 13": (0, 2, 13),
    "Sept. 5": (0, 9, 5),
    "13 Feb 2024": (2024, 2, 13),
    "2024-03-18": (2024, 3, 18),
    "2024/3/18": (2024, 3, 18),
    "2024年3月": (2024, 3, 0),
    "9月いっぱい": (0, 9, 0),
    "the March audit": (0, 3, 0),
    "in May": (0, 5, 0),
    "2023年までは": (2023, 0, 0),
    "since 2023": (2023, 0, 0),
    "毎月25日に締める": (0, 0, 25),
}
NO_DATES = [
    "You may retry",
    "3か月間",
    "3日間",
    "1/2 of it",
    "Decide 5",
    "Mark 3",
    "in 2000 ms",
    "v2024.3",
    "/2024/logs",
]


@pytest.mark.req("MT-3")
@pytest.mark.parametrize(("text", "value"), DATES.items())
def test_dates_are_read_in_both_languages(text: str, value: tuple[int, int, int]) -> None:
    assert [date.value for date in dates(text)] == [value]
    assert quantities(text) == [], "the parts of a date are no numbers"


@pytest.mark.parametrize("text", NO_DATES)
def test_other_numbers_and_words_are_no_dates(text: str) -> None:
    assert dates(text) == []


@pytest.mark.parametrize(
    ("a", "b", "expected"),
    [
        ("3月分の集計", "the run for May", True),
        ("3月18日", "March 18", False),
        ("9月30日まで", "9月いっぱい", False),
        ("since 2023", "in March", False),
        ("March", "no date", False),
        ("March and June", "6月", False),
    ],
)
def test_dates_differ_only_if_none_agrees(a: str, b: str, expected: bool) -> None:
    assert differ(dates(a), dates(b)) is differ(dates(b), dates(a)) is expected


@pytest.mark.parametrize(
    ("text", "hour"), [("夜10時", 22), ("朝7時", 7), ("夕方5時", 17), ("深夜1時", 1), ("夜の12時", 0), ("昼の1時", 13)]
)
def test_parts_of_the_day_belong_to_the_hour(text: str, hour: int) -> None:
    assert [(one.measure, one.value) for one in quantities(text)] == [("clock", (float(hour),))]
