"""One SQLite file that many processes share: its connections, and its failures in our words."""

import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from queue import Empty, LifoQueue

from chie.errors import StorageError
from chie.files import make_database
from chie.knowledge.store.sqlite import schema

BUSY_SECONDS = 30.0


class SqliteFile:
    """Opened by the first thing that needs it; a connection serves one thread at a time, then waits in the pool."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._idle: LifoQueue[sqlite3.Connection] = LifoQueue()
        self._ready = False

    @contextmanager
    def read(self) -> Iterator[sqlite3.Connection]:
        """One unchanging view of the file for as long as the block lasts."""
        with self._transaction("BEGIN") as connection:
            yield connection

    @contextmanager
    def write(self) -> Iterator[sqlite3.Connection]:
        """All of the block, on disk when it ends, or none of it."""
        with self._transaction("BEGIN IMMEDIATE") as connection:
            yield connection

    def close(self) -> None:
        with suppress(Empty):
            while True:
                self._idle.get_nowait().close()

    @contextmanager
    def _transaction(self, begin: str) -> Iterator[sqlite3.Connection]:
        with self._in_our_words():
            connection = self._borrow()
            try:
                connection.execute(begin)
                yield connection
                connection.execute("COMMIT")
            except BaseException:
                # SQLite has ended some failed transactions itself; the error that matters is on its way already.
                with suppress(sqlite3.Error):
                    connection.rollback()
                raise
            finally:
                self._idle.put(connection)

    def _borrow(self) -> sqlite3.Connection:
        try:
            return self._idle.get_nowait()
        except Empty:
            return self._connect()

    def _connect(self) -> sqlite3.Connection:
        make_database(self.path)
        connection = sqlite3.connect(self.path, timeout=BUSY_SECONDS, isolation_level=None, check_same_thread=False)
        connection.execute("PRAGMA foreign_keys = ON")
        if not self._ready:
            self._prepare(connection)
        connection.execute("PRAGMA synchronous = FULL")
        return connection

    def _prepare(self, connection: sqlite3.Connection) -> None:
        """Create, upgrade or recognise the schema; processes that start together wait for the first."""
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
                f"{self.path} was written by a newer Chie (schema {version}; this one knows {schema.VERSION}). "
                "Upgrade Chie, or set CHIE_HOME to another folder. The file was not changed."
            )
        _turn_on_wal(connection)
        self._ready = True

    @contextmanager
    def _in_our_words(self) -> Iterator[None]:
        try:
            yield
        except sqlite3.Error as error:
            raise StorageError(_explain(error, self.path)) from error
        except OSError as error:
            raise StorageError(
                f"{self.path.parent} cannot be used: {error.strerror}. "
                "Give this user the right to write there, or set CHIE_HOME to another folder."
            ) from error


def _turn_on_wal(connection: sqlite3.Connection) -> None:
    """Readers and a writer side by side. Kept in the file; while others are busy there, the next opening will do."""
    with suppress(sqlite3.OperationalError):
        if connection.execute("PRAGMA journal_mode").fetchone() != ("wal",):
            connection.execute("PRAGMA journal_mode = WAL")


_EXPLANATIONS = {
    "SQLITE_FULL": "the disk that holds {path} is full. Free some space, then try again. Nothing stored was lost.",
    "SQLITE_READONLY": "{path} cannot be written. Give this user the right to write it and its folder, "
    "or set CHIE_HOME to another folder.",
    "SQLITE_CANTOPEN": "{path} cannot be opened. Give this user the right to read and write it and its folder, "
    "or set CHIE_HOME to another folder.",
    "SQLITE_NOTADB": "{path} is not a Chie database, or it is damaged. Move it away and put a backup in its place, "
    "or set CHIE_HOME to another folder. Nothing in it was changed.",
    "SQLITE_CORRUPT": "{path} is damaged. Stop every Chie, keep a copy of the file, then put a backup in its place, or "
    "try `sqlite3 {path} .recover`. Nothing in it was changed.",
    "SQLITE_BUSY": "another process has kept {path} locked for {seconds:.0f} seconds. Try again; if it stays so, "
    "find that process and stop it.",
    "SQLITE_IOERR": "{path} could not be read or written ({name}). Check the disk and its free space, then try again. "
    "Nothing stored was lost.",
}


def _explain(error: sqlite3.Error, path: Path) -> str:
    """By the result code's first two words: SQLITE_IOERR_WRITE is an SQLITE_IOERR."""
    name = getattr(error, "sqlite_errorname", "an unknown failure")
    family = "_".join(name.split("_")[:2])
    text = _EXPLANATIONS.get(family, "{path} could not be used ({name}). The log has the reason.")
    return text.format(path=path, name=name, seconds=BUSY_SECONDS)
