"""Server entries in a JSON file. A new entry becomes the first member, so one splice is enough."""

import json
from typing import Any

from chie.connect.errors import UnsupportedLayoutError
from chie.connect.format import Entries, Format
from chie.connect.jsonc import Member, Node, parse, skip_blank
from chie.connect.splices import Splice, indent_at, line_start, newline_of

DEFAULT_INDENT = "  "


class JsonFormat(Format):
    def parse(self, text: str) -> dict[str, Any]:
        node = parse(text)
        if node is None:
            return {}
        if node.members is None:
            raise UnsupportedLayoutError("connect.file_not_an_object")
        plain: dict[str, Any] = node.plain()
        return plain

    def put(self, text: str, key: str, name: str, entry: Entries) -> Splice:
        root = parse(text)
        style = _Style(text, root)
        if root is None:
            line_break = "" if not text.strip("\ufeff \t") or text.endswith("\n") else style.newline
            whole = line_break + style.dump({key: {name: entry}}, "") + style.newline
            return Splice(len(text), len(text), whole)
        if root.members is None:
            raise UnsupportedLayoutError("connect.file_not_an_object")
        servers = root.get(key)
        if servers is None:
            return style.insert(root, key, {name: entry})
        if servers.value.members is None:
            raise UnsupportedLayoutError("connect.key_not_an_object", key=key)
        old = servers.value.get(name)
        if old is None:
            return style.insert(servers.value, name, entry)
        return Splice(old.value.start, old.value.stop, style.dump(entry, indent_at(text, old.start)))

    def drop(self, text: str, key: str, name: str) -> list[Splice]:
        root = parse(text)
        servers = root.get(key) if root else None
        member = servers.value.get(name) if servers else None
        if servers is None or member is None:
            return []
        return _removal(text, servers.value.members or [], member)

    def clear(self, text: str, key: str) -> list[Splice]:
        root = parse(text)
        servers = root.get(key) if root else None
        return _removal(text, root.members or [], servers) if root and servers else []


class _Style:
    """The layout of the text: its line endings, its indentation, and whether it is a single line."""

    def __init__(self, text: str, root: Node | None) -> None:
        self.text = text
        self.newline = newline_of(text)
        first = root.members[0] if root and root.members else None
        self.flat = first is not None and "\n" not in text[root.start : root.stop]  # type: ignore[union-attr]
        self.unit = (indent_at(text, first.start) if first and self._starts_line(first) else "") or DEFAULT_INDENT

    def _starts_line(self, member: Member) -> bool:
        """Whether only white space precedes the member on its line."""
        return not self.text[line_start(self.text, member.start) : member.start].strip("\ufeff \t")

    def dump(self, value: object, indent: str) -> str:
        if self.flat:
            return json.dumps(value, ensure_ascii=False)
        text = json.dumps(value, ensure_ascii=False, indent=self.unit)
        return text.replace("\n", self.newline + indent)

    def insert(self, into: Node, name: str, value: object) -> Splice:
        members = into.members or []
        outer = indent_at(self.text, into.start)
        inner = (
            indent_at(self.text, members[0].start) if members and self._starts_line(members[0]) else outer + self.unit
        )
        member = f"{json.dumps(name, ensure_ascii=False)}: {self.dump(value, inner)}"
        comma = "," if members else ""
        line = self._next_line(into)
        if line is not None and not (members and members[0].start < line):
            return Splice(line, line, f"{inner}{member}{comma}{self.newline}")
        if members:
            space = " " if self.flat else self.newline + inner
            return Splice(members[0].start, members[0].start, f"{member}{comma}{space}")
        if self.flat:
            return Splice(into.stop - 1, into.stop - 1, member)
        return Splice(into.stop - 1, into.stop - 1, f"{self.newline}{inner}{member}{self.newline}{outer}")

    def _next_line(self, node: Node) -> int | None:
        """The start of the line after the opening brace, if only white space and comments are in between."""
        at, end = node.start + 1, skip_blank(self.text, node.start + 1)
        while at < end:
            if self.text[at] == "\n":
                return at + 1
            at = self._past_comment(at) if self.text[at] == "/" else at + 1
        return None

    def _past_comment(self, at: int) -> int:
        end = "\n" if self.text.startswith("//", at) else "*/"
        found = self.text.find(end, at + 2)
        return found if end == "\n" else found + 2


def _removal(text: str, members: list[Member], member: Member) -> list[Splice]:
    """The member, with its lines if nothing else is on them, and the comma that would be left over."""
    index = next(i for i, other in enumerate(members) if other is member)
    stop = member.value.stop if member.comma is None else member.comma + 1
    splices = []
    if member.comma is None and index > 0 and (before := members[index - 1].comma) is not None:
        splices.append(Splice(before, before + 1, ""))
    begin, end = line_start(text, member.start), _line_end(text, stop)
    if end is not None and not text[begin : member.start].strip(" \t"):
        return [*splices, Splice(begin, end, "")]
    if index + 1 < len(members) and "\n" not in text[stop : members[index + 1].start]:
        stop = skip_blank(text, stop) if "/" not in text[stop : members[index + 1].start] else stop
    return [*splices, Splice(member.start, stop, "")]


def _line_end(text: str, position: int) -> int | None:
    """The offset after the line break, if only white space is left on the line."""
    end = text.find("\n", position)
    return end + 1 if end >= 0 and not text[position:end].strip(" \t\r") else None
