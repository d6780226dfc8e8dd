"""Splits long notes into passages that follow the text: what is shown as a hit, and what is embedded and indexed."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from chie.knowledge.blocks import Block, Kind, blocks, fence_mark, opening_fence
from chie.knowledge.note import Note
from chie.knowledge.tokens import TOKENS_VERSION, tokens

# Stored with every note. Anyone who changes what `split` returns raises the first number, so that stores index their
# notes again in the background.
INDEX_VERSION = 1000 * 3 + TOKENS_VERSION

MAX_WHOLE_NOTE = 800  # characters; such a note is read at a glance, and shown whole
# Weights are about characters of Japanese, and twice as many Latin letters: see `weight`.
MAX_SHOWN, MIN_SHOWN = 640.0, 320.0  # of a passage as it is shown; a smaller one joins its neighbour
MAX_UNIT, MIN_UNIT = 90.0, 40.0  # of what is embedded of a long note: one statement, which a question can match
MAX_WHOLE_UNIT, MIN_WHOLE_UNIT = 420.0, 90.0  # of what is embedded of a short note: as much as the default model reads
MAX_BLOCK = 900.0  # a longer code fence, list item or table row is cut between its lines

_SENTENCES = tuple(map(re.compile, (r"\n\s*\n", r"(?<=[。！？!?])\s*|(?<=\.)\s+", r"\n", r"[、，,;；\s]")))
_LIGHT = re.compile(r"(?:(?![\u2e80-\U0010ffff])[^\W_]|\s)+")
_LINES = (re.compile(r"\n"), *_SENTENCES)


@dataclass(frozen=True)
class Passage:
    """What is embedded and indexed (`text`), and the range of the note that is shown when it is found."""

    start: int
    end: int
    text: str


@dataclass(frozen=True)
class Size:
    most: float
    least: float


def shown(note: Note) -> list[tuple[int, int]]:
    """The ranges of the content that a hit can show, in order, without a gap or an overlap."""
    text = note.content
    return [(0, len(text))] if len(text) <= MAX_WHOLE_NOTE else _spans(text, Size(MAX_SHOWN, MIN_SHOWN))


def excerpt(content: str, start: int, end: int) -> str:
    """What a hit shows of the content. A code fence that was too long to be left whole is opened and closed again."""
    text = content[start:end].strip("\n").rstrip()
    opened = opening_fence(content, start)
    if opened:
        text = f"{opened}\n{text}"
    return f"{text}\n{fence_mark(opening)}" if (opening := opening_fence(text, len(text))) else text.strip()


def split(note: Note) -> list[Passage]:
    """The note's passages in order. What they show covers the content without a gap or an overlap; several passages
    that are embedded apart may show the same."""
    text = note.content
    if len(text) <= MAX_WHOLE_NOTE:
        fits = weight(text) <= MAX_WHOLE_UNIT
        units = [(0, len(text))] if fits else _spans(text, Size(MAX_WHOLE_UNIT, MIN_WHOLE_UNIT))
        return [Passage(0, len(text), _indexed_text(note, start, end, ())) for start, end in units]
    headings = [block for block in blocks(text) if block.kind is Kind.HEADING]
    return [
        Passage(start, end, _indexed_text(note, start + first, start + last, headings))
        for start, end in shown(note)
        for first, last in _spans(text[start:end], Size(MAX_UNIT, MIN_UNIT))
    ]


def index_tokens(note: Note, text: str) -> list[str]:
    """The tokens that a lexical index stores for a passage's text, duplicates and tags included."""
    return tokens(f"{text} {' '.join(note.tags)}")


def _indexed_text(note: Note, start: int, end: int, headings: Sequence[Block]) -> str:
    """With the note's title and the headings above, which say what the passage is about."""
    above = [note.content[block.start : block.end].strip(" #=-\n") for block in _above(headings, start)]
    text = note.content[start:end]
    if start > 0 or not note.content.startswith(note.title):
        above.insert(0, note.title)
    return "\n".join([*dict.fromkeys(filter(None, above)), text])


def _above(headings: Sequence[Block], start: int) -> list[Block]:
    """The headings of the sections in which a passage starts."""
    path: list[Block] = []
    for heading in headings:
        if heading.start > start:
            break
        path = [one for one in path if one.level < heading.level] + [heading]
    return [heading for heading in path if heading.start < start]


def _spans(text: str, size: Size) -> list[tuple[int, int]]:
    spans: list[tuple[int, int]] = []
    for start, end in _packed(text, list(_pieces(text, size)), size):
        if spans and min(weight(text[start:end]), weight(text[slice(*spans[-1])])) < size.least:
            spans[-1] = (spans[-1][0], end)
        else:
            spans.append((start, end))
    return spans


def _packed(text: str, pieces: Sequence[Block], size: Size) -> Iterator[tuple[int, int]]:
    """As many pieces as fit. A heading opens a new span unless the one before is small, and stays with its text."""
    start = end = 0
    filled = 0.0
    heading: int | None = None  # where the headings start that no text has followed yet
    for piece in pieces:
        own = weight(text[piece.start : piece.end])
        opens = piece.kind is Kind.HEADING and heading is None and filled >= size.least
        full = piece.kind is not Kind.HEADING and filled + own > size.most
        cut = end if opens or heading is None else heading
        if (opens or full) and cut > start:
            yield start, cut
            start, filled = cut, weight(text[cut : piece.start])
        heading = (piece.start if heading is None else heading) if piece.kind is Kind.HEADING else None
        end, filled = piece.end, filled + own
    if end > start:
        yield start, end


def _pieces(text: str, size: Size) -> Iterator[Block]:
    """Blocks, with those cut that are too long to be one."""
    for block in blocks(text):
        whole = block.kind in (Kind.FENCE, Kind.ITEM, Kind.ROW)
        limit = MAX_BLOCK if whole else size.most
        for start, end in _cut(text, block.start, block.end, limit, _LINES if whole else _SENTENCES):
            yield Block(block.kind, start, end, block.level)


def _cut(text: str, start: int, end: int, limit: float, breaks: Sequence[re.Pattern[str]]) -> Iterator[tuple[int, int]]:
    while (reach := _reach(text, start, end, limit)) < end:
        stop = _break(text, start, reach, breaks)
        yield start, stop
        start = stop
    yield start, end


def _reach(text: str, start: int, end: int, budget: float) -> int:
    for position in range(start, end):
        budget -= _weight(text[position])
        if budget < 0:
            return max(position, start + 1)
    return end


def _break(text: str, start: int, reach: int, breaks: Sequence[re.Pattern[str]]) -> int:
    """The last end of a line, sentence or word in the second half of the reach."""
    middle = (start + reach) // 2
    for pattern in breaks:
        ends = [match.end() for match in pattern.finditer(text, middle, reach)]
        if ends and ends[-1] > start:
            return ends[-1]
    return reach


def weight(text: str) -> float:
    """Japanese says as much in one character as English in two letters, and takes as many tokens for it."""
    heavy = len(_LIGHT.sub("", text.strip()))
    return heavy + (len(text.strip()) - heavy) / 2


def _weight(character: str) -> float:
    return 0.5 if _LIGHT.match(character) else 1.0
