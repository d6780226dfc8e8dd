"""SQL for the files of imported notes."""

import sqlite3
from collections.abc import Mapping
from datetime import datetime

from chie.database.cursor import utc_text
from chie.knowledge.note import ImportedFile


def read(connection: sqlite3.Connection, user_id: str | None) -> dict[str, ImportedFile]:
    found = connection.execute(
        "SELECT note, vault, path, fingerprint, version FROM imports JOIN notes ON id = note WHERE user_id = ?1"
        " OR ?1 IS NULL ORDER BY note",
        (user_id,),
    )
    return {
        note: ImportedFile(vault=vault, path=path, fingerprint=mark, version=datetime.fromisoformat(version))
        for note, vault, path, mark, version in found
    }


def write(connection: sqlite3.Connection, files: Mapping[str, ImportedFile]) -> None:
    connection.executemany(
        "INSERT OR REPLACE INTO imports (note, vault, path, fingerprint, version) VALUES (?, ?, ?, ?, ?)",
        [(note, file.vault, file.path, file.fingerprint, utc_text(file.version)) for note, file in files.items()],
    )


def remove(connection: sqlite3.Connection, note_id: str) -> ImportedFile | None:
    """Return the file of a note that was imported."""
    row = connection.execute(
        "DELETE FROM imports WHERE note = ? RETURNING vault, path, fingerprint, version", (note_id,)
    ).fetchone()
    return row and ImportedFile(vault=row[0], path=row[1], fingerprint=row[2], version=datetime.fromisoformat(row[3]))
