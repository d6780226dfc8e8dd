"""Long notes are cut into overlapping passages, each short enough for an embedding model to read whole."""

import re
from collections.abc import Iterator
from dataclasses import dataclass

from chie.knowledge.note import Note
from chie.knowledge.tokens import tokens

# The default model reads 256 tokens and was trained on half of that: about 260 kana and kanji, or 500 Latin letters.
BUDGET = 260.0
OVERLAP = 40.0

_BREAKS = tuple(map(re.compile, (r"\n\s*\n", r"\n", r"(?<=[。！？!?])|(?<=\.)\s", r"[、，,;；\s]")))


@dataclass(frozen=True)
class Passage:
    start: int
    end: int
    text: str


def split(note: Note) -> list[Passage]:
    """The note's passages, in order; together they cover the content without a gap."""
    return [Passage(start, end, note.content[start:end]) for start, end in _spans(note.content)]


def reading(note: Note, passage: Passage) -> str:
    """What a model or an index reads for a passage: it knows the note's title too."""
    if note.content.startswith(note.title):
        return passage.text if passage.start == 0 else f"{note.title}\n{passage.text}"
    return f"{note.title}\n{passage.text}"


def words_of(note: Note, reading: str) -> list[str]:
    """What a lexical index holds for a passage: its words as often as they stand there, and the note's tags."""
    return tokens(f"{reading} {' '.join(note.tags)}")


def _spans(text: str) -> Iterator[tuple[int, int]]:
    start = 0
    while True:
        reach = _reach(text, start, BUDGET)
        if reach == len(text):
            yield start, reach
            return
        end = _break(text, start, reach)
        yield start, end
        start = max(_back(text, end, OVERLAP), start + 1)


def _weight(character: str) -> float:
    """About the tokens a character costs, doubled: letters share theirs, punctuation and kanji have their own."""
    return 0.5 if character < "\u2e80" and (character.isalnum() or character.isspace()) else 1.0


def _reach(text: str, start: int, budget: float) -> int:
    for position in range(start, len(text)):
        budget -= _weight(text[position])
        if budget < 0:
            return position
    return len(text)


def _back(text: str, end: int, budget: float) -> int:
    """Step back from `end` by about `budget`, then forward to where a word or sentence begins."""
    position = end
    while position > 0 and budget > 0:
        position -= 1
        budget -= _weight(text[position])
    for pattern in _BREAKS[1:]:
        if match := pattern.search(text, position, end):
            return match.end()
    return position


def _break(text: str, start: int, reach: int) -> int:
    """The last good place to stop in the second half of the reach: paragraph, line, sentence, word."""
    middle = (start + reach) // 2
    for pattern in _BREAKS:
        ends = [match.end() for match in pattern.finditer(text, middle, reach)]
        if ends:
            return ends[-1]
    return reach
