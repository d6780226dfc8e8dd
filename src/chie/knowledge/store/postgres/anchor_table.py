"""SQL for notes that are anchored to code, and for the reports on it."""

from collections.abc import Mapping, Sequence
from datetime import UTC
from typing import TYPE_CHECKING

from chie.knowledge.anchors.anchor import Anchor, AnchorReport, decode_report, encode
from chie.knowledge.note import Note
from chie.knowledge.store.postgres.note_table import COLUMNS, is_storable, note_of
from chie.knowledge.store.postgres.visibility import visible
from chie.knowledge.viewer import Viewer

if TYPE_CHECKING:
    from chie.knowledge.store.postgres.pool import Connection

_NOTE = ", ".join(f"n.{name.strip()}" for name in COLUMNS.split(","))
_VALID = "knowledge_notes n JOIN knowledge_anchor_reports r ON r.note = n.id AND r.anchor = n.anchor"


def anchored(connection: "Connection", repository: str, viewer: Viewer, after: str, limit: int) -> list[Note]:
    if not (is_storable(repository) and is_storable(after)):
        return []
    sql, values = visible(viewer)
    found = connection.execute(
        f"SELECT {COLUMNS} FROM knowledge_notes WHERE anchor IS NOT NULL AND anchor ->> 'repository' = %s"
        f" AND {sql} AND id > %s ORDER BY id LIMIT %s",
        (repository, *values, after, limit),
    )
    return [note_of(row) for row in found]


def read(connection: "Connection", note_ids: Sequence[str] | None) -> dict[str, AnchorReport]:
    chosen = "" if note_ids is None else " WHERE n.id = ANY(%s)"
    values = () if note_ids is None else (list(note_ids),)
    found = connection.execute(f"SELECT n.id, r.report FROM {_VALID}{chosen} ORDER BY n.id", values)
    return {note: decode_report(report) for note, report in found}


def write(connection: "Connection", reports: Mapping[str, tuple[Anchor, AnchorReport]]) -> None:
    """A report on another anchor is replaced, and one on the same if it is of no later commit. In the order of ids, so
    that two reports at once cannot deadlock."""
    with connection.cursor() as cursor:
        cursor.executemany(
            "INSERT INTO knowledge_anchor_reports AS r (note, anchor, report, committed_at)"
            " SELECT id, anchor, %s::jsonb, %s FROM knowledge_notes WHERE id = %s AND anchor = %s::jsonb"
            " ON CONFLICT (note) DO UPDATE SET anchor = excluded.anchor, report = excluded.report,"
            " committed_at = excluded.committed_at"
            " WHERE r.anchor <> excluded.anchor OR r.committed_at <= excluded.committed_at",
            [
                (encode(report), report.committed_at.astimezone(UTC), note, encode(anchor))
                for note, (anchor, report) in sorted(reports.items())
                if is_storable(note)
            ],
        )


def changed(connection: "Connection", viewer: Viewer, limit: int) -> list[tuple[Note, AnchorReport]]:
    sql, values = visible(viewer, "n.")
    found = connection.execute(
        f"SELECT {_NOTE}, r.report FROM {_VALID} WHERE r.report ->> 'state' IN ('changed', 'gone')"
        f" AND {sql} ORDER BY r.committed_at DESC, n.id LIMIT %s",
        (*values, limit),
    )
    return [(note_of(row[:-1]), decode_report(row[-1])) for row in found]
