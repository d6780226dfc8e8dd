"""A note as objects of the Collection: the head, which is the note, and the later passages of a long one.

Each object has one vector, made by the service from a title and a passage. The head holds the whole note and its first
passage. It is written first and deleted last, so passages never stand without it but for a crash; which of them belong
to the note as it is now is told by their `revision`.

All fields are always written: whether an update merges or replaces is then of no matter.
"""

import hashlib
import json
import re
from collections.abc import Sequence
from dataclasses import asdict
from datetime import UTC, datetime
from typing import Any, Final

from chie.knowledge.note import Heading, Note
from chie.knowledge.passages import Passage, reading, split
from chie.knowledge.tokens import fold, tokens

Data = dict[str, Any]

VECTOR: Final = "embedding"
TEMPLATE: Final = "{title}\n{text}"  # what the service reads of an object
TEAM: Final = "team"

_TEXT: Data = {"type": "string"}
_NUMBER: Data = {"type": "number"}
_LIST: Data = {"type": "array", "items": {"type": "string"}}

SCHEMA: Final[dict[str, Data]] = {
    "note": _TEXT,
    "part": _NUMBER,
    "parts": _NUMBER,
    "revision": _TEXT,
    "reader": _TEXT,
    "labels": _LIST,
    "title": _TEXT,
    "text": _TEXT,
    "words": _TEXT,
    "content": _TEXT,
    "tags": _LIST,
    "source": _TEXT,
    "status": _TEXT,
    "user_id": _TEXT,
    "author_kind": _TEXT,
    "private": {"type": "boolean"},
    "created_at": _TEXT,
    "updated_at": _TEXT,
    "created": _NUMBER,
    "place": _NUMBER,
    "length": _NUMBER,
}
HEADING: Final = [name for name in SCHEMA if name not in ("text", "words", "content", "labels")]
FOUND: Final = [*HEADING, "text", "words"]  # all but what may be long

# Ids of our own are names that the service takes. Others, from imported files, may be anything.
_OURS = re.compile(r"k-[0-9a-f]{1,60}")


def head_id(note_id: str) -> str:
    return note_id if _OURS.fullmatch(note_id) else f"x-{_digest(note_id)[:40]}"


def object_id(data: Data) -> str:
    return _passage_id(data["note"], data["revision"], int(data["part"])) if data["part"] else head_id(data["note"])


def head(note: Note) -> Data:
    first, *rest = split(note)
    return {
        **_common(note, first, 0),
        "parts": len(rest) + 1,
        "content": note.content if rest else "",
        "tags": note.tags,
        "source": note.source or "",
        "status": note.status or "",
        "user_id": note.user_id,
        "author_kind": note.author_kind,
        "private": note.private,
        "created_at": _stamp(note.created_at),
        "updated_at": _stamp(note.updated_at),
        "created": moment(note.created_at),
        "place": place(note.id),
        "length": len(note.content),
    }


def passages(note: Note) -> dict[str, Data]:
    """The later ones, by their ids."""
    found = [_common(note, passage, part) for part, passage in enumerate(split(note)) if part]
    return {object_id(data): data for data in found}


def note_of(data: Data) -> Note:
    return Note(
        id=data["note"],
        title=data["title"],
        content=data["content"] or data["text"],
        tags=list(data["tags"]),
        source=data["source"] or None,
        status=data["status"] or None,
        user_id=data["user_id"],
        author_kind=data["author_kind"],
        private=data["private"],
        created_at=datetime.fromisoformat(data["created_at"]),
        updated_at=datetime.fromisoformat(data["updated_at"]),
    )


def heading_of(data: Data) -> Heading:
    return Heading(
        id=data["note"],
        title=data["title"],
        tags=list(data["tags"]),
        source=data["source"] or None,
        status=data["status"] or None,
        user_id=data["user_id"],
        private=data["private"],
        created_at=datetime.fromisoformat(data["created_at"]),
        updated_at=datetime.fromisoformat(data["updated_at"]),
        length=int(data["length"]),
    )


def embedded(note: Note) -> str:
    """What the service reads of a note's head, for looking for others that are like it."""
    return TEMPLATE.format(title=note.title, text=split(note)[0].text)


def moment(when: datetime) -> int:
    """Microseconds, which a double holds exactly until the year 2255."""
    return round((when - datetime(1970, 1, 1, tzinfo=UTC)).total_seconds() * 1_000_000)


def place(note_id: str) -> int:
    """A number that sorts as the id does, but for its tail: the service compares numbers alone."""
    return int.from_bytes(note_id.encode()[:6].ljust(6, b"\0"), "big")


def reader(user_id: str) -> str:
    """Who may see a private note, as it is kept beside `TEAM`."""
    return f"user {user_id}"


def labels(tags: Sequence[str]) -> list[str]:
    """Tags as they are looked for, whatever their case."""
    return sorted({fold(tag) for tag in tags})


def _common(note: Note, passage: Passage, part: int) -> Data:
    label = " ".join(note.tags)
    return {
        "note": note.id,
        "part": part,
        "revision": _revision(note),
        "reader": reader(note.user_id) if note.private else TEAM,
        "labels": labels(note.tags),
        "title": note.title,
        "text": passage.text,
        "words": " ".join(tokens(f"{reading(note, passage)} {label}")),
    }


def _revision(note: Note) -> str:
    return _digest(json.dumps(asdict(note), default=str, sort_keys=True))[:16]


def _passage_id(note_id: str, revision: str, part: int) -> str:
    return f"p-{_digest(note_id)[:20]}-{revision}-{part}"


def _digest(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()


def _stamp(when: datetime) -> str:
    return when.astimezone(UTC).isoformat(timespec="microseconds")
