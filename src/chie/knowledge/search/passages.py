"""Splits long notes into passages that follow the text: what is shown as a hit, and what is embedded and indexed."""

import re
from bisect import bisect_right
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from chie.knowledge.note import Note
from chie.knowledge.search.blocks import Block, Kind, blocks, fence_mark, opening_fence
from chie.knowledge.search.tokens import TOKENS_VERSION, tokens

# Stored with every note. Anyone who changes what `split` returns raises the first number, so that stores index their
# notes again in the background.
INDEX_VERSION = 1000 * 3 + TOKENS_VERSION

MAX_WHOLE_NOTE = 800  # characters; such a note is read at a glance, and shown whole
# Weights are about characters of Japanese, and twice as many Latin letters: see `Weights`.
MAX_SHOWN, MIN_SHOWN = 640.0, 320.0  # of a passage as it is shown; a smaller one joins its neighbour
MAX_UNIT, MIN_UNIT = 90.0, 40.0  # of what is embedded of a long note: one statement, which a question can match
MAX_WHOLE_UNIT, MIN_WHOLE_UNIT = 420.0, 90.0  # of what is embedded of a short note: as much as the default model reads
MAX_BLOCK = 900.0  # a longer code fence, list item or table row is cut between its lines

_SENTENCES = tuple(map(re.compile, (r"\n\s*\n", r"(?<=[。！？!?])\s*|(?<=\.)\s+", r"\n", r"[、，,;；\s]")))
_LIGHT = re.compile(r"(?:(?![\u2e80-\U0010ffff])[^\W_]|\s)+")
_LINES = (re.compile(r"\n"), *_SENTENCES)


@dataclass(frozen=True)
class Passage:
    """What is embedded and indexed (`text`), and the range of the note that is shown when it is found. `question` is
    the position of the note's question that the passage is."""

    start: int
    end: int
    text: str
    question: int | None = None


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
    """The note's passages: those of its text, in order, then its questions. What the former show covers the content
    without a gap or an overlap; several passages that are embedded apart may show the same."""
    beginning = shown(note)[0]
    questions = [Passage(*beginning, question, at) for at, question in enumerate(note.questions)]
    return [*_of_text(note), *questions]


def _of_text(note: Note) -> list[Passage]:
    text = note.content
    if len(text) <= MAX_WHOLE_NOTE:
        fits = len(text) <= MAX_WHOLE_UNIT or Weights(text).of(0, len(text)) <= MAX_WHOLE_UNIT
        units = [(0, len(text))] if fits else _spans(text, Size(MAX_WHOLE_UNIT, MIN_WHOLE_UNIT))
        return [Passage(0, len(text), _indexed_text(note, start, end)) for start, end in units]
    headings = Headings(text)
    return [
        Passage(start, end, _indexed_text(note, start + first, start + last, headings))
        for start, end in shown(note)
        for first, last in _spans(text[start:end], Size(MAX_UNIT, MIN_UNIT))
    ]


def index_tokens(note: Note, text: str) -> list[str]:
    """The tokens that a lexical index stores for a passage's text, duplicates and tags included."""
    return tokens(f"{text} {' '.join(note.tags)}")


def _indexed_text(note: Note, start: int, end: int, headings: "Headings | None" = None) -> str:
    """With the note's title and the headings above, which say what the passage is about."""
    above = (
        [note.content[block.start : block.end].strip(" #=-\n") for block in headings.above(start)] if headings else []
    )
    text = note.content[start:end]
    if start > 0 or not note.content.startswith(note.title):
        above.insert(0, note.title)
    return "\n".join([*dict.fromkeys(filter(None, above)), text])


class Headings:
    """The headings of a text, and for each of them those of the sections in which it is."""

    def __init__(self, text: str) -> None:
        self._starts: list[int] = []
        self._paths: list[list[Block]] = []
        path: list[Block] = []
        for block in blocks(text):
            if block.kind is Kind.HEADING:
                path = [above for above in path if above.level < block.level] + [block]
                self._starts.append(block.start)
                self._paths.append(path)

    def above(self, start: int) -> list[Block]:
        """The headings of the sections in which a passage starts."""
        position = bisect_right(self._starts, start) - 1
        path = self._paths[position] if position >= 0 else []
        return path[:-1] if path and path[-1].start == start else path


class Weights:
    """How much the ranges of a text say. Japanese says as much in one character as English in two letters, and takes
    as many tokens for it."""

    def __init__(self, text: str) -> None:
        self._text = text
        self._sums = [0]  # up to each position, in halves
        end = 0
        for light in _LIGHT.finditer(text):
            self._extend(light.start() - end, 2)
            self._extend(light.end() - light.start(), 1)
            end = light.end()
        self._extend(len(text) - end, 2)

    def _extend(self, count: int, each: int) -> None:
        start = self._sums[-1] + each
        self._sums.extend(range(start, start + count * each, each))

    def of(self, start: int, end: int) -> float:
        """Without white space at both ends."""
        text = self._text[start:end]
        start += len(text) - len(text.lstrip())
        return (self._sums[start + len(text.strip())] - self._sums[start]) / 2

    def reach(self, start: int, end: int, most: float) -> int:
        """The end of the longest range that weighs no more; it has one character at least."""
        reached = bisect_right(self._sums, self._sums[start] + 2 * most, start + 1, end + 1) - 1
        return min(max(reached, start + 1), end)


def _spans(text: str, size: Size) -> list[tuple[int, int]]:
    weights = Weights(text)
    spans: list[tuple[int, int]] = []
    for start, end in _packed(weights, list(_pieces(text, weights, size)), size):
        if spans and min(weights.of(start, end), weights.of(*spans[-1])) < size.least:
            spans[-1] = (spans[-1][0], end)
        else:
            spans.append((start, end))
    return spans


def _packed(weights: Weights, pieces: Sequence[Block], size: Size) -> Iterator[tuple[int, int]]:
    """As many pieces as fit. A heading opens a new span unless the one before is small, and stays with its text."""
    start = end = 0
    filled = 0.0
    heading: int | None = None  # where the headings start that no text has followed yet
    for piece in pieces:
        own = weights.of(piece.start, piece.end)
        opens = piece.kind is Kind.HEADING and heading is None and filled >= size.least
        full = piece.kind is not Kind.HEADING and filled + own > size.most
        cut = end if opens or heading is None else heading
        if (opens or full) and cut > start:
            yield start, cut
            start, filled = cut, weights.of(cut, piece.start)
        heading = (piece.start if heading is None else heading) if piece.kind is Kind.HEADING else None
        end, filled = piece.end, filled + own
    if end > start:
        yield start, end


def _pieces(text: str, weights: Weights, size: Size) -> Iterator[Block]:
    """Blocks, with those cut that are too long to be one."""
    for block in blocks(text):
        whole = block.kind in (Kind.FENCE, Kind.ITEM, Kind.ROW)
        limit = MAX_BLOCK if whole else size.most
        breaks = _LINES if whole else _SENTENCES
        start = block.start
        while (reach := weights.reach(start, block.end, limit)) < block.end:
            stop = _break(text, start, reach, breaks)
            yield Block(block.kind, start, stop, block.level)
            start = stop
        yield Block(block.kind, start, block.end, block.level)


def _break(text: str, start: int, reach: int, breaks: Sequence[re.Pattern[str]]) -> int:
    """The last end of a line, sentence or word in the second half of the reach."""
    middle = (start + reach) // 2
    for pattern in breaks:
        ends = [match.end() for match in pattern.finditer(text, middle, reach)]
        if ends and ends[-1] > start:
            return ends[-1]
    return reach
