"""SQL for notes: their rows are written and deleted together with passages, words and vectors."""

import hashlib
import json
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC
from typing import TYPE_CHECKING, Any

from chie.errors import ConflictError, ValidationError
from chie.knowledge.anchors.anchor import decode_anchor
from chie.knowledge.anchors.anchor import encode as encode_anchor
from chie.knowledge.history.versions import change_of
from chie.knowledge.links.text import folded_title
from chie.knowledge.note import Note, audience
from chie.knowledge.search.passages import INDEX_VERSION, Passage, index_tokens, split
from chie.knowledge.search.tokens import fold
from chie.knowledge.sources import file_name
from chie.knowledge.store.postgres.space_table import require_space
from chie.knowledge.store.postgres.statement import Rows, Statement
from chie.knowledge.store.postgres.statistics import StatisticsChange
from chie.knowledge.store.postgres.tables import LINKS, VERSIONS
from chie.knowledge.store.private_terms import indexed_terms

if TYPE_CHECKING:
    from chie.knowledge.store.postgres.pool import Connection

MAX_INDEXED_BYTES = 500  # of a word or tag; PostgreSQL's indexes accept about 2,700

_NAMES = (
    "id", "title", "content", "tags", "source", "status", "user_id", "origin", "private", "proposal", "questions",
    "signatures", "confirmed_by", "confirmed_at", "created_at", "updated_at", "supersedes",
    "anchor", "space",
)  # fmt: skip
COLUMNS = ", ".join(_NAMES)
_STORED = (*_NAMES, "labels", "source_file", "folded_title")
_VALUES = ", ".join(["%s"] * len(_STORED))
_INSERT = f"INSERT INTO knowledge_notes ({', '.join(_STORED)}, index_version) VALUES ({_VALUES}, {INDEX_VERSION})"


@dataclass(frozen=True)
class Draft:
    """A note, split into passages and ready to be written."""

    note: Note
    passages: list[Passage]

    @classmethod
    def of(cls, note: Note) -> "Draft":
        values = (note.id, note.title, note.content, *note.tags, note.source or "", note.status or "", *note.questions)
        if not all(map(is_storable, values)):
            raise ValidationError("knowledge.nul_character")
        return cls(note, split(note))


def is_storable(text: str) -> bool:
    """PostgreSQL cannot store NUL, so a text with it is not the id or tag of any note."""
    return "\0" not in text


def index_key(word: str) -> str:
    """The word as it is indexed: its hash if it is too long for an index."""
    data = word.encode()
    return word if len(data) <= MAX_INDEXED_BYTES else f"#{hashlib.sha256(data).hexdigest()}"


def labels(tags: Sequence[str]) -> list[str]:
    return sorted({index_key(fold(tag)) for tag in tags})


def get(connection: "Connection", note_id: str) -> Note | None:
    if not is_storable(note_id):
        return None
    row = connection.execute(f"SELECT {COLUMNS} FROM knowledge_notes WHERE id = %s", (note_id,)).fetchone()
    return note_of(row) if row else None


def get_locked(connection: "Connection", note_id: str) -> Note | None:
    """The row stays locked until the transaction ends."""
    if not is_storable(note_id):
        return None
    row = connection.execute(f"SELECT {COLUMNS} FROM knowledge_notes WHERE id = %s FOR UPDATE", (note_id,)).fetchone()
    return note_of(row) if row else None


def select_many(seqs: Sequence[int]) -> Statement:
    return Statement(f"SELECT seq, {COLUMNS} FROM knowledge_notes WHERE seq = ANY(%s::bigint[])", (list(seqs),))


def parse_many(found: Rows) -> dict[int, Note]:
    return {row[0]: note_of(row[1:]) for row in found}


def write(connection: "Connection", note: Note, replacing: Note | None, change: StatisticsChange) -> int:
    """Insert or replace the note's row, and return its number. The row stays locked until the transaction ends."""
    require_space(connection, note.space)
    if replacing is None:
        row = connection.execute(f"{_INSERT} ON CONFLICT (id) DO NOTHING RETURNING seq", _values(note)).fetchone()
        if row is None:
            raise ConflictError("knowledge.note_exists")
        _insert_superseded(connection, note)
        LINKS.write(connection, row[0], note)
        change.count_note(note.audience)
        return int(row[0])
    stored = connection.execute(
        f"SELECT seq, {COLUMNS} FROM knowledge_notes WHERE id = %s FOR UPDATE", (note.id,)
    ).fetchone()
    if stored is None or note_of(stored[1:]) != replacing:
        raise ConflictError("knowledge.note_changed")
    _replace(connection, stored[0], replacing.audience, note, change)
    return int(stored[0])


def overwrite(connection: "Connection", note: Note, change: StatisticsChange) -> int:
    """Like `write`, regardless of what is stored."""
    stored = _locked(connection, note.id)
    if stored is None:
        seq = write(connection, note, None, change)
        VERSIONS.begin(connection, note, change_of(note))
        return seq
    require_space(connection, note.space)
    _replace(connection, *stored, note, change)
    return stored[0]


def remove(connection: "Connection", note_id: str, change: StatisticsChange) -> bool:
    """Deletes passages, words and vectors too."""
    if not is_storable(note_id):
        return False
    stored = _locked(connection, note_id)
    if stored is None:
        return False
    seq, gone = stored
    _delete_passages(connection, seq, change)
    connection.execute("DELETE FROM knowledge_supersessions WHERE newer = %s", (note_id,))
    connection.execute("DELETE FROM knowledge_notes WHERE seq = %s", (seq,))
    change.count_note(gone, -1)
    return True


def insert_passages(
    connection: "Connection", drafts: Sequence[tuple[int, Draft]], change: StatisticsChange
) -> list[int]:
    """Insert the passages of notes, given with their row numbers, and return the passages' ids in order."""
    number = sum(len(draft.passages) for _, draft in drafts)
    found = connection.execute(
        "SELECT nextval(pg_get_serial_sequence('knowledge_passages', 'id')) FROM generate_series(1, %s)", (number,)
    )
    ids = [row[0] for row in found]
    rows = [row for seq, draft in drafts for row in _passage_rows(seq, draft, change)]
    with connection.cursor() as cursor:
        cursor.executemany(
            "INSERT INTO knowledge_passages (id, note, part, start, stop, question, owner, labels, terms,"
            " repeated, length) VALUES (%s, %s, %s, %s, %s, %s, %s, %s, %s, %s::jsonb, %s)",
            [(at, *row) for at, row in zip(ids, rows, strict=True)],
        )
    return ids


def outdated(connection: "Connection", limit: int) -> dict[int, Note]:
    """Notes that were indexed by older rules, by row number."""
    found = connection.execute(
        f"SELECT seq, {COLUMNS} FROM knowledge_notes WHERE index_version < %s LIMIT %s", (INDEX_VERSION, limit)
    )
    return parse_many(found.fetchall())


def clear_index(connection: "Connection", seq: int, note: Note, change: StatisticsChange) -> bool:
    """Delete the passages of a note that has not changed since it was read, to be indexed again; return whether it
    has not."""
    stored = connection.execute(f"SELECT {COLUMNS} FROM knowledge_notes WHERE seq = %s FOR UPDATE", (seq,)).fetchone()
    if stored is None or note_of(stored) != note:
        return False
    _delete_passages(connection, seq, change)
    connection.execute("UPDATE knowledge_notes SET index_version = %s WHERE seq = %s", (INDEX_VERSION, seq))
    return True


def _locked(connection: "Connection", note_id: str) -> tuple[int, str | None] | None:
    """Row number and audience; the row stays locked until the transaction ends."""
    row = connection.execute(
        "SELECT seq, space, CASE WHEN private OR proposal THEN user_id END FROM knowledge_notes WHERE id = %s"
        " FOR UPDATE",
        (note_id,),
    ).fetchone()
    return (row[0], audience(row[1], row[2])) if row else None


def _replace(connection: "Connection", seq: int, before: str | None, note: Note, change: StatisticsChange) -> None:
    """`before` is the audience of the stored note."""
    _delete_passages(connection, seq, change)
    names = ", ".join(f"{name} = %s" for name in _STORED)
    connection.execute(
        f"UPDATE knowledge_notes SET {names}, index_version = {INDEX_VERSION} WHERE seq = %s", (*_values(note), seq)
    )
    connection.execute("DELETE FROM knowledge_supersessions WHERE newer = %s", (note.id,))
    _insert_superseded(connection, note)
    LINKS.write(connection, seq, note, replacing=True)
    change.count_note(before, -1)
    change.count_note(note.audience)


def _insert_superseded(connection: "Connection", note: Note) -> None:
    if note.supersedes:
        connection.execute(
            "INSERT INTO knowledge_supersessions (older, newer) SELECT DISTINCT unnest(%s::text[]), %s",
            (note.supersedes, note.id),
        )


def _delete_passages(connection: "Connection", seq: int, change: StatisticsChange) -> None:
    gone = connection.execute(
        "SELECT id, owner, terms, length FROM knowledge_passages WHERE note = %s ORDER BY id FOR UPDATE", (seq,)
    ).fetchall()
    ids = [row[0] for row in gone]
    models = connection.execute("DELETE FROM knowledge_vectors WHERE passage = ANY(%s) RETURNING model", (ids,))
    change.vectors.subtract(row[0] for row in models)
    connection.execute("DELETE FROM knowledge_passages WHERE id = ANY(%s)", (ids,))
    for _, of, terms, length in gone:
        change.count_passage(of, terms, length, -1)


def _passage_rows(seq: int, draft: Draft, change: StatisticsChange) -> list[tuple[Any, ...]]:
    of, folded = draft.note.audience, labels(draft.note.tags)
    rows = []
    for part, passage in enumerate(draft.passages):
        words = Counter(indexed_terms(map(index_key, index_tokens(draft.note, passage.text)), of))
        length = words.total()
        change.count_passage(of, list(words), length)
        repeated = {word: number for word, number in words.items() if number > 1}
        often = json.dumps(repeated, ensure_ascii=False) if repeated else None
        place = (seq, part, passage.start, passage.end, passage.question)
        rows.append((*place, of, folded, list(words), often, length))
    return rows


def _values(note: Note) -> tuple[Any, ...]:
    return (
        note.id,
        note.title,
        note.content,
        note.tags,
        note.source,
        note.status,
        note.user_id,
        note.origin,
        note.private,
        note.proposal,
        note.questions,
        note.signatures,
        note.confirmed_by,
        note.confirmed_at and note.confirmed_at.astimezone(UTC),
        note.created_at.astimezone(UTC),
        note.updated_at.astimezone(UTC),
        note.supersedes,
        note.anchor and encode_anchor(note.anchor),
        note.space,
        labels(note.tags),
        _source_file(note),
        folded_title(note.title),
    )


def _source_file(note: Note) -> str | None:
    name = file_name(note.anchor.path if note.anchor else note.source)
    return name and index_key(name)


def note_of(row: Sequence[Any]) -> Note:
    return Note(
        id=row[0],
        title=row[1],
        content=row[2],
        tags=row[3],
        source=row[4],
        status=row[5],
        user_id=row[6],
        origin=row[7],
        private=row[8],
        proposal=row[9],
        questions=row[10],
        signatures=row[11],
        confirmed_by=row[12],
        confirmed_at=row[13] and row[13].astimezone(UTC),
        created_at=row[14].astimezone(UTC),
        updated_at=row[15].astimezone(UTC),
        supersedes=row[16],
        anchor=decode_anchor(row[17]),
        space=row[18],
    )
