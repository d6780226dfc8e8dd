"""SQL for what the memory loop looks up: notes by error and by file, proposals, and what a session was shown."""

import json
import sqlite3
from collections.abc import Sequence
from datetime import datetime

from chie.database.cursor import utc_text
from chie.knowledge.note import Note
from chie.knowledge.store.sqlite.note_table import COLUMNS, note_of
from chie.knowledge.store.sqlite.visibility import visible, waiting
from chie.knowledge.viewer import Viewer

_SELECT = f"SELECT {COLUMNS} FROM notes WHERE"
_NEWEST = "ORDER BY created_at DESC, id DESC LIMIT ?"


def signatures(connection: sqlite3.Connection, viewer: Viewer, limit: int) -> list[str]:
    seen, values = visible(viewer)
    found = connection.execute(
        f"SELECT signature FROM note_signatures JOIN notes ON seq = note WHERE {seen} ORDER BY seq DESC LIMIT ?",
        (*values, limit),
    )
    return list(dict.fromkeys(row[0] for row in found))


def by_signature(connection: sqlite3.Connection, signatures: Sequence[str], viewer: Viewer, limit: int) -> list[Note]:
    seen, values = visible(viewer)
    found = connection.execute(
        f"{_SELECT} seq IN (SELECT note FROM note_signatures WHERE signature IN (SELECT value FROM json_each(?)))"
        f" AND {seen} {_NEWEST}",
        (json.dumps(signatures), *values, limit),
    )
    return [note_of(row) for row in found]


def by_source_file(connection: sqlite3.Connection, name: str, viewer: Viewer, limit: int) -> list[Note]:
    seen, values = visible(viewer)
    found = connection.execute(f"{_SELECT} source_file = ? AND {seen} {_NEWEST}", (name, *values, limit))
    return [note_of(row) for row in found]


def count_sources(connection: sqlite3.Connection, part: str, viewer: Viewer) -> int:
    seen, values = visible(viewer)
    (number,) = connection.execute(
        f"SELECT count(*) FROM notes WHERE instr(lower(source), ?) AND {seen}", (part.lower(), *values)
    ).fetchone()
    return int(number)


def proposals(connection: sqlite3.Connection, viewer: Viewer, limit: int) -> list[Note]:
    condition, values = waiting(viewer)
    found = connection.execute(f"{_SELECT} {condition} ORDER BY created_at, id LIMIT ?", (*values, limit))
    return [note_of(row) for row in found]


def count_proposals(connection: sqlite3.Connection, viewer: Viewer) -> int:
    condition, values = waiting(viewer)
    (number,) = connection.execute(f"SELECT count(*) FROM notes WHERE {condition}", values).fetchone()
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
