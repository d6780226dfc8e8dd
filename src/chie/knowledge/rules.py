"""What a good note is: its texts held to their form, and what a caller may ask for."""

import re
from collections.abc import Sequence
from dataclasses import replace
from datetime import UTC, datetime

from chie.errors import ValidationError
from chie.knowledge.note import Note

TITLE_FROM_CONTENT = 30

MAX_CONTENT = 200_000
MAX_TITLE = 300
MAX_TAGS = 50
MAX_TAG = 100
MAX_SOURCE = 2_000
MAX_QUERY = 10_000
MAX_LIMIT = 100
MAX_ID = 300

# Everything below a space but tab and line ends, and halves of surrogate pairs, which no encoding can write.
_CONTROL = re.compile(r"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f\ud800-\udfff]")

_NO_SEGMENT = re.compile(r"/|^\.{1,2}$")  # however it is written in an address, it would lead elsewhere
RESERVED = frozenset({"search", "tags", "map", "export", "import", "samples"})
"""What stands where an id stands in the API."""


def good_content(content: str) -> str:
    content = content.strip()
    if not content:
        raise ValidationError("content is required: write down what was found out")
    if len(content) > MAX_CONTENT:
        raise ValidationError(
            f"content is too long: {len(content):,} characters, at most {MAX_CONTENT:,}. Split it into several notes."
        )
    if found := _CONTROL.search(content):
        raise ValidationError(
            f"content is not plain text: it has a control character (U+{ord(found.group()):04X}) "
            f"at position {found.start()}. Remove such characters (terminal colours are some), "
            "and save what a binary file means rather than its bytes."
        )
    return content


def good_title(title: str | None, content: str) -> str:
    return _line("title", title, MAX_TITLE) or " ".join(content[:TITLE_FROM_CONTENT].split())


def good_tags(tags: Sequence[str] | None) -> list[str]:
    """In the order given, each once whatever its case, without the `#` that people type."""
    cleaned = [_line("tags", tag.strip().lstrip("#"), MAX_TAG) for tag in tags or ()]
    unique: dict[str, str] = {}
    for tag in filter(None, cleaned):
        unique.setdefault(tag.casefold(), tag)
    if len(unique) > MAX_TAGS:
        raise ValidationError(f"too many tags: {len(unique):,}, at most {MAX_TAGS}. Keep the telling ones.")
    return list(unique.values())


def good_source(source: str | None) -> str | None:
    return _line("source", source, MAX_SOURCE)


def given_id(note_id: str) -> str:
    """To look for a note by."""
    note_id = note_id.strip()
    if not note_id:
        raise ValidationError("id is required: search_knowledge and list_knowledge show the ids")
    return note_id


def good_id(note_id: str) -> str:
    """For a note to have, in addresses of the API too, where some words stand for something else."""
    note_id = _plain("id", given_id(note_id))
    if note_id in RESERVED or _NO_SEGMENT.search(note_id):
        raise ValidationError("id cannot stand in an address: use one without /, that is no word of the API")
    return note_id


def good_tag(tag: str) -> str:
    """To list notes by; written as people write it, as in `good_tags`."""
    return _plain("tag", _short("tag", tag.strip().lstrip("#"), MAX_TAG))


def good_limit(limit: int) -> int:
    if not 1 <= limit <= MAX_LIMIT:
        raise ValidationError(f"limit must be between 1 and {MAX_LIMIT}")
    return limit


def good_query(text: str) -> str:
    text = text.strip()
    if not text:
        raise ValidationError("query is required: say in a few words or a sentence what to look for")
    if len(text) > MAX_QUERY:
        raise ValidationError(f"query is too long: at most {MAX_QUERY:,} characters")
    if _CONTROL.search(text):
        raise ValidationError("query has control characters: send plain text")
    return text


def changed(
    note: Note,
    *,
    content: str | None,
    title: str | None,
    tags: Sequence[str] | None,
    moment: datetime,
) -> Note:
    """A title that was made from the content follows it; a title that somebody chose stays."""
    text = note.content if content is None else good_content(content)
    if title is None and note.title != good_title(None, note.content):
        title = note.title
    return replace(
        note,
        content=text,
        title=good_title(title, text),
        tags=note.tags if tags is None else good_tags(tags),
        updated_at=moment,
    )


def cleaned(note: Note) -> Note:
    """A note from elsewhere, held to the rules of our own."""
    content = good_content(note.content)
    return replace(
        note,
        id=_short("id", good_id(note.id), MAX_ID),
        content=content,
        title=good_title(note.title, content),
        tags=good_tags(note.tags),
        source=good_source(note.source),
        status=_line("status", note.status, MAX_TAG),
        user_id=_plain("user_id", note.user_id),
        created_at=good_moment("created_at", note.created_at),
        updated_at=good_moment("updated_at", note.updated_at),
    )


def good_moment(name: str, moment: datetime) -> datetime:
    """In UTC, as the stores keep it: the calendar's first and last hours elsewhere are no date there."""
    try:
        return (moment if moment.tzinfo else moment.replace(tzinfo=UTC)).astimezone(UTC)
    except OverflowError as error:
        raise ValidationError(f"{name} is no date in UTC: send one from 0001-01-01 to 9999-12-31") from error


def _line(name: str, text: str | None, longest: int) -> str | None:
    text = " ".join((text or "").split())
    return _plain(name, _short(name, text, longest)) or None


def _short(name: str, text: str, longest: int) -> str:
    if len(text) > longest:
        raise ValidationError(f"{name} is too long: at most {longest:,} characters")
    return text


def is_plain(text: str) -> bool:
    return not _CONTROL.search(text)


def _plain(name: str, text: str) -> str:
    if not is_plain(text):
        raise ValidationError(f"{name} has control characters: send plain text")
    return text
