"""The passage of a message that a search found, with the matches marked."""

import re
import unicodedata
from collections.abc import Iterator, Sequence
from functools import lru_cache

from chie.chat.sessions.entities import Passage, Role
from chie.unicode import fold

LENGTH = 160
BEFORE = 40  # characters before the first match

# No character of this class combines with the one before it, so a text can be cut in front of them and folded in parts.
_STRETCH = re.compile(r".{500}.*?(?=[\x00-\x7f\u3041-\u3096\u30a1-\u30fa\u4e00-\u9fff])|.+", re.DOTALL)
_MARKUP = re.compile(r"\*\*|~~|`+|^ *(?:#{1,6}|>|[-*+]) +|\|", re.MULTILINE)
_JAMO = re.compile(r"[\u1160-\u11ff\ud7b0-\ud7ff\uffa0-\uffdc]")  # Korean letters that make a syllable together

Ranges = list[tuple[int, int]]


def passage_of(message_id: str, role: Role, content: str, query: str, *, more: int = 0) -> Passage:
    """The text around the first match, on one line. A message that does not contain the query gives its beginning."""
    needle = fold(query)
    start = max(0, _first_match(content, needle) - BEFORE)
    window = content[start : start + 2 * LENGTH + len(query)]
    text, ranges = _one_line(window, _matches(window, needle))
    cut = max([LENGTH, *(end for _, end in ranges[:1])])
    lead = "…" if start else ""
    tail = "…" if cut < len(text) or start + len(window) < len(content) else ""
    shown = [(first + len(lead), end + len(lead)) for first, end in ranges if end <= cut]
    return Passage(message_id=message_id, role=role, text=f"{lead}{text[:cut]}{tail}", ranges=shown, more=more)


def _first_match(content: str, needle: str) -> int:
    """The position in `content`, 0 without a match. Folding changes lengths, so it is counted part by part."""
    at = fold(content).find(needle)
    passed = 0
    for stretch in _STRETCH.finditer(content):
        length = len(fold(stretch.group()))
        if at < passed + length:
            _, starts, _ = _folded(stretch.group())
            return stretch.start() + starts[max(0, at - passed)]
        passed += length
    return 0


def _matches(text: str, needle: str) -> Ranges:
    folded, starts, ends = _folded(text)
    found = re.finditer(re.escape(needle), folded)
    return [(starts[match.start()], ends[match.end() - 1]) for match in found]


def _folded(text: str) -> tuple[str, Sequence[int], Sequence[int]]:
    """The folded text, and the start and end in `text` of each of its characters."""
    whole = fold(text)
    if len(whole) == len(text) and not any(map(_combines, set(text))):  # then no character has become two either
        return whole, range(len(text)), range(1, len(text) + 1)
    pieces: list[str] = []
    starts: list[int] = []
    ends: list[int] = []
    for start, end in _letters(text):
        piece = fold(text[start:end])
        pieces.append(piece)
        starts += [start] * len(piece)
        ends += [end] * len(piece)
    return "".join(pieces), starts, ends


def _letters(text: str) -> Iterator[tuple[int, int]]:
    """Ranges of characters that are folded together: `ﾃﾞ` and a decomposed `デ` are two characters and one letter."""
    start = 0
    for position in range(1, len(text) + 1):
        if position == len(text) or not _combines(text[position]):
            yield start, position
            start = position


@lru_cache(maxsize=4096)
def _combines(character: str) -> bool:
    if character.isascii():
        return False
    return unicodedata.category(unicodedata.normalize("NFKC", character)[0])[0] == "M" or bool(_JAMO.match(character))


def _one_line(text: str, ranges: Sequence[tuple[int, int]]) -> tuple[str, Ranges]:
    """Without marks of Markdown outside of the matches, and with one space for any white space."""
    inside = {at for span in ranges for at in range(*span)}
    dropped = {at for mark in _MARKUP.finditer(text) for at in range(*mark.span())} - inside
    positions: list[int] = []
    line = ""
    for at, letter in enumerate(text):
        positions.append(len(line))
        if at in dropped or (letter.isspace() and (not line or line[-1] == " ")):
            continue
        line += " " if letter.isspace() else letter
    positions.append(len(line))
    return line, [(positions[first], positions[end]) for first, end in ranges if positions[first] < positions[end]]
