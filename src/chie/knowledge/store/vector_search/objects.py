"""A note as objects of the Collection: the head, which is the note, and the later passages of a long one.

Each object has one vector, which the service creates from a title and a passage. The head has the whole note and its
first passage. It is written first and deleted last, so only a crash leaves passages without it. Passages whose
`revision` differs from the head's belong to an earlier version of the note.

All fields are always written, so it does not matter whether an update merges or replaces.
"""

import hashlib
import json
import re
from collections.abc import Sequence
from dataclasses import asdict
from datetime import UTC, datetime
from typing import Any, Final

from chie.database.cursor import utc_text
from chie.knowledge.anchors.anchor import decode_anchor, encode
from chie.knowledge.note import Heading, Note
from chie.knowledge.search.passages import index_tokens, shown
from chie.knowledge.search.tokens import fold
from chie.knowledge.sources import file_name

Data = dict[str, Any]

VECTOR: Final = "embedding"
TEMPLATE: Final = "{title}\n{text}"  # the text that the service embeds
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
    "origin": _TEXT,
    "private": {"type": "boolean"},
    "proposal": {"type": "boolean"},
    "questions": _LIST,
    "signatures": _LIST,
    "supersedes": _LIST,
    "source_file": _TEXT,
    "confirmed_by": _TEXT,
    "anchor": _TEXT,
    "confirmed_at": _TEXT,
    "created_at": _TEXT,
    "updated_at": _TEXT,
    "created": _NUMBER,
    "place": _NUMBER,
    "length": _NUMBER,
}
HEADING: Final = [name for name in SCHEMA if name not in ("text", "words", "content", "labels")]
WHOLE: Final = ["*"]
SEARCH_FIELDS: Final = [*HEADING, "text", "words"]  # all except long ones

# Our own ids are valid object ids; those of imported files may be anything.
_VALID_ID = re.compile(r"k-[0-9a-f]{1,60}")


def head_id(note_id: str) -> str:
    return note_id if _VALID_ID.fullmatch(note_id) else f"x-{_digest(note_id)[:40]}"


def object_id(data: Data) -> str:
    return _passage_id(data["note"], data["revision"], int(data["part"])) if data["part"] else head_id(data["note"])


def head(note: Note) -> Data:
    first, *rest = _texts(note)
    return {
        **_common(note, first, 0),
        "parts": len(rest) + 1,
        "content": note.content,
        "tags": note.tags,
        "source": note.source or "",
        "status": note.status or "",
        "user_id": note.user_id,
        "origin": note.origin,
        "private": note.private,
        "proposal": note.proposal,
        "questions": note.questions,
        "signatures": note.signatures,
        "supersedes": note.supersedes,
        "source_file": file_name(note.anchor.path if note.anchor else note.source) or "",
        "confirmed_by": note.confirmed_by or "",
        "anchor": encode(note.anchor) if note.anchor else "",
        "confirmed_at": utc_text(note.confirmed_at) if note.confirmed_at else "",
        "created_at": utc_text(note.created_at),
        "updated_at": utc_text(note.updated_at),
        "created": microseconds(note.created_at),
        "place": sort_number(note.id),
        "length": len(note.content),
    }


def passages(note: Note) -> dict[str, Data]:
    """The passages after the first, by object id."""
    found = [_common(note, text, part) for part, text in enumerate(_texts(note)) if part]
    return {object_id(data): data for data in found}


def common_fields(data: Data) -> dict[str, Any]:
    """The fields that a note, a heading and a hit share."""
    return {
        "id": data["note"],
        "title": data["title"],
        "tags": list(data["tags"]),
        "source": data["source"] or None,
        "status": data["status"] or None,
        "user_id": data["user_id"],
        "private": data["private"],
        "created_at": datetime.fromisoformat(data["created_at"]),
        "updated_at": datetime.fromisoformat(data["updated_at"]),
    }


def note_of(data: Data) -> Note:
    content = data["content"] or data["text"]  # older versions wrote a short note as `text` alone
    confirmed_at = data.get("confirmed_at")  # and none of the fields that follow `content`
    return Note(
        **common_fields(data),
        content=content,
        origin=data.get("origin") or ("person" if data.get("author_kind") == "person" else "assistant"),
        proposal=data.get("proposal", False),
        questions=list(data.get("questions", ())),
        signatures=list(data.get("signatures", ())),
        supersedes=list(data.get("supersedes", ())),
        confirmed_by=data.get("confirmed_by") or None,
        anchor=decode_anchor(data.get("anchor")),
        confirmed_at=datetime.fromisoformat(confirmed_at) if confirmed_at else None,
    )


def heading_of(data: Data) -> Heading:
    return Heading(**common_fields(data), proposal=data.get("proposal", False), length=int(data["length"]))


def embedded_text(note: Note) -> str:
    """The text that the service embeds for a note's head."""
    return TEMPLATE.format(title=note.title, text=_texts(note)[0])


def microseconds(when: datetime) -> int:
    """Since 1970; a double represents them exactly until the year 2255."""
    return round((when - datetime(1970, 1, 1, tzinfo=UTC)).total_seconds() * 1_000_000)


def sort_number(note_id: str) -> int:
    """A number that sorts like the first six bytes of the id, because the service compares only numbers."""
    return int.from_bytes(note_id.encode()[:6].ljust(6, b"\0"), "big")


def reader(user_id: str) -> str:
    """The value of `reader` for a private note; notes for everybody have `TEAM`."""
    return f"user {user_id}"


def labels(tags: Sequence[str]) -> list[str]:
    """Folded tags, for filters."""
    return sorted({fold(tag) for tag in tags})


def _texts(note: Note) -> list[str]:
    """The passages that a hit shows. The service's models read enough to embed them as they are."""
    return [note.content[start:end] for start, end in shown(note)]


def _common(note: Note, text: str, part: int) -> Data:
    titled = text if not part and text.startswith(note.title) else f"{note.title}\n{text}"
    return {
        "note": note.id,
        "part": part,
        "revision": _revision(note),
        "reader": reader(note.reader) if note.reader else TEAM,
        "labels": labels(note.tags),
        "title": note.title,
        "text": text,
        "words": " ".join(index_tokens(note, titled)),
    }


def _revision(note: Note) -> str:
    return _digest(json.dumps(asdict(note), default=str, sort_keys=True))[:16]


def _passage_id(note_id: str, revision: str, part: int) -> str:
    return f"p-{_digest(note_id)[:20]}-{revision}-{part}"


def _digest(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()
