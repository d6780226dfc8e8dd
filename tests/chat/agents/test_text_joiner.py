"""The messages of a model are joined into one text, with a blank line between them."""

import pytest

from chie.chat.agents.text_joiner import TextJoiner


def joined(*messages: list[str]) -> str:
    joiner = TextJoiner()
    text: list[str] = []
    for message in messages:
        joiner.start_message()
        text += map(joiner.add, message)
    return "".join(text)


@pytest.mark.parametrize(
    ("messages", "text"),
    [
        ([["One."], ["Two."]], "One.\n\nTwo."),
        ([["見てみ", "ます。"], ["あり", "ました。"]], "見てみます。\n\nありました。"),
        ([["One.\n"], ["Two."]], "One.\n\nTwo."),
        ([["One.", "\n", "\n", "\n"], ["Two."]], "One.\n\n\nTwo."),
        ([["One."], ["\n", " \n", "\nTwo."]], "One.\n\nTwo."),
        ([["One."], ["  - two"]], "One.\n\n  - two"),
        ([["One."], ["\n\n  - two\n"]], "One.\n\n  - two\n"),
        ([["One."], [], ["\n\n"], ["Two."]], "One.\n\nTwo."),
        ([[], ["Two."]], "Two."),
        ([["\n"], ["Two."]], "\nTwo."),
        ([["One.", "\n\n", "Still one."]], "One.\n\nStill one."),
    ],
)
def test_later_message_starts_after_one_blank_line(messages: list[list[str]], text: str) -> None:
    assert joined(*messages) == text


@pytest.mark.parametrize(("deltas", "has_text"), [(["x"], True), (["\n", " "], False), ([], False)])
def test_white_space_is_not_text(deltas: list[str], has_text: bool) -> None:
    joiner = TextJoiner()
    for delta in deltas:
        joiner.add(delta)
    assert joiner.has_text is has_text
