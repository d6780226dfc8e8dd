"""One SQLite file: a picture of it while others write, what is in it, and another's content in its place."""

import os
import shutil
import sqlite3
from collections.abc import Mapping
from contextlib import closing, suppress
from dataclasses import dataclass
from pathlib import Path
from time import monotonic

from chie.database.errors import BUSY_TIMEOUT_SECONDS, DAMAGE_CODES, sqlite_error
from chie.database.sqlite import connect_existing, translate_errors
from chie.errors import StorageError

TABLES = {"notes": "note", "sessions": "conversation", "messages": "message"}
SIDE_FILES = ("-wal", "-shm")
STAGING = ".restoring-"  # how everything begins that a restore has not finished yet


@dataclass(frozen=True)
class Contents:
    """`notes_schema` is 0 and `sessions_schema` None where there are none of them yet."""

    notes_schema: int
    sessions_schema: str | None
    counts: dict[str, int]


def in_words(counts: Mapping[str, int]) -> str:
    return ", ".join(
        f"{counts[table]:,} {noun}{'' if counts[table] == 1 else 's'}"
        for table, noun in TABLES.items()
        if table in counts
    )


def take_picture(source: Path, target: Path, *, room: Path) -> Contents:
    """As it is at one moment, in one file without a log beside it. `room` is what to call the place of the target.

    What is damaged in the source is so in its copy; where there is no more room, it is the copy that lacks it.
    """
    with (
        translate_errors(source, disk=room),
        closing(connect_existing(source)) as live,
        closing(sqlite3.connect(target, isolation_level=None)) as copy,
    ):
        live.backup(copy, progress=_deadline(source))
        copy.execute("PRAGMA journal_mode = DELETE")
    return examine(target, shown=source)


def examine(path: Path, *, shown: Path | None = None) -> Contents:
    """StorageError for a file that is not a database, or a damaged one. `shown` is the path to name in the error."""
    shown = shown or path
    with translate_errors(shown), closing(connect_existing(path)) as connection:
        found = connection.execute("PRAGMA integrity_check(1)").fetchone()
        if found != ("ok",):
            raise StorageError("database.file_corrupt", path=str(shown))
        return _contents(connection)


def replace_content(staged: Path, live: Path) -> bool:
    """The staged file's content in the live one, all at once; whoever has it open goes on with the new content.

    False where the live file was too damaged for that, so that a new file stands in its place: then whoever has the
    old one open must start again.
    """
    if not live.exists():
        _put_in_place(staged, live)
        return True
    try:
        with closing(connect_existing(staged)) as source, closing(connect_existing(live)) as target:
            _prepare(source, target)
            source.backup(target, progress=_deadline(live))
    except sqlite3.DatabaseError as error:
        translated = sqlite_error(error, live)
        if translated.code not in DAMAGE_CODES:
            raise translated from error
        _put_in_place(staged, live)
        return False
    return True


def copy_raw(path: Path, folder: Path) -> None:
    """A damaged file as it is, for whoever may want to mend it."""
    folder.mkdir(parents=True, exist_ok=True)
    for file in (path, *_side_files(path)):
        if file.exists():
            shutil.copy2(file, folder / file.name)


def _prepare(source: sqlite3.Connection, target: sqlite3.Connection) -> None:
    from chie.knowledge.store.sqlite.renumber import renumber_vectors

    size = target.execute("PRAGMA page_size").fetchone()[0]
    if source.execute("PRAGMA page_size").fetchone()[0] != size:  # or SQLite would refuse
        source.execute(f"PRAGMA page_size = {size}")
        source.execute("VACUUM")
    renumber_vectors(source, target)


def _put_in_place(staged: Path, live: Path) -> None:
    """Copied beside it first: the two may be on different disks, and only a rename is done at once."""
    beside = live.with_name(f"{STAGING}{live.name}")
    try:
        live.parent.mkdir(parents=True, exist_ok=True)
        shutil.copy2(staged, beside)
        with beside.open("rb") as copy:
            os.fsync(copy.fileno())
        for file in _side_files(live):  # a log that belongs to another file would be read as this one's
            file.unlink(missing_ok=True)
        beside.replace(live)
    except OSError as error:
        raise StorageError(
            f"{live} cannot be written: {error.strerror}. Give this user the right to write there, and enough room."
        ) from error
    finally:
        with suppress(OSError):
            beside.unlink(missing_ok=True)


def _side_files(path: Path) -> list[Path]:
    return [path.with_name(path.name + end) for end in SIDE_FILES]


def _contents(connection: sqlite3.Connection) -> Contents:
    tables = {row[0] for row in connection.execute("SELECT name FROM sqlite_master WHERE type = 'table'")}
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


def _deadline(path: Path) -> "_Deadline":
    return _Deadline(path, monotonic() + BUSY_TIMEOUT_SECONDS)


@dataclass(frozen=True)
class _Deadline:
    """SQLite would try for ever where another process keeps the file locked."""

    path: Path
    until: float

    def __call__(self, status: int, remaining: int, total: int) -> None:  # noqa: ARG002
        if status == sqlite3.SQLITE_BUSY and monotonic() > self.until:
            raise StorageError("database.file_locked", path=str(self.path), seconds=BUSY_TIMEOUT_SECONDS)
