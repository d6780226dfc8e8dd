"""Messages of a model become one text, a blank line between them."""

import pytest

from chie.chat.agents.text_joiner import Paragraphs


def joined(*messages: list[str]) -> str:
    paragraphs = Paragraphs()
    said: list[str] = []
    for message in messages:
        paragraphs.begin()
        said += map(paragraphs.add, message)
    return "".join(said)


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
def test_a_later_message_begins_after_one_blank_line(messages: list[list[str]], text: str) -> None:
    assert joined(*messages) == text


@pytest.mark.parametrize(("words", "said"), [(["x"], True), (["\n", " "], False), ([], False)])
def test_white_space_says_nothing(words: list[str], said: bool) -> None:
    paragraphs = Paragraphs()
    for word in words:
        paragraphs.add(word)
    assert paragraphs.said is said
