"""A SQLite file: a snapshot while others write, its contents, and an atomic replacement."""

import os
import sqlite3
from collections.abc import Callable, Mapping
from contextlib import closing, suppress
from dataclasses import dataclass, field
from pathlib import Path
from time import monotonic

from chie.database.errors import BUSY_TIMEOUT_SECONDS, DAMAGE_CODES
from chie.database.sqlite import connect_existing, create_private_file, enable_wal, translate_errors
from chie.errors import StorageError
from chie.files import copy_private, make_folder

TABLES = {"notes": "note", "sessions": "conversation", "messages": "message"}
SIDE_FILE_SUFFIXES = ("-wal", "-shm")
STAGING_PREFIX = ".restoring-"  # of everything that belongs to an unfinished restore


@dataclass(frozen=True)
class Contents:
    """`notes_schema` is 0, and `sessions_schema` None, if their tables do not exist yet."""

    notes_schema: int
    sessions_schema: str | None
    counts: dict[str, int]


def describe(counts: Mapping[str, int]) -> str:
    return ", ".join(
        f"{counts[table]:,} {noun}{'' if counts[table] == 1 else 's'}"
        for table, noun in TABLES.items()
        if table in counts
    )


def snapshot(source: Path, target: Path, *, disk: Path) -> Contents:
    """A consistent copy without a write-ahead log. `disk` is the folder to name if the disk is full.

    Other errors name `source`: the copy has the same damage.
    """
    with (
        translate_errors(source, disk=disk),
        closing(connect_existing(source)) as live,
        closing(sqlite3.connect(target, isolation_level=None)) as copy,
    ):
        live.backup(copy, progress=_deadline(source))
        _erase(copy)
        copy.execute("PRAGMA journal_mode = DELETE")
    return examine(target, shown=source)


def examine(path: Path, *, shown: Path | None = None) -> Contents:
    """Raises StorageError if the file is damaged or not a database. `shown` is the path to name in the error."""
    shown = shown or path
    with translate_errors(shown), closing(connect_existing(path)) as connection:
        found = connection.execute("PRAGMA integrity_check(1)").fetchone()
        if found != ("ok",):
            raise StorageError("database.file_corrupt", path=str(shown))
        return _contents(connection)


def replace_content(staged: Path, live: Path, keep_current: Callable[[], object]) -> None:
    """Replace the content of the live file in one transaction. Processes that have it open see the new content.

    `keep_current` saves the content before. It runs inside the transaction, so that every other write is either in
    what it saves, or waits for the new content. SQLite undoes the transaction if this process is killed.
    """
    try:
        create_private_file(live)  # if it is missing: a process that creates it meanwhile would write to another file
    except OSError as error:
        raise _not_writable(live, error) from error
    with (
        translate_errors(live),
        closing(connect_existing(staged)) as source,
        closing(connect_existing(live)) as target,
    ):
        enable_wal(target.execute)  # in other modes the transaction would keep `keep_current` from reading
        _prepare(source, target)
        # The first step begins the transaction and copies one page; the rest follows when its callback returns.
        source.backup(target, pages=1, progress=_FirstStep(_deadline(live), keep_current))


def replace_damaged(staged: Path, live: Path) -> bool:
    """Like `replace_content`; False if the live file was too damaged and had to be replaced by a new file: then
    processes that have it open must be restarted."""
    try:
        replace_content(staged, live, lambda: None)
    except StorageError as error:
        if error.code not in DAMAGE_CODES:
            raise
        _install(staged, live)
        return False
    return True


def copy_damaged(path: Path, folder: Path) -> None:
    """Copy a damaged file byte for byte, so that it can be repaired later."""
    make_folder(folder)
    for file in (path, *_side_files(path)):
        if file.exists():
            copy_private(file, folder / file.name)


def _erase(copy: sqlite3.Connection) -> None:
    """What was deleted before is not in the copy: in the index of words, and in pages that are not used any more."""
    from chie.knowledge.store.sqlite.schema import ERASE_WORDS

    if "words" in _tables(copy):
        copy.execute(ERASE_WORDS)
    copy.execute("VACUUM")


def _prepare(source: sqlite3.Connection, target: sqlite3.Connection) -> None:
    from chie.knowledge.store.sqlite.renumber import renumber_vectors

    size = target.execute("PRAGMA page_size").fetchone()[0]
    if source.execute("PRAGMA page_size").fetchone()[0] != size:  # SQLite copies only between equal page sizes
        source.execute(f"PRAGMA page_size = {size}")
        source.execute("VACUUM")
    renumber_vectors(source, target)
    if source.execute("PRAGMA page_count").fetchone()[0] < 2:
        source.execute("CREATE TABLE padding (x)")
        source.execute("DROP TABLE padding")


def _install(staged: Path, live: Path) -> None:
    """Copy, then rename: the two may be on different disks, and only a rename is atomic."""
    copy = live.with_name(f"{STAGING_PREFIX}{live.name}")
    try:
        make_folder(live.parent)
        copy_private(staged, copy)
        with copy.open("rb") as written:
            os.fsync(written.fileno())
        for file in _side_files(live):  # SQLite would apply the old log to the new file
            file.unlink(missing_ok=True)
        copy.replace(live)
    except OSError as error:
        raise _not_writable(live, error) from error
    finally:
        with suppress(OSError):
            copy.unlink(missing_ok=True)


def _not_writable(live: Path, error: OSError) -> StorageError:
    return StorageError("backup.database_not_writable", path=str(live), reason=error.strerror or "")


def _side_files(path: Path) -> list[Path]:
    return [path.with_name(path.name + suffix) for suffix in SIDE_FILE_SUFFIXES]


def _contents(connection: sqlite3.Connection) -> Contents:
    tables = _tables(connection)
    counts = {
        table: connection.execute(f"SELECT count(*) FROM {table}").fetchone()[0]  # noqa: S608 - our own names
        for table in TABLES
        if table in tables
    }
    version = connection.execute("PRAGMA user_version").fetchone()[0]
    found = None
    if "alembic_version" in tables:
        found = connection.execute("SELECT version_num FROM alembic_version").fetchone()
    return Contents(version, found[0] if found else None, counts)


def _tables(connection: sqlite3.Connection) -> set[str]:
    return {row[0] for row in connection.execute("SELECT name FROM sqlite_master WHERE type = 'table'")}


def _deadline(path: Path) -> "_Deadline":
    return _Deadline(path, monotonic() + BUSY_TIMEOUT_SECONDS)


@dataclass(frozen=True)
class _Deadline:
    """Stops a copy that would otherwise wait indefinitely for another process's lock."""

    path: Path
    until: float

    def __call__(self, status: int, remaining: int, total: int) -> None:  # noqa: ARG002
        if status == sqlite3.SQLITE_BUSY and monotonic() > self.until:
            raise StorageError("database.file_locked", path=str(self.path), seconds=BUSY_TIMEOUT_SECONDS)


@dataclass
class _FirstStep:
    """Calls `then` once, after the first step that got the lock."""

    deadline: _Deadline
    then: Callable[[], object]
    called: bool = field(default=False, init=False)

    def __call__(self, status: int, remaining: int, total: int) -> None:
        self.deadline(status, remaining, total)
        if not self.called and status == sqlite3.SQLITE_OK:
            self.called = True
            self.then()
