"""Edits of a text. Every change is a splice, so nothing outside it can change."""

from dataclasses import dataclass


@dataclass(frozen=True)
class Splice:
    """Replaces the characters from `start` to `stop` with `text`."""

    start: int
    stop: int
    text: str

    def apply(self, to: str) -> str:
        return to[: self.start] + self.text + to[self.stop :]


def apply_all(text: str, splices: list[Splice]) -> str:
    for splice in sorted(splices, key=lambda splice: splice.start, reverse=True):
        text = splice.apply(text)
    return text


def line_and_column(text: str, position: int) -> tuple[int, int]:
    """Both count from one; a byte order mark does not count."""
    before = text[:position].removeprefix("\ufeff")
    return before.count("\n") + 1, len(before) - (before.rfind("\n") + 1) + 1


def newline_of(text: str) -> str:
    return "\r\n" if "\r\n" in text else "\n"


def line_start(text: str, position: int) -> int:
    return text.rfind("\n", 0, position) + 1


def indent_at(text: str, position: int) -> str:
    """The leading white space of the line."""
    line = text[line_start(text, position) : position].removeprefix("\ufeff")
    return line[: len(line) - len(line.lstrip(" \t"))]
