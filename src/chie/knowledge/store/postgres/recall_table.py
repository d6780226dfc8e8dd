"""SQL for what the memory loop looks up: notes by error and by file, proposals, and what a session was shown."""

from collections.abc import Sequence
from datetime import datetime
from typing import TYPE_CHECKING

from chie.knowledge.note import Note
from chie.knowledge.store.postgres.note_table import COLUMNS, index_key, note_of
from chie.knowledge.store.postgres.visibility import visible, waiting
from chie.knowledge.viewer import Viewer

if TYPE_CHECKING:
    from chie.knowledge.store.postgres.pool import Connection

_SELECT = f"SELECT {COLUMNS} FROM knowledge_notes WHERE"
_NEWEST = "ORDER BY created_at DESC, id DESC LIMIT %s"


def signatures(connection: "Connection", viewer: Viewer, limit: int) -> list[str]:
    seen, values = visible(viewer)
    found = connection.execute(
        f"SELECT unnest(signatures) FROM knowledge_notes WHERE signatures <> '{{}}' AND {seen}"
        " ORDER BY seq DESC LIMIT %s",
        (*values, limit),
    )
    return list(dict.fromkeys(row[0] for row in found))


def by_signature(connection: "Connection", signatures: Sequence[str], viewer: Viewer, limit: int) -> list[Note]:
    seen, values = visible(viewer)
    found = connection.execute(
        f"{_SELECT} signatures && %s::text[] AND signatures <> '{{}}' AND {seen} {_NEWEST}",
        (list(signatures), *values, limit),
    )
    return [note_of(row) for row in found]


def by_source_file(connection: "Connection", name: str, viewer: Viewer, limit: int) -> list[Note]:
    seen, values = visible(viewer)
    found = connection.execute(f"{_SELECT} source_file = %s AND {seen} {_NEWEST}", (index_key(name), *values, limit))
    return [note_of(row) for row in found]


def count_sources(connection: "Connection", part: str, viewer: Viewer) -> int:
    seen, values = visible(viewer)
    row = connection.execute(
        f"SELECT count(*) FROM knowledge_notes WHERE strpos(lower(source), %s) > 0 AND {seen}",
        (part.lower(), *values),
    ).fetchone()
    return int(row[0]) if row else 0


def proposals(connection: "Connection", viewer: Viewer, limit: int) -> list[Note]:
    condition, values = waiting(viewer)
    found = connection.execute(f"{_SELECT} {condition} ORDER BY created_at, id LIMIT %s", (*values, limit))
    return [note_of(row) for row in found]


def count_proposals(connection: "Connection", viewer: Viewer) -> int:
    condition, values = waiting(viewer)
    row = connection.execute(f"SELECT count(*) FROM knowledge_notes WHERE {condition}", values).fetchone()
    return int(row[0]) if row else 0


def shown(connection: "Connection", session: str) -> set[str]:
    return {row[0] for row in connection.execute("SELECT note FROM knowledge_recalls WHERE session = %s", (session,))}


def remember_shown(
    connection: "Connection", session: str, notes: Sequence[str], at: datetime, forget_before: datetime
) -> None:
    connection.execute("DELETE FROM knowledge_recalls WHERE at < %s", (forget_before,))
    with connection.cursor() as cursor:
        cursor.executemany(
            "INSERT INTO knowledge_recalls (session, note, at) VALUES (%s, %s, %s) ON CONFLICT DO NOTHING",
            [(session, note, at) for note in sorted(notes)],
        )
