"""SQL for links between notes, which are found in their texts."""

import json
import sqlite3
from collections.abc import Sequence

from chie.knowledge.note import Note, NoteLink
from chie.knowledge.search.query import ascii_lower
from chie.knowledge.store.sqlite.note_table import COLUMNS, note_of
from chie.knowledge.store.sqlite.visibility import visible
from chie.knowledge.viewer import Viewer


def titled(connection: sqlite3.Connection, titles: Sequence[str], viewer: Viewer) -> list[NoteLink]:
    sql, values = visible(viewer)
    found = connection.execute(
        f"SELECT id, title FROM notes WHERE lower(title) IN (SELECT value FROM json_each(?)) AND {sql}"
        " ORDER BY created_at, id",
        (json.dumps([ascii_lower(title) for title in titles]), *values),
    )
    return [NoteLink(id=note, title=title) for note, title in found]


def mentioning(connection: sqlite3.Connection, texts: Sequence[str], viewer: Viewer, limit: int) -> list[Note]:
    sql, values = visible(viewer)
    found = connection.execute(
        f"SELECT {COLUMNS} FROM notes WHERE EXISTS (SELECT 1 FROM json_each(?) WHERE instr(lower(content), value))"
        f" AND {sql} ORDER BY created_at DESC, id DESC LIMIT ?",
        (json.dumps([ascii_lower(text) for text in texts]), *values, limit),
    )
    return [note_of(row) for row in found]
