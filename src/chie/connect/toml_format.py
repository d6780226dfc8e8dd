"""Server entries in a TOML file. A new entry is a table at the end of the file; removing one removes only its lines."""

import re
import tomllib
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from chie.connect.errors import ConfigSyntaxError, UnsupportedLayoutError
from chie.connect.format import Entries, Format
from chie.connect.splices import Splice, newline_of
from chie.connect.toml_writer import toml_table
from chie.messages.catalogue import Message

_POSITION = re.compile(r" \(at (?:line (?P<line>\d+), column (?P<column>\d+)|end of document)\)$")
_TOKEN = re.compile(
    r'#[^\n]*|"""(?:\\.|[^\\])*?"{3,5}|\'\'\'.*?\'{3,5}|"(?:\\.|[^"\\\n])*"|\'[^\'\n]*\'|[\[\]{}]|\n|[^#"\'\[\]{}\n]+',
    re.DOTALL,
)


class TomlFormat(Format):
    def parse(self, text: str) -> dict[str, Any]:
        try:
            return tomllib.loads(text.removeprefix("\ufeff"))
        except tomllib.TOMLDecodeError as error:
            raise _syntax_error(str(error), text) from error

    def put(self, text: str, key: str, name: str, entry: Entries) -> Splice:
        newline = newline_of(text)
        table = toml_table((key, name), entry).replace("\n", newline)
        if (key in self.parse(text)) and name in self.entries(text, key):
            span = _table(text, (key, name))
            return Splice(span.start, span.stop, table.removesuffix(newline) if span.unterminated else table)
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
        for blank in ("\r\n", "\n"):  # `put` added the empty line before it
            if text[:start].endswith((f"\n{blank}", blank if start == len(blank) else f"\n{blank}")):
                start -= len(blank)
                break
        if span.unterminated:  # and the line break before that
            start -= 2 if text[:start].endswith("\r\n") else int(text[:start].endswith("\n"))
        return [Splice(start, span.stop, "")]

    def clear(self, text: str, key: str) -> list[Splice]:  # noqa: ARG002
        """Nothing to do: removing the last table leaves no empty one behind."""
        return []


@dataclass(frozen=True)
class _Span:
    """`unterminated` if the last line has no line break."""

    start: int
    stop: int
    unterminated: bool


@dataclass(frozen=True)
class _Statement:
    """One header or one key with its value; `path` is set for headers."""

    start: int
    stop: int
    path: tuple[str, ...] | None


def _table(text: str, path: tuple[str, ...]) -> _Span:
    """The statements of the table and its sub-tables, which must be contiguous."""
    ours: list[_Statement] = []
    inside = ended = False
    for statement in _statements(text):
        if statement.path is not None:
            inside = statement.path[: len(path)] == path
        if inside and ended:
            raise UnsupportedLayoutError("connect.toml_table_scattered", table=".".join(path))
        if inside:
            ours.append(statement)
        ended = bool(ours) and not inside
    if not ours:
        raise UnsupportedLayoutError("connect.toml_table_without_header", table=".".join(path))
    return _Span(ours[0].start, ours[-1].stop, unterminated=not text[: ours[-1].stop].endswith("\n"))


def _statements(text: str) -> Iterator[_Statement]:
    """Every table header and key with all of its lines. Empty lines and comments are not statements."""
    depth, code = 0, ""
    start = 1 if text.startswith("\ufeff") else 0
    for match in _TOKEN.finditer(text, start):
        part = match.group()
        depth += {"[": 1, "{": 1, "]": -1, "}": -1}.get(part, 0)
        code += "" if part.startswith("#") else part
        if part == "\n" and depth == 0:
            if code.strip():
                yield _Statement(start, match.end(), _header(code))
            start, code = match.end(), ""
    if code.strip():
        yield _Statement(start, len(text), _header(code))


def _header(code: str) -> tuple[str, ...] | None:
    if not code.lstrip(" \t").startswith("["):
        return None
    path: list[str] = []
    found: Any = tomllib.loads(code.strip())
    while isinstance(found, dict) and found:
        key, found = next(iter(found.items()))
        path.append(key)
        found = found[0] if isinstance(found, list) else found
    return tuple(path)


def _syntax_error(message: str, text: str) -> ConfigSyntaxError:
    """tomllib gives the position only inside its message."""
    found = _POSITION.search(message)
    problem = Message("connect.toml_invalid", reason=_POSITION.sub("", message))
    if found is None or found["line"] is None:
        return ConfigSyntaxError(problem, text, len(text))
    lines = text.removeprefix("\ufeff").split("\n")
    line, column = int(found["line"]), int(found["column"])
    position = sum(len(before) + 1 for before in lines[: line - 1]) + column - 1
    return ConfigSyntaxError(problem, text, position + text.startswith("\ufeff"))
