"""Cases of an evaluation: what was searched for, and the note that answers it, or that no note does."""

import json
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

from chie.errors import ValidationError
from chie.knowledge.records import RecordedSearch


@dataclass(frozen=True)
class Case:
    """`note` is an id, None if no note answers."""

    query: str
    note: str | None


def recorded_cases(searches: Iterable[RecordedSearch]) -> list[Case]:
    return [Case(search.query, search.note) for search in searches]


def read_cases(file: Path) -> list[Case]:
    """One JSON object per line: `{"query": "…", "note": "k-…"}`, or null instead of an id."""
    try:
        text = file.read_text("utf-8-sig")
    except (OSError, UnicodeDecodeError) as error:
        reason = getattr(error, "strerror", None) or type(error).__name__
        raise ValidationError("knowledge.eval_file_unreadable", file=str(file), reason=reason) from error
    return list(_cases(text, file))


def _cases(text: str, file: Path) -> Iterator[Case]:
    for number, line in enumerate(text.splitlines(), start=1):
        if not line.strip():
            continue
        try:
            row = json.loads(line)
            query, note = row["query"], row["note"]
        except (ValueError, RecursionError, TypeError, KeyError) as error:
            raise ValidationError("knowledge.eval_line_invalid", file=str(file), line=number) from error
        if not (isinstance(query, str) and query.strip() and (note is None or isinstance(note, str))):
            raise ValidationError("knowledge.eval_line_invalid", file=str(file), line=number)
        yield Case(query, note)
