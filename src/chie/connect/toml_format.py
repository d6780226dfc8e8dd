"""Servers in a TOML file. A new one is a table at the end; one that goes takes its own lines along, nothing else."""

import re
import tomllib
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from chie.connect.format import Entries, Format
from chie.connect.mcp_clients import toml_table
from chie.connect.text import BrokenTextError, Splice, UnsuitedTextError, newline_of

_PLACE = re.compile(r" \(at (?:line (?P<line>\d+), column (?P<column>\d+)|end of document)\)$")
_TOKEN = re.compile(
    r'#[^\n]*|"""(?:\\.|[^\\])*?"{3,5}|\'\'\'.*?\'{3,5}|"(?:\\.|[^"\\\n])*"|\'[^\'\n]*\'|[\[\]{}]|\n|[^#"\'\[\]{}\n]+',
    re.DOTALL,
)


class TomlFormat(Format):
    def parse(self, text: str) -> dict[str, Any]:
        try:
            return tomllib.loads(text.removeprefix("\ufeff"))
        except tomllib.TOMLDecodeError as error:
            raise _broken(str(error), text) from error

    def put(self, text: str, key: str, name: str, entry: Entries) -> Splice:
        newline = newline_of(text)
        table = toml_table((key, name), entry).replace("\n", newline)
        if (key in self.parse(text)) and name in self.entries(text, key):
            span = _table(text, (key, name))
            return Splice(span.start, span.stop, table.removesuffix(newline) if span.bare else table)
        if not text.strip("\ufeff"):
            return Splice(len(text), len(text), table)
        if text.endswith("\n"):
            return Splice(len(text), len(text), newline + table)
        return Splice(len(text), len(text), 2 * newline + table.removesuffix(newline))

    def drop(self, text: str, key: str, name: str) -> list[Splice]:
        if name not in self.entries(text, key):
            return []
        span = _table(text, (key, name))
        start = span.start
        for blank in ("\r\n", "\n"):  # the empty line before it came with it
            if text[:start].endswith((f"\n{blank}", blank if start == len(blank) else f"\n{blank}")):
                start -= len(blank)
                break
        if span.bare:  # and so did the end of the last line
            start -= 2 if text[:start].endswith("\r\n") else int(text[:start].endswith("\n"))
        return [Splice(start, span.stop, "")]

    def clear(self, text: str, key: str) -> list[Splice]:  # noqa: ARG002
        """Tables leave no empty place behind."""
        return []


@dataclass(frozen=True)
class _Span:
    """`bare` where the file ends without a line end."""

    start: int
    stop: int
    bare: bool


@dataclass(frozen=True)
class _Statement:
    """One header or one key with its value; `path` is set for headers."""

    start: int
    stop: int
    path: tuple[str, ...] | None


def _table(text: str, path: tuple[str, ...]) -> _Span:
    """The table's statements and those of the tables inside it, which must stand together."""
    ours: list[_Statement] = []
    inside = ended = False
    for statement in _statements(text):
        if statement.path is not None:
            inside = statement.path[: len(path)] == path
        if inside and ended:
            raise UnsuitedTextError(f"the parts of `{'.'.join(path)}` do not stand together. Change it by hand.")
        if inside:
            ours.append(statement)
        ended = bool(ours) and not inside
    if not ours:
        raise UnsuitedTextError(
            f"`{'.'.join(path)}` is not written as a table with a header of its own. Change it by hand."
        )
    return _Span(ours[0].start, ours[-1].stop, bare=not text[: ours[-1].stop].endswith("\n"))


def _statements(text: str) -> Iterator[_Statement]:
    """Every header and every key, each with the whole of its lines; empty lines and comments are no statements."""
    start = depth = 0
    said = ""
    position = 1 if text.startswith("\ufeff") else 0
    start = position
    for token in _TOKEN.finditer(text, position):
        word = token.group()
        depth += {"[": 1, "{": 1, "]": -1, "}": -1}.get(word, 0)
        said += "" if word.startswith("#") else word
        if word == "\n" and depth == 0:
            if said.strip():
                yield _Statement(start, token.end(), _header(said))
            start, said = token.end(), ""
    if said.strip():
        yield _Statement(start, len(text), _header(said))


def _header(said: str) -> tuple[str, ...] | None:
    if not said.lstrip(" \t").startswith("["):
        return None
    path: list[str] = []
    found: Any = tomllib.loads(said.strip())
    while isinstance(found, dict) and found:
        key, found = next(iter(found.items()))
        path.append(key)
        found = found[0] if isinstance(found, list) else found
    return tuple(path)


def _broken(message: str, text: str) -> BrokenTextError:
    found = _PLACE.search(message)
    said = (_PLACE.sub("", message) or "this is not TOML") + "."
    if found is None or found["line"] is None:
        return BrokenTextError(said, text, len(text))
    lines = text.removeprefix("\ufeff").split("\n")
    line, column = int(found["line"]), int(found["column"])
    position = sum(len(before) + 1 for before in lines[: line - 1]) + column - 1
    return BrokenTextError(said, text, position + text.startswith("\ufeff"))
