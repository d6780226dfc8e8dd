"""Validation and normalisation of notes and of the arguments of requests."""

import re
from collections.abc import Iterable, Sequence
from dataclasses import replace
from datetime import UTC, datetime

from chie.errors import ValidationError
from chie.knowledge.anchors.anchor import Anchor
from chie.knowledge.anchors.validation import valid_anchor
from chie.knowledge.graphemes import cut
from chie.knowledge.note import Note

DEFAULT_TITLE_LENGTH = 30

MAX_CONTENT = 200_000
MAX_TITLE = 300
MAX_TAGS = 50
MAX_TAG = 100
MAX_SOURCE = 2_000
MAX_QUERY = 10_000
MAX_LIMIT = 100
MAX_QUESTIONS = 10
MAX_QUESTION = 300
MAX_ERRORS = 20
MAX_ERROR_LINES = 200  # that are read for them; many lines may have the same signature
MAX_ID = 300
MAX_SUPERSEDED = 20

# Control characters except tab and line ends, and lone surrogates, which cannot be encoded.
_CONTROL = re.compile(r"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f\ud800-\udfff]")

_LINE_BREAK = re.compile(r"\r\n|[\n\r\x0b\x0c\x1c-\x1e\x85\u2028\u2029]")
_NOT_A_PATH_SEGMENT = re.compile(r"/|^\.{1,2}$")  # even percent-encoded, it would lead to another path
RESERVED_IDS = frozenset(
    {
        *("search", "tags", "authors", "map", "export", "import", "samples", "inbox", "trash", "anchors"),
        *("spaces", "repositories", "review", "cited", "recording", "graph"),
    }
)
"""Paths of the API in the position of an id."""


def valid_content(content: str) -> str:
    content = content.strip()
    if not content:
        raise ValidationError("knowledge.content_required")
    if len(content) > MAX_CONTENT:
        raise ValidationError("knowledge.content_too_long", length=len(content), limit=MAX_CONTENT)
    if found := _CONTROL.search(content):
        character = f"U+{ord(found.group()):04X}"
        raise ValidationError("knowledge.content_not_plain_text", character=character, position=found.start())
    return content


def valid_title(title: str | None, content: str) -> str:
    return _line("title", title, MAX_TITLE) or default_title(content)


def default_title(content: str) -> str:
    """The first characters of the content on one line, otherwise as they are."""
    beginning = content[: 2 * DEFAULT_TITLE_LENGTH + 2]  # `\r\n` becomes one character
    return cut(_LINE_BREAK.sub(" ", beginning), DEFAULT_TITLE_LENGTH).strip()


def valid_tags(tags: Sequence[str] | None) -> list[str]:
    """Distinct tags regardless of case, in the order given, without a leading `#`."""
    cleaned = [_line("tags", tag.strip().lstrip("#"), MAX_TAG) for tag in tags or ()]
    unique: dict[str, str] = {}
    for tag in filter(None, cleaned):
        unique.setdefault(tag.casefold(), tag)
    if len(unique) > MAX_TAGS:
        raise ValidationError("knowledge.tags_too_many", count=len(unique), limit=MAX_TAGS)
    return list(unique.values())


def valid_source(source: str | None) -> str | None:
    return _line("source", source, MAX_SOURCE)


def valid_questions(questions: Sequence[str] | None) -> list[str]:
    """Distinct questions, one line each."""
    cleaned = list(dict.fromkeys(filter(None, (_line("questions", one, MAX_QUESTION) for one in questions or ()))))
    if len(cleaned) > MAX_QUESTIONS:
        raise ValidationError("knowledge.questions_too_many", count=len(cleaned), limit=MAX_QUESTIONS)
    return cleaned


def valid_errors(errors: Sequence[str] | None) -> list[str]:
    """The signatures of error lines, or of signatures."""
    if not errors:
        return []
    from chie.knowledge.recall.signatures import mask  # compiles many patterns

    lines = [line for text in errors for line in text.splitlines() if line.strip()]
    if len(lines) > MAX_ERROR_LINES:
        raise ValidationError("knowledge.errors_too_many", count=len(lines), limit=MAX_ERRORS)
    found = list(dict.fromkeys(filter(None, map(mask, lines))))
    if len(found) > MAX_ERRORS:
        raise ValidationError("knowledge.errors_too_many", count=len(found), limit=MAX_ERRORS)
    return [_plain("errors", signature) for signature in found]


def required_id(note_id: str) -> str:
    """An id to look up."""
    note_id = note_id.strip()
    if not note_id:
        raise ValidationError("knowledge.id_required")
    return note_id


def valid_id(note_id: str) -> str:
    """An id to store, which must also work as a path segment of the API."""
    note_id = _plain("id", required_id(note_id))
    if note_id in RESERVED_IDS or _NOT_A_PATH_SEGMENT.search(note_id) or _LINE_BREAK.search(note_id):
        raise ValidationError("knowledge.id_invalid")
    return note_id


def valid_ids(ids: Iterable[str]) -> list[str]:
    """Distinct ids of notes that another one supersedes."""
    cleaned = list(dict.fromkeys(_short("supersedes", valid_id(one), MAX_ID) for one in ids))
    if len(cleaned) > MAX_SUPERSEDED:
        raise ValidationError("knowledge.superseded_too_many", count=len(cleaned), limit=MAX_SUPERSEDED)
    return cleaned


def valid_tag(tag: str) -> str:
    """A tag to filter by, normalised like `valid_tags`."""
    return _plain("tag", _short("tag", tag.strip().lstrip("#"), MAX_TAG))


def valid_limit(limit: int) -> int:
    if not 1 <= limit <= MAX_LIMIT:
        raise ValidationError("knowledge.limit_out_of_range", maximum=MAX_LIMIT)
    return limit


def valid_query(text: str) -> str:
    text = text.strip()
    if not text:
        raise ValidationError("knowledge.query_required")
    if len(text) > MAX_QUERY:
        raise ValidationError("knowledge.field_too_long", field="query", limit=MAX_QUERY)
    return _plain("query", text)


def changed(
    note: Note,
    *,
    content: str | None,
    title: str | None,
    tags: Sequence[str] | None,
    questions: Sequence[str] | None,
    errors: Sequence[str] | None,
    anchor: Anchor | None = None,
    moment: datetime,
) -> Note:
    """The note with the given changes. A title that was derived from the content follows it."""
    text = note.content if content is None else valid_content(content)
    if title is None and note.title != default_title(note.content):
        title = note.title
    return replace(
        note,
        content=text,
        title=valid_title(title, text),
        tags=note.tags if tags is None else valid_tags(tags),
        questions=note.questions if questions is None else valid_questions(questions),
        signatures=note.signatures if errors is None else valid_errors(errors),
        anchor=note.anchor if anchor is None else valid_anchor(anchor),
        updated_at=moment,
    )


def cleaned(note: Note) -> Note:
    """An imported note, validated and normalised. A derived title keeps its blanks and still follows the content."""
    content = valid_content(note.content)
    title = default_title(content)
    return replace(
        note,
        id=_short("id", valid_id(note.id), MAX_ID),
        content=content,
        title=title if note.title == title else valid_title(note.title, content),
        tags=valid_tags(note.tags),
        source=valid_source(note.source),
        status=_line("status", note.status, MAX_TAG),
        user_id=_line("user_id", note.user_id, MAX_ID) or note.user_id,
        questions=valid_questions(note.questions),
        signatures=valid_errors(note.signatures),
        supersedes=valid_ids(note.supersedes),
        confirmed_by=_line("confirmed_by", note.confirmed_by, MAX_TAG) if note.confirmed_at else None,
        confirmed_at=note.confirmed_at and valid_moment("confirmed_at", note.confirmed_at),
        anchor=valid_anchor(note.anchor),
        created_at=valid_moment("created_at", note.created_at),
        updated_at=valid_moment("updated_at", note.updated_at),
    )


def valid_moment(name: str, moment: datetime) -> datetime:
    """In UTC, as it is stored. The first and last hours of the calendar in another time zone have no date in UTC."""
    try:
        return (moment if moment.tzinfo else moment.replace(tzinfo=UTC)).astimezone(UTC)
    except OverflowError as error:
        raise ValidationError("knowledge.date_out_of_range", field=name) from error


def _line(name: str, text: str | None, limit: int) -> str | None:
    text = " ".join((text or "").split())
    return _plain(name, _short(name, text, limit)) or None


def _short(name: str, text: str, limit: int) -> str:
    if len(text) > limit:
        raise ValidationError("knowledge.field_too_long", field=name, limit=limit)
    return text


def is_plain(text: str) -> bool:
    return not _CONTROL.search(text)


def _plain(name: str, text: str) -> str:
    if not is_plain(text):
        raise ValidationError("knowledge.field_not_plain_text", field=name)
    return text
