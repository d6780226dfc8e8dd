"""Where in a text the words of a query stand, so that a reader's eye finds them."""

import re
import unicodedata
from collections.abc import Iterator, Sequence

from chie.knowledge.tokens import fold, query_tokens

Ranges = list[tuple[int, int]]

_LATIN = re.compile(r"[^\W_]+", re.ASCII)


def highlight(query: str, text: str) -> Ranges:
    """Half-open ranges of characters, in order and apart. Where the whole query stands, its words do not count."""
    folded, origins = _folded(text)
    whole = list(_occurrences(fold(query), folded))
    spans = whole or [span for token in query_tokens(query) for span in _occurrences(token, folded)]
    return _merged([(origins[start], origins[end - 1] + 1) for start, end in spans])


def _folded(text: str) -> tuple[str, list[int]]:
    """The text as it is compared, and for each of its characters the one it came from."""
    pieces: list[str] = []
    origins: list[int] = []
    for position, character in enumerate(text):
        piece = " " if character.isspace() else unicodedata.normalize("NFKC", character).casefold()
        pieces.append(piece)
        origins.extend([position] * len(piece))
    return "".join(pieces), origins


def _occurrences(token: str, folded: str) -> Iterator[tuple[int, int]]:
    """A stem of Latin letters counts where a word begins with it, and then the whole word does."""
    if not token:
        return
    pattern = re.escape(token)
    if _LATIN.fullmatch(token):
        pattern = rf"(?<![^\W_]){pattern}[a-z]{{0,6}}" if len(token) > 1 else rf"\b{pattern}\b"
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
