"""SQL for notes that are anchored to code, and for the reports on it."""

import json
import sqlite3
from collections.abc import Mapping, Sequence

from chie.database.cursor import utc_text
from chie.knowledge.anchors.anchor import Anchor, AnchorReport, decode_report, encode
from chie.knowledge.note import Note
from chie.knowledge.store.sqlite.note_table import COLUMNS, note_of
from chie.knowledge.store.sqlite.visibility import visible
from chie.knowledge.viewer import Viewer

_NOTE = ", ".join(f"n.{name.strip()}" for name in COLUMNS.split(","))
_VALID = "notes n JOIN anchor_reports r ON r.note = n.id AND r.anchor = n.anchor"


def anchored(connection: sqlite3.Connection, repository: str, viewer: Viewer, after: str, limit: int) -> list[Note]:
    sql, values = visible(viewer)
    found = connection.execute(
        f"SELECT {COLUMNS} FROM notes WHERE anchor IS NOT NULL AND anchor ->> 'repository' = ? AND {sql} AND id > ?"
        " ORDER BY id LIMIT ?",
        (repository, *values, after, limit),
    )
    return [note_of(row) for row in found]


def read(connection: sqlite3.Connection, note_ids: Sequence[str] | None) -> dict[str, AnchorReport]:
    chosen = "" if note_ids is None else " WHERE n.id IN (SELECT value FROM json_each(?))"
    values = () if note_ids is None else (json.dumps(list(note_ids)),)
    return {
        note: decode_report(report)
        for note, report in connection.execute(f"SELECT n.id, r.report FROM {_VALID}{chosen} ORDER BY n.id", values)
    }


def write(connection: sqlite3.Connection, reports: Mapping[str, tuple[Anchor, AnchorReport]]) -> None:
    """A report on another anchor is replaced, and one on the same if it is of no later commit."""
    connection.executemany(
        "INSERT INTO anchor_reports (note, anchor, report, committed_at) SELECT id, anchor, ?3, ?4 FROM notes"
        " WHERE id = ?1 AND anchor = ?2 ON CONFLICT (note) DO UPDATE SET anchor = excluded.anchor,"
        " report = excluded.report, committed_at = excluded.committed_at"
        " WHERE anchor_reports.anchor <> excluded.anchor OR anchor_reports.committed_at <= excluded.committed_at",
        [
            (note, encode(anchor), encode(report), utc_text(report.committed_at))
            for note, (anchor, report) in reports.items()
        ],
    )


def changed(connection: sqlite3.Connection, viewer: Viewer, limit: int) -> list[tuple[Note, AnchorReport]]:
    sql, values = visible(viewer, "n.")
    found = connection.execute(
        f"SELECT {_NOTE}, r.report FROM {_VALID} WHERE r.report ->> 'state' IN ('changed', 'gone')"
        f" AND {sql} ORDER BY r.committed_at DESC, n.id LIMIT ?",
        (*values, limit),
    )
    return [(note_of(row[:-1]), decode_report(row[-1])) for row in found]


def remove(connection: sqlite3.Connection, note_id: str) -> None:
    connection.execute("DELETE FROM anchor_reports WHERE note = ?", (note_id,))
