"""SQL for the files of imported notes."""

from collections.abc import Mapping
from datetime import UTC
from typing import TYPE_CHECKING

from chie.knowledge.note import ImportedFile

if TYPE_CHECKING:
    from chie.knowledge.store.postgres.pool import Connection


def read(connection: "Connection", user_id: str | None) -> dict[str, ImportedFile]:
    found = connection.execute(
        "SELECT note, vault, path, fingerprint, version FROM knowledge_imports JOIN knowledge_notes ON id = note"
        " WHERE user_id = %(user)s OR %(user)s::text IS NULL ORDER BY note",
        {"user": user_id},
    )
    return {
        note: ImportedFile(vault=vault, path=path, fingerprint=mark, version=version.astimezone(UTC))
        for note, vault, path, mark, version in found
    }


def write(connection: "Connection", files: Mapping[str, ImportedFile]) -> None:
    """Notes that were deleted meanwhile are left out. Rows are locked in the order of ids."""
    rows = [(file.vault, file.path, file.fingerprint, file.version, note) for note, file in sorted(files.items())]
    with connection.cursor() as cursor:
        cursor.executemany(
            "INSERT INTO knowledge_imports (note, vault, path, fingerprint, version)"
            " SELECT id, %s, %s, %s, %s FROM knowledge_notes WHERE id = %s FOR KEY SHARE"
            " ON CONFLICT (note) DO UPDATE SET vault = excluded.vault, path = excluded.path,"
            " fingerprint = excluded.fingerprint, version = excluded.version",
            rows,
        )


def of_note(connection: "Connection", note_id: str) -> ImportedFile | None:
    row = connection.execute(
        "SELECT vault, path, fingerprint, version FROM knowledge_imports WHERE note = %s", (note_id,)
    ).fetchone()
    if row is None:
        return None
    return ImportedFile(vault=row[0], path=row[1], fingerprint=row[2], version=row[3].astimezone(UTC))
