"""One spelling for what people write in many: Unicode's normal forms, in a time that grows with the text alone.

Normalising sorts the marks on a letter, and Python's sorting of a long heap of them takes the square of its height,
while nothing else in the process runs. No language has more than a few; Unicode's own limit is 30 (UAX #15, 13).
"""

import re
from functools import lru_cache
from itertools import groupby, islice
from typing import Literal
from unicodedata import combining, normalize

MOST_MARKS = 30

# All marks are in here, and more. The two of half-width katakana count as letters until they are normalised.
_HEAP = re.compile(rf"(?:[^\w\s\x00-\x7f]|[\uff9e\uff9f]){{{MOST_MARKS + 1},}}")


def normal(text: str, form: Literal["NFC", "NFD", "NFKC", "NFKD"] = "NFKC") -> str:
    """As `unicodedata.normalize`; of more marks in a row than anybody writes, the first ones stay."""
    return text if text.isascii() else normalize(form, _HEAP.sub(lambda found: _cut(found.group()), text))


def fold(text: str) -> str:
    """Full-width and half-width, upper and lower case become one, as people expect of a search."""
    return normal(text).casefold()


def _cut(heap: str) -> str:
    runs = (islice(run, MOST_MARKS) if marks else run for marks, run in groupby(heap, _is_mark))
    return "".join(letter for run in runs for letter in run)


@lru_cache(maxsize=4096)
def _is_mark(letter: str) -> bool:
    return combining(normalize("NFKD", letter)[0]) != 0
