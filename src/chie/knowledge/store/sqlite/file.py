"""The SQLite file of notes: its connections, transactions and schema version."""

import sqlite3
from collections.abc import Iterator
from contextlib import closing, contextmanager, suppress
from pathlib import Path

from chie.database.pool import IdleConnections
from chie.database.sqlite import connect, enable_wal, translate_errors
from chie.errors import StorageError
from chie.knowledge.store.sqlite import schema

ERASE_TIMEOUT_MS = 500  # that a deletion waits for readers of the log


class SqliteFile:
    """Opened on first use. A connection serves one thread at a time, then becomes idle."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._idle: IdleConnections[sqlite3.Connection] = IdleConnections()
        self._ready = False

    @contextmanager
    def read(self) -> Iterator[sqlite3.Connection]:
        """A transaction with one consistent view of the file."""
        with self._transaction("BEGIN") as connection:
            yield connection

    @contextmanager
    def write(self) -> Iterator[sqlite3.Connection]:
        """A transaction that is durable when the block ends, and rolled back when it raises."""
        with self._transaction("BEGIN IMMEDIATE") as connection:
            yield connection

    def erase(self) -> None:
        """Overwrite what deleted rows have left in the index of words, which only marks entries as deleted, and in the
        write-ahead log. While another process reads, the log keeps it until that process has ended its transaction."""
        with self.write() as connection:
            connection.execute(schema.ERASE_WORDS)
        with translate_errors(self.path), closing(connect(self.path)) as connection:
            connection.execute(f"PRAGMA busy_timeout = {ERASE_TIMEOUT_MS}")
            connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")

    def close(self) -> None:
        self._idle.close()

    @contextmanager
    def _transaction(self, begin: str) -> Iterator[sqlite3.Connection]:
        with translate_errors(self.path):
            connection = self._idle.take() or self._connect()
            try:
                connection.execute(begin)
                yield connection
                connection.execute("COMMIT")
            except BaseException:
                # SQLite rolls back some failed transactions itself; the first error is the one to report.
                with suppress(sqlite3.Error):
                    connection.rollback()
                raise
            finally:
                self._idle.put(connection)

    def _connect(self) -> sqlite3.Connection:
        connection = connect(self.path)
        if not self._ready:
            self._prepare(connection)
        return connection

    def _prepare(self, connection: sqlite3.Connection) -> None:
        """Create or upgrade the schema; processes that start together wait for the first."""
        connection.execute("BEGIN IMMEDIATE" if schema.version(connection) < schema.VERSION else "BEGIN")
        try:
            version = schema.version(connection)
            if version == 0:
                schema.create(connection)
            elif version < schema.VERSION:
                schema.upgrade(connection, version)
            connection.execute("COMMIT")
        except BaseException:
            connection.rollback()
            raise
        if version > schema.VERSION:
            raise StorageError(
                "database.schema_newer", location=str(self.path), found=version, supported=schema.VERSION
            )
        with suppress(sqlite3.OperationalError):  # another process is busy there; the next connection tries again
            enable_wal(connection.execute)
        self._ready = True
