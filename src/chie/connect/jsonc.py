"""A parser for JSON with comments and trailing commas that keeps the offset of every value."""

import json
import re
from dataclasses import dataclass, field
from typing import Any

from chie.connect.errors import ConfigSyntaxError
from chie.messages.catalogue import Message, Param

MAX_DEPTH = 200

_BLANK = re.compile(r"(?:[ \t\r\n]|//[^\r\n]*|/\*.*?\*/)*", re.DOTALL)
_STRING = re.compile(r'"(?:[^"\\\x00-\x1f]|\\.)*"')
_SCALAR = re.compile(r"true|false|null|-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?", re.ASCII)


@dataclass
class Member:
    """`comma` is the offset of the comma after it, if there is one."""

    key: str
    start: int
    value: "Node"
    comma: int | None = None


@dataclass
class Node:
    """A value and its offsets. An object has `members`; a list or scalar has `value`."""

    start: int
    stop: int
    value: Any = None
    members: list[Member] | None = field(default=None)

    def get(self, key: str) -> Member | None:
        """The last member with that name, as in other parsers."""
        return next((member for member in reversed(self.members or []) if member.key == key), None)

    def plain(self) -> Any:  # noqa: ANN401
        if self.members is not None:
            return {member.key: member.value.plain() for member in self.members}
        return [item.plain() for item in self.value] if isinstance(self.value, list) else self.value


def parse(text: str) -> Node | None:
    """None for a text of only white space and comments."""
    reader = _Reader(text)
    reader.skip()
    if reader.at == len(text):
        return None
    node = reader.value(0)
    reader.skip()
    if reader.at != len(text):
        raise reader.error("connect.json_trailing_text")
    return node


def skip_blank(text: str, position: int) -> int:
    """The first offset that is neither white space nor comment."""
    found = _BLANK.match(text, position)
    return found.end() if found else position


class _Reader:
    def __init__(self, text: str) -> None:
        self.text = text
        self.at = 1 if text.startswith("\ufeff") else 0

    def error(self, code: str, **params: Param) -> ConfigSyntaxError:
        return ConfigSyntaxError(Message(code, **params), self.text, self.at)

    def skip(self) -> None:
        self.at = skip_blank(self.text, self.at)
        if self.text.startswith("/*", self.at):
            raise self.error("connect.json_unterminated_comment")

    def peek(self) -> str:
        return self.text[self.at : self.at + 1]

    def value(self, depth: int) -> Node:
        if depth > MAX_DEPTH:
            raise self.error("connect.json_too_deep", limit=MAX_DEPTH)
        if self.peek() == "{":
            return self.object(depth)
        if self.peek() == "[":
            return self.list(depth)
        if self.peek() == '"':
            start, text = self.at, self.string()
            return Node(start, self.at, text)
        return self.scalar()

    def string(self) -> str:
        found = _STRING.match(self.text, self.at)
        if found is None:
            raise self.error("connect.json_unterminated_string")
        try:
            text: str = json.loads(found.group())
        except ValueError as error:
            raise self.error("connect.json_invalid_escape") from error
        self.at = found.end()
        return text

    def scalar(self) -> Node:
        found = _SCALAR.match(self.text, self.at)
        if found is None:
            if self.peek() in ("", ",", "}", "]"):
                raise self.error("connect.json_value_missing")
            raise self.error("connect.json_invalid_value")
        node = Node(self.at, found.end(), json.loads(found.group()))
        self.at = found.end()
        return node

    def list(self, depth: int) -> Node:
        start, items = self.at, list[Node]()
        self.at += 1
        self.skip()
        while self.peek() != "]":
            items.append(self.value(depth + 1))
            self._comma("]")
        self.at += 1
        return Node(start, self.at, items)

    def object(self, depth: int) -> Node:
        start, members = self.at, list[Member]()
        self.at += 1
        self.skip()
        while self.peek() != "}":
            members.append(self.member(depth))
            members[-1].comma = self._comma("}")
        self.at += 1
        return Node(start, self.at, members=members)

    def member(self, depth: int) -> Member:
        start = self.at
        if self.peek() != '"':
            raise self.error("connect.json_key_expected")
        key = self.string()
        self.skip()
        if self.peek() != ":":
            raise self.error("connect.json_colon_expected")
        self.at += 1
        self.skip()
        return Member(key, start, self.value(depth + 1))

    def _comma(self, end: str) -> int | None:
        self.skip()
        if self.peek() == end:
            return None
        if self.peek() != ",":
            raise self.error("connect.json_comma_expected", end=end)
        comma = self.at
        self.at += 1
        self.skip()
        return comma
