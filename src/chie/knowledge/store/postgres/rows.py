"""A note's rows: written and removed together, read back as nouns."""

import hashlib
import json
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC
from typing import TYPE_CHECKING, Any

from chie.database.cursor import decode, encode
from chie.errors import ConflictError, ValidationError
from chie.knowledge.note import Heading, Note, Page, TagCount
from chie.knowledge.passages import Passage, reading, split, words_of
from chie.knowledge.store.postgres.corpus import Change
from chie.knowledge.tokens import fold

if TYPE_CHECKING:
    from chie.knowledge.store.postgres.pool import Connection

LONGEST = 500  # bytes of a word or tag in an index, which takes no more than about 2,700

_NAMES = (
    "id", "title", "content", "tags", "labels", "source", "status", "user_id", "author_kind", "private", "created_at",
    "updated_at",
)  # fmt: skip
_COLUMNS = "id, title, content, tags, source, status, user_id, author_kind, private, created_at, updated_at"
_HEADING = "id, title, tags, source, status, user_id, private, created_at, updated_at, length(content)"
_VALUES = ", ".join(["%s"] * len(_NAMES))
_INSERT = f"INSERT INTO knowledge_notes ({', '.join(_NAMES)}) VALUES ({_VALUES})"
_SEEN = "(NOT private OR user_id = %s)"  # by this viewer


@dataclass(frozen=True)
class Draft:
    """A note, cut and made ready to be written."""

    note: Note
    passages: list[Passage]
    readings: list[str]

    @classmethod
    def of(cls, note: Note) -> "Draft":
        if not all(map(holds, (note.id, note.title, note.content, *note.tags, note.source or "", note.status or ""))):
            raise ValidationError("PostgreSQL cannot hold a character of code 0. Take it out, then try again.")
        passages = split(note)
        return cls(note, passages, [reading(note, passage) for passage in passages])


def holds(text: str) -> bool:
    """Whether PostgreSQL's text can be this. What it cannot be is no note's id and no note's tag."""
    return "\0" not in text


def key(word: str) -> str:
    """The word as indexes hold it: itself, unless it is too long for one."""
    data = word.encode()
    return word if len(data) <= LONGEST else f"#{hashlib.sha256(data).hexdigest()}"


def labels(tags: Sequence[str]) -> list[str]:
    return sorted({key(fold(tag)) for tag in tags})


def get(connection: "Connection", note_id: str) -> Note | None:
    if not holds(note_id):
        return None
    row = connection.execute(f"SELECT {_COLUMNS} FROM knowledge_notes WHERE id = %s", (note_id,)).fetchone()
    return _note(row) if row else None


def get_many(connection: "Connection", seqs: Sequence[int]) -> dict[int, Note]:
    found = connection.execute(f"SELECT seq, {_COLUMNS} FROM knowledge_notes WHERE seq = ANY(%s)", (list(seqs),))
    return {row[0]: _note(row[1:]) for row in found}


def claim(connection: "Connection", note: Note, replacing: Note | None, change: Change) -> int:
    """The number of the note's row, which is ours until the transaction ends."""
    if replacing is None:
        row = connection.execute(f"{_INSERT} ON CONFLICT (id) DO NOTHING RETURNING seq", _values(note)).fetchone()
        if row is None:
            raise ConflictError("a note with this id exists already. Update that one instead.")
        change.notes += 1
        return int(row[0])
    stored = connection.execute(
        f"SELECT seq, {_COLUMNS} FROM knowledge_notes WHERE id = %s FOR UPDATE", (note.id,)
    ).fetchone()
    if stored is None or _note(stored[1:]) != replacing:
        raise ConflictError("the note was changed by somebody else meanwhile. Read it again, then repeat the change.")
    _overwrite(connection, stored[0], note, change)
    return int(stored[0])


def seize(connection: "Connection", note: Note, change: Change) -> int:
    """As `claim`, whatever is stored."""
    stored = connection.execute("SELECT seq FROM knowledge_notes WHERE id = %s FOR UPDATE", (note.id,)).fetchone()
    if stored is None:
        return claim(connection, note, None, change)
    _overwrite(connection, stored[0], note, change)
    return int(stored[0])


def remove(connection: "Connection", note_id: str, change: Change) -> bool:
    """Passages, words and vectors go with it."""
    if not holds(note_id):
        return False
    row = connection.execute("SELECT seq FROM knowledge_notes WHERE id = %s FOR UPDATE", (note_id,)).fetchone()
    if row is None:
        return False
    _clear(connection, row[0], change)
    connection.execute("DELETE FROM knowledge_notes WHERE seq = %s", (row[0],))
    change.notes -= 1
    return True


def insert_passages(connection: "Connection", drafts: Sequence[tuple[int, Draft]], change: Change) -> list[int]:
    """Those of several notes, each beside its row's number. Returns the passages' ids, in order."""
    number = sum(len(draft.passages) for _, draft in drafts)
    found = connection.execute(
        "SELECT nextval(pg_get_serial_sequence('knowledge_passages', 'id')) FROM generate_series(1, %s)", (number,)
    )
    ids = [row[0] for row in found]
    rows = [row for seq, draft in drafts for row in _passage_rows(seq, draft, change)]
    with connection.cursor() as cursor:
        cursor.executemany(
            "INSERT INTO knowledge_passages (id, note, start, stop, owner, labels, terms, repeated, length)"
            " VALUES (%s, %s, %s, %s, %s, %s, %s, %s::jsonb, %s)",
            [(at, *row) for at, row in zip(ids, rows, strict=True)],
        )
    return ids


def page(connection: "Connection", *, tag: str | None, limit: int, cursor: str | None, viewer: str) -> Page:
    if tag is not None and not holds(tag):
        return Page(notes=[], next_cursor=None)
    where, values = [_SEEN], list[Any]([viewer])
    if tag is not None:
        where.append("labels @> %s::text[]")
        values.append(labels([tag]))
    if cursor is not None:
        where.append("(created_at, id) < (%s::timestamptz, %s)")
        values.extend(decode(cursor))
    found = connection.execute(
        f"SELECT {_HEADING} FROM knowledge_notes WHERE {' AND '.join(where)}"
        " ORDER BY created_at DESC, id DESC LIMIT %s",
        (*values, limit + 1),
    ).fetchall()
    notes = [_heading(row) for row in found[:limit]]
    return Page(notes=notes, next_cursor=encode(notes[-1].created_at, notes[-1].id) if len(found) > limit else None)


def tags(connection: "Connection", viewer: str) -> list[TagCount]:
    """Kept folded for looking up, so the spelling comes from the notes: the most frequent one."""
    spelt = connection.execute(
        f"SELECT t, count(*) FROM knowledge_notes, unnest(tags) t WHERE {_SEEN}"
        ' GROUP BY t ORDER BY 2, t COLLATE "C" DESC',
        (viewer,),
    )
    spelling: dict[str, str] = {key(fold(tag)): tag for tag, _ in spelt}
    found = connection.execute(
        f"SELECT t, count(*) FROM knowledge_notes, unnest(labels) t WHERE {_SEEN} GROUP BY 1 ORDER BY 2 DESC, 1",
        (viewer,),
    )
    return [TagCount(tag=spelling[label], count=number) for label, number in found]


def walk(connection: "Connection", *, after: str | None, limit: int) -> list[Note]:
    found = connection.execute(
        f"SELECT {_COLUMNS} FROM knowledge_notes WHERE id > %s ORDER BY id LIMIT %s", (after or "", limit)
    )
    return [_note(row) for row in found]


def count(connection: "Connection", viewer: str) -> int:
    row = connection.execute(f"SELECT count(*) FROM knowledge_notes WHERE {_SEEN}", (viewer,)).fetchone()
    return row[0] if row else 0


def _overwrite(connection: "Connection", seq: int, note: Note, change: Change) -> None:
    _clear(connection, seq, change)
    names = ", ".join(f"{name} = %s" for name in _NAMES)
    connection.execute(f"UPDATE knowledge_notes SET {names} WHERE seq = %s", (*_values(note), seq))


def _clear(connection: "Connection", seq: int, change: Change) -> None:
    gone = connection.execute(
        "SELECT id, terms, length FROM knowledge_passages WHERE note = %s ORDER BY id FOR UPDATE", (seq,)
    ).fetchall()
    ids = [row[0] for row in gone]
    models = connection.execute("DELETE FROM knowledge_vectors WHERE passage = ANY(%s) RETURNING model", (ids,))
    change.vectors.subtract(row[0] for row in models)
    connection.execute("DELETE FROM knowledge_passages WHERE id = ANY(%s)", (ids,))
    for _, terms, length in gone:
        change.count(terms, length, -1)


def _passage_rows(seq: int, draft: Draft, change: Change) -> list[tuple[Any, ...]]:
    owner, folded = draft.note.user_id if draft.note.private else None, labels(draft.note.tags)
    rows = []
    for passage, text in zip(draft.passages, draft.readings, strict=True):
        words = Counter(map(key, words_of(draft.note, text)))
        length = words.total()
        change.count(list(words), length)
        repeated = {word: number for word, number in words.items() if number > 1}
        often = json.dumps(repeated, ensure_ascii=False) if repeated else None
        rows.append((seq, passage.start, passage.end, owner, folded, list(words), often, length))
    return rows


def _values(note: Note) -> tuple[Any, ...]:
    return (
        note.id,
        note.title,
        note.content,
        note.tags,
        labels(note.tags),
        note.source,
        note.status,
        note.user_id,
        note.author_kind,
        note.private,
        note.created_at.astimezone(UTC),
        note.updated_at.astimezone(UTC),
    )


def _note(row: Sequence[Any]) -> Note:
    return Note(
        id=row[0],
        title=row[1],
        content=row[2],
        tags=row[3],
        source=row[4],
        status=row[5],
        user_id=row[6],
        author_kind=row[7],
        private=row[8],
        created_at=row[9].astimezone(UTC),
        updated_at=row[10].astimezone(UTC),
    )


def _heading(row: Sequence[Any]) -> Heading:
    return Heading(
        id=row[0],
        title=row[1],
        tags=row[2],
        source=row[3],
        status=row[4],
        user_id=row[5],
        private=row[6],
        created_at=row[7].astimezone(UTC),
        updated_at=row[8].astimezone(UTC),
        length=row[9],
    )
