"""Splits long notes into overlapping passages that fit into the context of an embedding model."""

import re
from collections.abc import Iterator
from dataclasses import dataclass

from chie.knowledge.note import Note
from chie.knowledge.tokens import tokens

# The default model accepts 256 tokens and was trained on half of that: about 260 kana and kanji, or 500 Latin letters.
MAX_PASSAGE_WEIGHT = 260.0
OVERLAP_WEIGHT = 40.0

_BREAKS = tuple(map(re.compile, (r"\n\s*\n", r"\n", r"(?<=[。！？!?])|(?<=\.)\s", r"[、，,;；\s]")))


@dataclass(frozen=True)
class Passage:
    start: int
    end: int
    text: str


def split(note: Note) -> list[Passage]:
    """The note's passages in order. Together they cover the content without a gap."""
    return [Passage(start, end, note.content[start:end]) for start, end in _spans(note.content)]


def indexed_text(note: Note, passage: Passage) -> str:
    """The text that is embedded and indexed for a passage, which includes the note's title."""
    if note.content.startswith(note.title):
        return passage.text if passage.start == 0 else f"{note.title}\n{passage.text}"
    return f"{note.title}\n{passage.text}"


def index_tokens(note: Note, text: str) -> list[str]:
    """The tokens that a lexical index stores for a passage's `indexed_text`, duplicates and tags included."""
    return tokens(f"{text} {' '.join(note.tags)}")


def _spans(text: str) -> Iterator[tuple[int, int]]:
    start = 0
    while True:
        reach = _reach(text, start, MAX_PASSAGE_WEIGHT)
        if reach == len(text):
            yield start, reach
            return
        end = _break(text, start, reach)
        yield start, end
        start = max(_back(text, end, OVERLAP_WEIGHT), start + 1)


def _weight(character: str) -> float:
    """An estimate of tokens per character, doubled: letters share tokens, punctuation and kanji do not."""
    return 0.5 if character < "\u2e80" and (character.isalnum() or character.isspace()) else 1.0


def _reach(text: str, start: int, budget: float) -> int:
    for position in range(start, len(text)):
        budget -= _weight(text[position])
        if budget < 0:
            return position
    return len(text)


def _back(text: str, end: int, budget: float) -> int:
    """Step back from `end` by about `budget`, then forward to the start of a sentence or word."""
    position = end
    while position > 0 and budget > 0:
        position -= 1
        budget -= _weight(text[position])
    for pattern in _BREAKS[1:]:
        if match := pattern.search(text, position, end):
            return match.end()
    return position


def _break(text: str, start: int, reach: int) -> int:
    """The last end of a paragraph, line, sentence or word in the second half of the reach."""
    middle = (start + reach) // 2
    for pattern in _BREAKS:
        ends = [match.end() for match in pattern.finditer(text, middle, reach)]
        if ends:
            return ends[-1]
    return reach
