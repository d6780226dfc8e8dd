"""SQL for what the memory loop looks up: notes by error and by file, proposals, and what a session was shown."""

import json
import sqlite3
from collections.abc import Sequence
from datetime import datetime

from chie.database.cursor import utc_text
from chie.knowledge.note import Note
from chie.knowledge.store.sqlite.note_table import COLUMNS, VISIBLE, note_of

_SELECT = f"SELECT {COLUMNS} FROM notes WHERE"
_NEWEST = "ORDER BY created_at DESC, id DESC LIMIT ?"


def signatures(connection: sqlite3.Connection, viewer: str, limit: int) -> list[str]:
    found = connection.execute(
        f"SELECT signature FROM note_signatures JOIN notes ON seq = note WHERE {VISIBLE} ORDER BY seq DESC LIMIT ?",
        (viewer, limit),
    )
    return list(dict.fromkeys(row[0] for row in found))


def by_signature(connection: sqlite3.Connection, signatures: Sequence[str], viewer: str, limit: int) -> list[Note]:
    found = connection.execute(
        f"{_SELECT} seq IN (SELECT note FROM note_signatures WHERE signature IN (SELECT value FROM json_each(?)))"
        f" AND {VISIBLE} {_NEWEST}",
        (json.dumps(signatures), viewer, limit),
    )
    return [note_of(row) for row in found]


def by_source_file(connection: sqlite3.Connection, name: str, viewer: str, limit: int) -> list[Note]:
    found = connection.execute(f"{_SELECT} source_file = ? AND {VISIBLE} {_NEWEST}", (name, viewer, limit))
    return [note_of(row) for row in found]


def count_sources(connection: sqlite3.Connection, part: str, viewer: str) -> int:
    (number,) = connection.execute(
        f"SELECT count(*) FROM notes WHERE instr(lower(source), ?) AND {VISIBLE}", (part.lower(), viewer)
    ).fetchone()
    return int(number)


def proposals(connection: sqlite3.Connection, viewer: str, limit: int) -> list[Note]:
    found = connection.execute(
        f"{_SELECT} proposal AND (NOT private OR user_id = ?) ORDER BY created_at, id LIMIT ?", (viewer, limit)
    )
    return [note_of(row) for row in found]


def count_proposals(connection: sqlite3.Connection, viewer: str) -> int:
    (number,) = connection.execute(
        "SELECT count(*) FROM notes WHERE proposal AND (NOT private OR user_id = ?)", (viewer,)
    ).fetchone()
    return int(number)


def shown(connection: sqlite3.Connection, session: str) -> set[str]:
    return {row[0] for row in connection.execute("SELECT note FROM recalls WHERE session = ?", (session,))}


def remember_shown(
    connection: sqlite3.Connection, session: str, notes: Sequence[str], at: datetime, forget_before: datetime
) -> None:
    connection.execute("DELETE FROM recalls WHERE at < ?", (utc_text(forget_before),))
    connection.executemany(
        "INSERT OR IGNORE INTO recalls (session, note, at) VALUES (?, ?, ?)",
        [(session, note, utc_text(at)) for note in notes],
    )
