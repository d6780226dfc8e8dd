"""The blocks of a Markdown text: what a reader takes as one piece, and a cut should leave whole.

A scan of lines, not a parser: it only has to tell where a text may be cut, for any text, in linear time.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from enum import Enum, auto

_FENCE = re.compile(r"[ \t]*+(?:(?:[-*+]|\d+[.)]) [ \t]*+)?(?P<mark>`{3,}|~{3,})(?P<info>.*)")
_HEADING = re.compile(r" {0,3}(?P<marks>#{1,6})(?:[ \t]|$)")
_UNDERLINE = re.compile(r" {0,3}(?:=+|-+)[ \t]*$")
_ITEM = re.compile(r"(?P<indent>[ \t]*)(?:[-*+]|\d{1,9}[.)])(?:[ \t]|$)")
_ROW = re.compile(r"[ \t]*\|")
_SEPARATOR_ROW = re.compile(r"[ \t:|]*+-[ \t:|-]*+$")


class Kind(Enum):
    HEADING = auto()
    FENCE = auto()
    ITEM = auto()
    ROW = auto()
    PARAGRAPH = auto()


@dataclass
class Block:
    """A range of the text, with the blank lines that follow. `level` is a heading's level, or an item's indentation."""

    kind: Kind
    start: int
    end: int
    level: int = 0


def blocks(text: str) -> list[Block]:
    """In order, covering the text without a gap."""
    found: list[Block] = []
    for block in _scan(text):
        if found and _continues(found[-1], block):
            found[-1].end = block.end
        else:
            found.append(block)
    if found:
        found[0].start = 0
    return found


def opening_fence(text: str, end: int) -> str | None:
    """The line that opened the code fence in which `end` lies; None outside of one."""
    if "```" not in text and "~~~" not in text:  # nearly all passages
        return None
    mark = line = ""
    for found in re.finditer(r"[^\n]*\n?", text[:end]):
        if fence := _FENCE.match(found.group()):
            if not mark:
                mark, line = fence["mark"], found.group().strip()
            elif _closes(fence, mark):
                mark = ""
    return line if mark else None


def fence_mark(line: str) -> str:
    """What closes the code fence that a line opens."""
    fence = _FENCE.match(line)
    return fence["mark"] if fence else ""


def _scan(text: str) -> Iterator[Block]:
    """Merges lines into blocks; blank lines belong to the block before them."""
    block: Block | None = None
    mark = ""
    blank = False
    for found in re.finditer(r"[^\n]*\n|[^\n]+$", text):
        line = found.group()
        fence = _FENCE.match(line)
        if mark:
            mark = "" if fence and _closes(fence, mark) else mark
            blank = False
        elif not line.strip():
            blank = True
        elif fence and _opens(fence):
            if block:
                yield block
            mark, blank = fence["mark"], False
            block = Block(Kind.FENCE, found.start(), found.end(), _indent(line))
        else:
            new = _block(line, found.start())
            if block and not _is_continued(block, new, line, blank=blank):
                yield block
                block = None
            if block and _UNDERLINE.match(line) and block.kind is Kind.PARAGRAPH and not blank:
                block.kind, block.level = Kind.HEADING, 1 if "=" in line else 2
            block, blank = block or new, False
        if block:
            block.end = found.end()
    if block:
        yield block


def _block(line: str, start: int) -> Block:
    if heading := _HEADING.match(line):
        return Block(Kind.HEADING, start, start, len(heading["marks"]))
    if item := _ITEM.match(line):
        return Block(Kind.ITEM, start, start, len(item["indent"].expandtabs(4)))
    if _ROW.match(line):
        return Block(Kind.ROW, start, start)
    return Block(Kind.PARAGRAPH, start, start, _indent(line))


def _is_continued(block: Block, new: Block, line: str, *, blank: bool) -> bool:
    """Whether the line belongs to the block: a paragraph's or an item's next line, or text indented under an item."""
    if block.kind is Kind.ROW and _SEPARATOR_ROW.match(line):
        return True
    if new.kind is not Kind.PARAGRAPH or block.kind in (Kind.HEADING, Kind.FENCE):
        return False
    if block.kind is Kind.ITEM and blank:
        return new.level > block.level
    if block.kind is Kind.ROW:
        return not blank and "|" in line
    return not blank


def _continues(before: Block, block: Block) -> bool:
    """A code fence or a nested item under an item."""
    return before.kind is Kind.ITEM and block.kind in (Kind.FENCE, Kind.ITEM) and block.level > before.level


def _opens(fence: re.Match[str]) -> bool:
    return not (fence["mark"].startswith("`") and "`" in fence["info"])


def _closes(fence: re.Match[str], mark: str) -> bool:
    return fence["mark"].startswith(mark) and not fence["info"].strip()


def _indent(line: str) -> int:
    expanded = line.expandtabs(4)
    return len(expanded) - len(expanded.lstrip(" "))
