"""SQL for notes: their rows are written and deleted together with passages, words and tags."""

import json
import sqlite3
from collections.abc import Iterable, Sequence
from datetime import datetime
from typing import Any

from chie.database.cursor import decode, encode, utc_text
from chie.errors import ConflictError
from chie.knowledge.anchors.anchor import decode_anchor
from chie.knowledge.anchors.anchor import encode as encode_anchor
from chie.knowledge.links.text import folded_title
from chie.knowledge.note import AuthorCount, Heading, Note, Page, TagCount
from chie.knowledge.search.passages import INDEX_VERSION, Passage, index_tokens
from chie.knowledge.search.tokens import fold
from chie.knowledge.sources import file_name
from chie.knowledge.store.private_terms import indexed_terms
from chie.knowledge.store.sqlite.space_table import require_space
from chie.knowledge.store.sqlite.tables import LINKS
from chie.knowledge.store.sqlite.visibility import visible
from chie.knowledge.viewer import Viewer
from chie.messages.catalogue import Message

COLUMNS = (
    "id, title, content, tags, source, status, user_id, origin, private, proposal, questions, signatures, confirmed_by,"
    " confirmed_at, created_at, updated_at, supersedes, anchor, space"
)
_INSERT = (
    f"INSERT INTO notes ({COLUMNS}, source_file, folded_title, index_version)"
    f" VALUES ({', '.join('?' for _ in COLUMNS.split(','))}, ?, ?, {INDEX_VERSION})"
)

_HEADING = "id, title, tags, source, status, user_id, space, private, proposal, created_at, updated_at, length(content)"


def get(connection: sqlite3.Connection, note_id: str) -> Note | None:
    row = connection.execute(f"SELECT {COLUMNS} FROM notes WHERE id = ?", (note_id,)).fetchone()
    return note_of(row) if row else None


def get_many(connection: sqlite3.Connection, seqs: Sequence[int]) -> dict[int, Note]:
    rows = connection.execute(
        f"SELECT seq, {COLUMNS} FROM notes WHERE seq IN (SELECT value FROM json_each(?))", (json.dumps(seqs),)
    )
    return {row[0]: note_of(row[1:]) for row in rows}


def remove(connection: sqlite3.Connection, note_id: str) -> bool:
    """Deletes passages, vectors, words, tags and links too."""
    connection.execute("DELETE FROM supersessions WHERE newer = ?", (note_id,))
    return connection.execute("DELETE FROM notes WHERE id = ?", (note_id,)).rowcount > 0


def insert(
    connection: sqlite3.Connection,
    note: Note,
    passages: Iterable[Passage],
    *,
    replacing: Note | None,
) -> list[int]:
    """Return the ids of the passages."""
    require_space(connection, note.space)
    _delete_replaced(connection, note, replacing)
    return insert_passages(connection, _insert_note(connection, note), note, passages)


def insert_passages(connection: sqlite3.Connection, seq: int, note: Note, passages: Iterable[Passage]) -> list[int]:
    owner = note.audience
    ids = []
    for part, passage in enumerate(passages):
        tokens = indexed_terms(index_tokens(note, passage.text), owner)
        row = connection.execute(
            "INSERT INTO passages (note, part, start, stop, question, owner, length) VALUES (?, ?, ?, ?, ?, ?, ?)",
            (seq, part, passage.start, passage.end, passage.question, owner, len(tokens)),
        )
        ids.append(int(row.lastrowid or 0))
        connection.execute("INSERT INTO words (rowid, tokens) VALUES (?, ?)", (ids[-1], " ".join(tokens)))
    return ids


def outdated(connection: sqlite3.Connection, limit: int) -> dict[int, Note]:
    """Notes that were indexed by older rules, by row number."""
    rows = connection.execute(
        f"SELECT seq, {COLUMNS} FROM notes WHERE index_version < ? LIMIT ?", (INDEX_VERSION, limit)
    )
    return {row[0]: note_of(row[1:]) for row in rows}


def has_outdated(connection: sqlite3.Connection) -> bool:
    row = connection.execute("SELECT 1 FROM notes WHERE index_version < ? LIMIT 1", (INDEX_VERSION,)).fetchone()
    return row is not None


def reindex(connection: sqlite3.Connection, seq: int, note: Note, passages: Iterable[Passage]) -> list[int]:
    """Replace the passages of a note that has not changed since it was read; return the ids of the new ones."""
    if get(connection, note.id) != note:
        return []
    connection.execute("DELETE FROM passages WHERE note = ?", (seq,))
    connection.execute("UPDATE notes SET index_version = ? WHERE seq = ?", (INDEX_VERSION, seq))
    return insert_passages(connection, seq, note, passages)


def page(connection: sqlite3.Connection, *, tag: str | None, limit: int, cursor: str | None, viewer: Viewer) -> Page:
    condition, values = visible(viewer)
    where = [condition]
    if tag is not None:
        where.append("seq IN (SELECT note FROM note_tags WHERE tag = ?)")
        values.append(fold(tag))
    if cursor is not None:
        where.append("(created_at, id) < (?, ?)")
        moment, note_id = decode(cursor)
        values.extend((utc_text(moment), note_id))
    rows = connection.execute(
        f"SELECT {_HEADING} FROM notes WHERE {' AND '.join(where)} ORDER BY created_at DESC, id DESC LIMIT ?",
        (*values, limit + 1),
    ).fetchall()
    notes = [_heading(row) for row in rows[:limit]]
    return Page(notes=notes, next_cursor=encode(notes[-1].created_at, notes[-1].id) if len(rows) > limit else None)


def titles(connection: sqlite3.Connection, passages: Sequence[int]) -> dict[int, tuple[str, str]]:
    """Id and title of each passage's note."""
    found = connection.execute(
        "SELECT p.id, n.id, n.title FROM passages p JOIN notes n ON n.seq = p.note "
        "WHERE p.id IN (SELECT value FROM json_each(?))",
        (json.dumps(passages),),
    )
    return {row[0]: (row[1], row[2]) for row in found}


def tags(connection: sqlite3.Connection, viewer: Viewer) -> list[TagCount]:
    """Tags are indexed folded; the spelling is the most frequent one in the notes."""
    seen, values = visible(viewer)
    spelt = connection.execute(
        f"SELECT t.value, count(*) FROM notes, json_each(notes.tags) t WHERE {seen} GROUP BY 1 ORDER BY 2, 1 DESC",
        values,
    )
    spelling = {fold(tag): tag for tag, _ in spelt}
    found = connection.execute(
        f"SELECT tag, count(*) FROM note_tags JOIN notes ON seq = note WHERE {seen} GROUP BY tag ORDER BY 2 DESC, 1",
        values,
    )
    return [TagCount(tag=spelling.get(tag, tag), count=number) for tag, number in found]


def authors(connection: sqlite3.Connection, viewer: Viewer) -> list[AuthorCount]:
    seen, values = visible(viewer)
    found = connection.execute(
        f"SELECT user_id, count(*) FROM notes WHERE {seen} GROUP BY 1 ORDER BY 2 DESC, 1", values
    )
    return [AuthorCount(author=author, count=number) for author, number in found]


def map_rows(connection: sqlite3.Connection, seqs: Sequence[int]) -> list[tuple[str, str, list[str]]]:
    """Id, title and tags of each note, in the order of `seqs`."""
    found = connection.execute(
        "SELECT seq, id, title, tags FROM notes WHERE seq IN (SELECT value FROM json_each(?))", (json.dumps(seqs),)
    )
    by_seq = {row[0]: (row[1], row[2], json.loads(row[3])) for row in found}
    return [by_seq[seq] for seq in seqs]


def walk(connection: sqlite3.Connection, *, after: str | None, limit: int) -> list[Note]:
    found = connection.execute(f"SELECT {COLUMNS} FROM notes WHERE id > ? ORDER BY id LIMIT ?", (after or "", limit))
    return [note_of(row) for row in found]


def scope(connection: sqlite3.Connection, viewer: Viewer) -> tuple[list[int] | None, list[int]]:
    """The only passages that the viewer sees, or None and the passages that the viewer does not see. Most notes are
    the team's, so the other ones are listed."""
    audiences = json.dumps(viewer.audiences)
    if viewer.sees_team:
        return None, _passages_of(connection, "owner NOT IN (SELECT value FROM json_each(?))", audiences)
    return _passages_of(connection, "owner IN (SELECT value FROM json_each(?))", audiences), []


def _passages_of(connection: sqlite3.Connection, condition: str, audiences: str) -> list[int]:
    found = connection.execute(
        f"SELECT id FROM passages INDEXED BY passages_by_owner WHERE owner IS NOT NULL AND {condition}", (audiences,)
    )
    return [row[0] for row in found]


def count(connection: sqlite3.Connection, viewer: Viewer | None = None) -> int:
    """All notes, or those visible to a viewer. Counting the hidden ones is faster, because they have indexes."""
    if viewer is not None and not viewer.sees_team:
        seen, values = visible(viewer)
        return int(connection.execute(f"SELECT count(*) FROM notes WHERE {seen}", values).fetchone()[0])
    (number,) = connection.execute("SELECT count(*) FROM notes").fetchone()
    if viewer is not None:
        marks = ", ".join("?" for _ in viewer.spaces)
        (hidden,) = connection.execute(
            "SELECT (SELECT count(*) FROM notes WHERE (private OR proposal) AND user_id <> ?)"
            f" + (SELECT count(*) FROM notes WHERE space <> 'team' AND space NOT IN ({marks})"
            " AND NOT ((private OR proposal) AND user_id <> ?))",
            (viewer.user, *sorted(viewer.spaces), viewer.user),
        ).fetchone()
        number -= hidden
    return int(number)


def _delete_replaced(connection: sqlite3.Connection, note: Note, replacing: Note | None) -> None:
    stored = get(connection, note.id)
    if stored != replacing:
        raise ConflictError(Message("knowledge.note_changed" if replacing else "knowledge.note_exists"))
    if stored:
        remove(connection, note.id)


def _insert_note(connection: sqlite3.Connection, note: Note) -> int:
    seq = connection.execute(
        _INSERT,
        (
            note.id,
            note.title,
            note.content,
            json.dumps(note.tags, ensure_ascii=False),
            note.source,
            note.status,
            note.user_id,
            note.origin,
            note.private,
            note.proposal,
            json.dumps(note.questions, ensure_ascii=False),
            json.dumps(note.signatures, ensure_ascii=False),
            note.confirmed_by,
            utc_text(note.confirmed_at) if note.confirmed_at else None,
            utc_text(note.created_at),
            utc_text(note.updated_at),
            json.dumps(note.supersedes, ensure_ascii=False),
            note.anchor and encode_anchor(note.anchor),
            note.space,
            file_name(note.anchor.path if note.anchor else note.source),
            folded_title(note.title),
        ),
    ).lastrowid
    LINKS.write(connection, int(seq or 0), note)
    if note.tags:
        connection.executemany(
            "INSERT OR IGNORE INTO note_tags (tag, note) VALUES (?, ?)",
            [(fold(tag), seq) for tag in note.tags],
        )
    if note.signatures:
        connection.executemany(
            "INSERT OR IGNORE INTO note_signatures (signature, note) VALUES (?, ?)",
            [(signature, seq) for signature in note.signatures],
        )
    if note.supersedes:
        connection.executemany(
            "INSERT OR IGNORE INTO supersessions (older, newer) VALUES (?, ?)",
            [(older, note.id) for older in note.supersedes],
        )
    return int(seq or 0)


def note_of(row: Sequence[Any]) -> Note:
    return Note(
        id=row[0],
        title=row[1],
        content=row[2],
        tags=json.loads(row[3]),
        source=row[4],
        status=row[5],
        user_id=row[6],
        origin=row[7],
        private=bool(row[8]),
        proposal=bool(row[9]),
        questions=json.loads(row[10]),
        signatures=json.loads(row[11]),
        confirmed_by=row[12],
        confirmed_at=datetime.fromisoformat(row[13]) if row[13] else None,
        created_at=datetime.fromisoformat(row[14]),
        updated_at=datetime.fromisoformat(row[15]),
        supersedes=json.loads(row[16]),
        anchor=decode_anchor(row[17]),
        space=row[18],
    )


def _heading(row: Sequence[Any]) -> Heading:
    return Heading(
        id=row[0],
        title=row[1],
        tags=json.loads(row[2]),
        source=row[3],
        status=row[4],
        user_id=row[5],
        space=row[6],
        private=bool(row[7]),
        proposal=bool(row[8]),
        created_at=datetime.fromisoformat(row[9]),
        updated_at=datetime.fromisoformat(row[10]),
        length=row[11],
    )
