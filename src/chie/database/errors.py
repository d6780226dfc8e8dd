"""SQLite and PostgreSQL errors as Chie's errors. A driver's own text may hold values: it stays the cause, for the log.

Drivers are recognised by the attributes of their errors, so that this module imports none of them.
"""

from pathlib import Path

from chie.errors import ChieError, StorageError, ValidationError

BUSY_TIMEOUT_SECONDS = 30  # SQLite waits this long for another process's lock

_SQLITE_CODES = {
    "SQLITE_BUSY": "database.file_locked",
    "SQLITE_CANTOPEN": "database.file_unopenable",
    "SQLITE_CORRUPT": "database.file_corrupt",
    "SQLITE_FULL": "database.disk_full",
    "SQLITE_IOERR": "database.file_io_error",
    "SQLITE_NOTADB": "database.file_invalid",
    "SQLITE_READONLY": "database.file_read_only",
}
# By SQLSTATE, or by its class, which is the first two characters.
_POSTGRES_CODES = {
    "08": "database.connection_lost",
    "25006": "database.server_read_only",
    "40": "database.transaction_conflict",
    "42501": "database.permission_denied",
    "42P01": "database.tables_missing",
    "53100": "database.server_disk_full",
    "53300": "database.connections_exhausted",
    "55P03": "database.lock_timeout",
    "57014": "database.statement_timeout",
}
SHUTDOWN_STATES = ("57P01", "57P02", "57P03")  # admin shutdown, crash shutdown, cannot connect now
DAMAGE_CODES = ("database.file_corrupt", "database.file_invalid")


def sqlite_error(error: Exception, path: Path | str, *, disk: Path | str | None = None) -> StorageError:
    """By the first two words of the result code: SQLITE_IOERR_WRITE is an SQLITE_IOERR. `disk` names what lies on a
    full disk where that is not the database itself."""
    name = getattr(error, "sqlite_errorname", "")
    code = _SQLITE_CODES.get("_".join(name.split("_")[:2]))
    if code is None or code == "database.file_io_error":
        return StorageError(code or "database.file_unusable", path=str(path), name=name or type(error).__name__)
    if code == "database.file_locked":
        return StorageError(code, path=str(path), seconds=BUSY_TIMEOUT_SECONDS)
    return StorageError(code, path=str(disk or path) if code == "database.disk_full" else str(path))


def folder_error(error: OSError, folder: Path) -> StorageError:
    return StorageError("database.folder_unusable", folder=str(folder), reason=error.strerror or type(error).__name__)


def text_error() -> ValidationError:
    """Of a text that no database takes."""
    return ValidationError("database.text_unsupported")


def postgres_error(error: Exception, location: str, *, connection_failed: bool = False) -> ChieError:
    """`connection_failed` tells a broken connection from a value that the driver rejects; neither has a SQLSTATE."""
    if isinstance(error, UnicodeEncodeError) or (type(error).__name__ == "DataError" and "NUL" in str(error)):
        return text_error()
    state = getattr(error, "sqlstate", None) or ""
    if state in SHUTDOWN_STATES or (not state and connection_failed):
        return StorageError("database.connection_lost", location=location)
    if not state:
        return StorageError("database.value_unsupported", location=location)
    if code := _POSTGRES_CODES.get(state) or _POSTGRES_CODES.get(state[:2]):
        return StorageError(code, location=location)
    return StorageError("database.statement_failed", location=location, state=state)
