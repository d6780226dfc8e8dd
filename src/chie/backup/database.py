"""One SQLite file: a picture of it while others write, what is in it, and another's content in its place."""

import os
import shutil
import sqlite3
from collections.abc import Iterator, Mapping
from contextlib import closing, contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from time import monotonic
from urllib.parse import quote

from chie.errors import StorageError

BUSY_SECONDS = 30.0
TABLES = {"notes": "note", "sessions": "conversation", "messages": "message"}
SIDE_FILES = ("-wal", "-shm")
BRING_BACK = "Bring back a backup with: chie restore FILE"
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


def take_picture(source: Path, target: Path, *, room: str) -> Contents:
    """As it is at one moment, in one file without a log beside it. `room` is what to call the place of the target.

    What is damaged in the source is so in its copy; where there is no more room, it is the copy that lacks it.
    """
    with (
        _in_our_words(str(source), room=room),
        closing(_open(source)) as live,
        closing(sqlite3.connect(target, isolation_level=None)) as copy,
    ):
        live.backup(copy, progress=_deadline(source))
        copy.execute("PRAGMA journal_mode = DELETE")
    return examine(target, name=str(source))


def examine(path: Path, *, name: str | None = None, remedy: str = BRING_BACK) -> Contents:
    """StorageError for a file that is no database, or a damaged one; `name` and `remedy` are for whoever reads it."""
    name = name or str(path)
    with _in_our_words(name, remedy=remedy), closing(_open(path)) as connection:
        found = connection.execute("PRAGMA integrity_check(1)").fetchone()
        if found != ("ok",):
            raise StorageError(f"{name} is damaged: SQLite's own check fails. {remedy}")
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
        with closing(_open(staged)) as source, closing(_open(live)) as target:
            _prepare(source, target)
            source.backup(target, progress=_deadline(live))
    except sqlite3.DatabaseError as error:
        if not is_damage(error):
            raise StorageError(_explain(error, str(live))) from error
        _put_in_place(staged, live)
        return False
    return True


def is_damage(error: sqlite3.Error) -> bool:
    """By SQLite's own word; a file that is locked or may not be opened is whole for all we know."""
    return getattr(error, "sqlite_errorname", "").split("_")[:2][-1:] in (["NOTADB"], ["CORRUPT"])


def copy_raw(path: Path, folder: Path) -> None:
    """A damaged file as it is, for whoever may want to mend it."""
    folder.mkdir(parents=True, exist_ok=True)
    for file in (path, *_side_files(path)):
        if file.exists():
            shutil.copy2(file, folder / file.name)


def _prepare(source: sqlite3.Connection, target: sqlite3.Connection) -> None:
    from chie.knowledge.store.sqlite.renumber import succeed

    size = target.execute("PRAGMA page_size").fetchone()[0]
    if source.execute("PRAGMA page_size").fetchone()[0] != size:  # or SQLite would refuse
        source.execute(f"PRAGMA page_size = {size}")
        source.execute("VACUUM")
    succeed(source, target)


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


def _open(path: Path) -> sqlite3.Connection:
    uri = f"file:{quote(str(path))}?mode=rw"
    return sqlite3.connect(uri, uri=True, timeout=BUSY_SECONDS, isolation_level=None)


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
    return _Deadline(path, monotonic() + BUSY_SECONDS)


@dataclass(frozen=True)
class _Deadline:
    """SQLite would try for ever where another process keeps the file locked."""

    path: Path
    until: float

    def __call__(self, status: int, remaining: int, total: int) -> None:  # noqa: ARG002
        if status == sqlite3.SQLITE_BUSY and monotonic() > self.until:
            raise StorageError(
                f"another process has kept {self.path} locked for {BUSY_SECONDS:.0f} seconds. Nothing was changed. "
                "Try again; if it stays so, find that process and stop it."
            )


@contextmanager
def _in_our_words(name: str, *, room: str | None = None, remedy: str = BRING_BACK) -> Iterator[None]:
    try:
        yield
    except sqlite3.Error as error:
        raise StorageError(_explain(error, name, room=room, remedy=remedy)) from error


def _explain(error: sqlite3.Error, name: str, *, room: str | None = None, remedy: str = BRING_BACK) -> str:
    code = getattr(error, "sqlite_errorname", "an unknown failure")
    if code in ("SQLITE_NOTADB", "SQLITE_CORRUPT"):
        return f"{name} is damaged, or not a database of Chie's. {remedy}"
    if code == "SQLITE_FULL":
        return f"the disk that holds {room or name} is full. Free some space, then try again. Nothing was changed."
    return f"{name} could not be used ({code}). Check the disk and the rights of its folder, then try again."
