"""Ranges of a text that match a query, for highlighting."""

import re
import unicodedata
from collections.abc import Iterator, Sequence

from chie.knowledge.search.tokens import LETTER, fold, one_spelling, query_tokens

Ranges = list[tuple[int, int]]

_LATIN = re.compile(r"[^\W_]+", re.ASCII)


def highlight(query: str, text: str) -> Ranges:
    """Half-open, sorted, disjoint ranges of characters. If the whole query occurs, single words are not marked."""
    folded, starts, ends = _folded(text)
    whole = list(_occurrences(one_spelling(fold(query)), folded))
    spans = whole or [span for token in query_tokens(query) for span in _occurrences(token, folded)]
    return _merged([(starts[start], ends[end - 1]) for start, end in spans])


def _folded(text: str) -> tuple[str, list[int], list[int]]:
    """The folded text, and the start and end in the original of each folded character."""
    pieces: list[str] = []
    starts: list[int] = []
    ends: list[int] = []
    for start, end in _letters(text):
        letter = text[start:end]
        piece = " " if letter.isspace() else one_spelling(unicodedata.normalize("NFKC", letter).casefold())
        if not piece and ends:  # a long vowel belongs to the letter before it
            ends[-1] = end
        pieces.append(piece)
        starts.extend([start] * len(piece))
        ends.extend([end] * len(piece))
    return "".join(pieces), starts, ends


def _letters(text: str) -> Iterator[tuple[int, int]]:
    """Ranges of characters with their combining marks: `ﾃﾞ` and a decomposed `デ` are two characters and one letter."""
    start = 0
    for position in range(1, len(text) + 1):
        if position == len(text) or not _is_mark(text[position]):
            yield start, position
            start = position


def _is_mark(character: str) -> bool:
    return character > "\x7f" and unicodedata.combining(unicodedata.normalize("NFKC", character)[0]) > 0


def _occurrences(token: str, folded: str) -> Iterator[tuple[int, int]]:
    """A stem of Latin letters matches at the start of a word, and marks the whole word."""
    if not token:
        return
    pattern = re.escape(token)
    if _LATIN.fullmatch(token):
        pattern = rf"(?<!{LETTER}){pattern}" + ("[a-z]{0,6}" if len(token) > 1 else rf"(?!{LETTER})")
    for match in re.finditer(pattern, folded):
        yield match.span()


def _merged(spans: Sequence[tuple[int, int]]) -> Ranges:
    merged: Ranges = []
    for start, end in sorted(spans):
        if merged and start <= merged[-1][1]:
            merged[-1] = (merged[-1][0], max(end, merged[-1][1]))
        else:
            merged.append((start, end))
    return merged
