"""Unicode normalisation in linear time.

Normalising sorts the combining marks of a letter, and Python does so in quadratic time while holding the GIL. No
language has more than a few marks on a letter; Unicode's stream-safe limit is 30 (UAX #15, section 13).
"""

import re
from functools import lru_cache
from itertools import groupby, islice
from typing import Any, Literal
from unicodedata import combining, normalize

MAX_MARKS = 30

# Matches all marks, and more. The two marks of half-width katakana are letters until they are normalised.
_MARK_RUN = re.compile(rf"(?:[^\w\s\x00-\x7f]|[\uff9e\uff9f]){{{MAX_MARKS + 1},}}")


def normal(text: str, form: Literal["NFC", "NFD", "NFKC", "NFKD"] = "NFKC") -> str:
    """As `unicodedata.normalize`, but keeps only the first 30 of a run of marks."""
    return text if text.isascii() else normalize(form, _MARK_RUN.sub(lambda found: _truncate(found.group()), text))


def fold(text: str) -> str:
    """Makes full-width and half-width, upper and lower case equal, for searching."""
    return normal(text).casefold()


def clean(text: str) -> str:
    """Replace NUL and lone surrogates, which models and programs do send and neither a database nor UTF-8 accepts."""
    if "\x00" in text:
        text = text.replace("\x00", "\ufffd")
    if not text.isascii():
        return text.encode("utf-8", "replace").decode("utf-8")
    return text


def clean_json(value: Any) -> Any:  # noqa: ANN401 - JSON
    """As `clean`, for all texts in a JSON value."""
    if isinstance(value, str):
        return clean(value)
    if isinstance(value, list):
        return [clean_json(item) for item in value]
    if isinstance(value, dict):
        return {clean(key): clean_json(item) for key, item in value.items()}
    return value


def one_line(text: str) -> str:
    """On one line and without what is not printed, for texts that are read line by line."""
    return " ".join("".join(letter if letter.isprintable() else " " for letter in text).split())


def _truncate(marks: str) -> str:
    runs = (islice(run, MAX_MARKS) if are_marks else run for are_marks, run in groupby(marks, _is_mark))
    return "".join(letter for run in runs for letter in run)


@lru_cache(maxsize=4096)
def _is_mark(letter: str) -> bool:
    return combining(normalize("NFKD", letter)[0]) != 0
