"""Driver errors become Chie's errors by their SQLite result code or SQLSTATE."""

import sqlite3

import pytest

from chie.database.errors import postgres_error, sqlite_error

LOCATION = "postgresql://h/x"


class DriverError(Exception):
    def __init__(self, state: str | None = None) -> None:
        super().__init__("a secret value")
        self.sqlstate = state


def with_name(name: str) -> sqlite3.Error:
    error = sqlite3.OperationalError("a secret value")
    error.sqlite_errorname = name
    return error


@pytest.mark.parametrize(
    ("name", "code"),
    [
        ("SQLITE_BUSY_SNAPSHOT", "database.file_locked"),
        ("SQLITE_CANTOPEN_ISDIR", "database.file_unopenable"),
        ("SQLITE_CORRUPT", "database.file_corrupt"),
        ("SQLITE_FULL", "database.disk_full"),
        ("SQLITE_IOERR_WRITE", "database.file_io_error"),
        ("SQLITE_NOTADB", "database.file_invalid"),
        ("SQLITE_READONLY_DIRECTORY", "database.file_read_only"),
        ("SQLITE_ERROR", "database.file_unusable"),
    ],
)
def test_sqlite_result_codes(name: str, code: str) -> None:
    error = sqlite_error(with_name(name), "/data/chie.db")
    assert error.code == code
    assert error.message.count("/data/chie.db") >= 1
    assert "secret" not in error.message


def test_full_disk_names_the_disk_that_is_full() -> None:
    error = sqlite_error(with_name("SQLITE_FULL"), "/data/chie.db", disk="/backups")
    assert error.reason.params == {"path": "/backups"}


@pytest.mark.parametrize(
    ("state", "code"),
    [
        ("08006", "database.connection_lost"),
        ("57P01", "database.connection_lost"),
        ("40P01", "database.transaction_conflict"),
        ("53100", "database.server_disk_full"),
        ("53300", "database.connections_exhausted"),
        ("25006", "database.server_read_only"),
        ("42P01", "database.tables_missing"),
        ("XX000", "database.statement_failed"),
        (None, "database.value_unsupported"),
    ],
)
def test_sqlstates(state: str | None, code: str) -> None:
    error = postgres_error(DriverError(state), LOCATION)
    assert error.code == code
    assert LOCATION in error.message
    assert "secret" not in error.message


def test_connection_error_without_a_state_is_a_lost_connection() -> None:
    assert postgres_error(DriverError(), LOCATION, connection_failed=True).code == "database.connection_lost"
