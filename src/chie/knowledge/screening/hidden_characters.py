"""Characters that a reader does not see but a model reads, or that make a line read differently from its bytes."""

import re
from collections.abc import Iterator

_TAGS = re.compile("[\U000e0000-\U000e007f]+")
_FLAG = "\U0001f3f4"  # a black flag, which tag characters make the flag of a region
_SELECTORS = re.compile("[\ufe00-\ufe0f\U000e0100-\U000e01ef]{2,}")
_IDEOGRAPHIC_SELECTOR = re.compile("(?<![\u3400-\u9fff\uf900-\ufaff\U00020000-\U0003ffff])[\U000e0100-\U000e01ef]")
_OVERRIDES = re.compile("[\u202d\u202e]")
_EMBEDDINGS = re.compile("[\u202a\u202b\u2066\u2067]")
_RIGHT_TO_LEFT = re.compile("[\u0590-\u08ff\ufb1d-\ufdff\ufe70-\ufeff]")
_ZERO_WIDTH_RUN = re.compile("[\u200b-\u200d\u2060-\u2064\u180e\ufeff\u3164\uffa0]{3,}")
_ZERO_WIDTH_IN_WORD = re.compile("(?<=[A-Za-z])[\u200b-\u200d\u2060-\u2064\u180e\ufeff]+(?=[A-Za-z])")
INVISIBLE = re.compile(
    "[\u00ad\u034f\u180e\u200b-\u200f\u202a-\u202e\u2060-\u2069\ufe00-\ufe0f\ufeff\u3164\uffa0\U000e0000-\U000e01ef]"
)


def hidden_characters(text: str) -> Iterator[int]:
    """The positions where hidden characters begin that ordinary writing does not need. Emoji, the scripts that are
    written from right to left and variants of kanji need some of them."""
    if text.isascii() or not INVISIBLE.search(text):
        return
    for found in _TAGS.finditer(text):
        if text[found.start() - 1 : found.start()] != _FLAG:
            yield found.start()
    for pattern in (_SELECTORS, _IDEOGRAPHIC_SELECTOR, _OVERRIDES, _ZERO_WIDTH_RUN, _ZERO_WIDTH_IN_WORD):
        yield from (found.start() for found in pattern.finditer(text))
    for found in _EMBEDDINGS.finditer(text):
        around = text[max(0, found.start() - 200) : found.end() + 200]
        if not _RIGHT_TO_LEFT.search(around.replace("\ufeff", "")):
            yield found.start()
