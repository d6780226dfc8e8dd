"""A configuration as text: every change is a splice, so that nothing outside it can change."""

from dataclasses import dataclass

from chie.errors import ChieError


class BrokenTextError(ChieError):
    """Shown to whoever owns the file: where it breaks off, in the editor's way of counting."""

    def __init__(self, message: str, text: str, position: int) -> None:
        line, column = place(text, position)
        super().__init__(f"line {line}, column {column}: {message}")


class UnsuitedTextError(ChieError):
    """The file is well-formed, but written in a way that cannot be added to without rewriting it."""


@dataclass(frozen=True)
class Splice:
    """`text` in place of what stood from `start` to `stop`."""

    start: int
    stop: int
    text: str

    def apply(self, to: str) -> str:
        return to[: self.start] + self.text + to[self.stop :]


def apply_all(text: str, splices: list[Splice]) -> str:
    for splice in sorted(splices, key=lambda splice: splice.start, reverse=True):
        text = splice.apply(text)
    return text


def place(text: str, position: int) -> tuple[int, int]:
    """Line and column, from one."""
    before = text[:position].removeprefix("\ufeff")
    return before.count("\n") + 1, len(before) - (before.rfind("\n") + 1) + 1


def newline_of(text: str) -> str:
    return "\r\n" if "\r\n" in text else "\n"


def line_start(text: str, position: int) -> int:
    return text.rfind("\n", 0, position) + 1


def indent_at(text: str, position: int) -> str:
    """The white space that the line begins with."""
    line = text[line_start(text, position) : position].removeprefix("\ufeff")
    return line[: len(line) - len(line.lstrip(" \t"))]
