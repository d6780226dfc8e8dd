"""Ordinary text is normalised as by `unicodedata`; long runs of marks are truncated, in linear time."""

from unicodedata import combining, normalize

import pytest
from hypothesis import given
from hypothesis import strategies as st

from chie.unicode import MAX_MARKS, fold, normal

MARKS = "\u0301\u0323\u0308\u3099\uff9e\uff9f\u0f73\u0344"
LETTERS = ("a", "é", "か", "ｶ", "한", "。", " ", "\n")
FORMS = ("NFC", "NFD", "NFKC", "NFKD")

# Marks in short runs, between letters that take them, in both languages.
ORDINARY = st.lists(st.tuples(st.text(alphabet=MARKS, max_size=MAX_MARKS), st.sampled_from(LETTERS))).map(
    lambda pieces: "".join(marks + letter for marks, letter in pieces)
)


@given(text=st.one_of(ORDINARY, st.text(max_size=MAX_MARKS)), form=st.sampled_from(FORMS))
def test_ordinary_text_is_normalised_as_by_unicodedata(text: str, form: str) -> None:
    assert normal(text, form) == normalize(form, text)  # type: ignore[arg-type]


@pytest.mark.parametrize("marks", ["\u0301\u0323", "\uff9e\u0323", "\u0344\u0316", "\u0f73\u0f74"])
@pytest.mark.parametrize("letter", ["a", "か"])
def test_run_of_marks_is_truncated(letter: str, marks: str) -> None:
    """In quadratic time, a million marks would take most of a day."""
    text = letter + marks * 500_000 + "。" + letter
    assert normal(text) == normalize("NFKC", letter + marks * (MAX_MARKS // 2) + "。" + letter)


def test_separate_marks_are_kept() -> None:
    text = "e\u0301、" * 1_000 + "。" * 100
    assert normal(text) == normalize("NFKC", text)


def test_every_character_that_becomes_a_mark_counts() -> None:
    """Some are letters until they are normalised; new Unicode versions may add more."""
    letters = (chr(point) for point in range(0x110000))
    marks = [letter for letter in letters if combining(normalize("NFKD", letter)[0])]
    assert [mark for mark in marks if len(normal(mark * 100, "NFC")) > 2 * MAX_MARKS] == []


def test_fold_ignores_width_and_case() -> None:
    assert fold("ＡＢｃ ｶﾞ") == "abc ガ"
