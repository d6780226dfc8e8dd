"""Bringing a backup back: looked through before anything is touched, then put in place at once."""

import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

from chie.backup.archive import Manifest, verify
from chie.backup.create import back_up
from chie.backup.database import STAGING_PREFIX, Contents, copy_raw, examine, replace_content
from chie.backup.inventory import DATABASE, Places
from chie.database.errors import DAMAGE_CODES
from chie.errors import StorageError, ValidationError
from chie.files import make_folder

# Archives of earlier versions may have two databases, where CHIE_DATABASE_URL named a file: then all was in that one,
# under this name, and the other was what happened to be in the home.
NAMED_BY_URL = "conversations.db"


@dataclass(frozen=True)
class Restored:
    """`live` where whoever runs goes on with what was brought back; else they must start again.

    `stayed` are the files that were not turned back.
    """

    safety: Path
    live: bool
    stayed: tuple[str, ...] = ()


@dataclass(frozen=True)
class Staged:
    """An unpacked archive that was found whole, and of a schema that this Chie knows."""

    places: Places
    manifest: Manifest
    folder: Path

    def put_in_place(self) -> Restored:
        """What was there is kept first. The database is one step, each file another, the database first."""
        safety = self._keep_what_is_there()
        database = self.database()
        live = replace_content(database, self.places.database) if database else True
        stayed = tuple(str(file) for file in self._files() if self.places.stays(file))
        for file in self._files():
            if str(file) not in stayed:
                self._put_file(file)
        return Restored(safety, live, stayed)

    def database(self) -> Path | None:
        """The one that counts, unpacked; None where the archive has none."""
        names = self._names("databases/")
        if strange := [name for name in names if name not in (DATABASE, NAMED_BY_URL)]:
            raise ValidationError(
                f"this backup has {len(strange)} databases that this Chie does not know. Upgrade Chie, then restore "
                "again. Nothing was changed."
            )
        name = NAMED_BY_URL if NAMED_BY_URL in names else DATABASE
        return self.folder / "databases" / name if name in names else None

    def left_out(self) -> Path | None:
        """The database of an archive with two that does not count."""
        names = self._names("databases/")
        return self.folder / "databases" / DATABASE if {DATABASE, NAMED_BY_URL} <= set(names) else None

    def _files(self) -> list[Path]:
        """Without those that an earlier version kept and this one does not."""
        return [file for file in map(Path, self._names("home/")) if self.places.is_kept(file)]

    def _names(self, folder: str) -> list[str]:
        return [name.removeprefix(folder) for name in self.manifest.items if name.startswith(folder)]

    def _put_file(self, file: Path) -> None:
        target = self.places.home / file
        target.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        (self.folder / "home" / file).replace(target)

    def _keep_what_is_there(self) -> Path:
        stamp = datetime.now(UTC).strftime("%Y%m%dT%H%M%SZ")
        safety = self.places.home / f"before-restore-{stamp}.zip"
        try:
            back_up(self.places, safety)
        except StorageError:  # a damaged database is a reason to be here
            safety = safety.with_suffix("")
            copy_raw(self.places.database, safety)
            for file in self.places.files():
                (safety / file).parent.mkdir(parents=True, exist_ok=True)
                with suppress(FileNotFoundError):  # somebody tidied it away since it was listed
                    shutil.copy2(self.places.home / file, safety / file)
        return safety


@contextmanager
def staged(places: Places, archive: Path) -> Iterator[Staged]:
    """The archive, unpacked and looked through; whatever is left of it afterwards goes."""
    try:
        make_folder(places.home)
        with tempfile.TemporaryDirectory(dir=places.home, prefix=STAGING_PREFIX) as folder:
            manifest = verify(archive, into=Path(folder))
            candidate = Staged(places, manifest, Path(folder))
            if database := candidate.database():
                _bring_up(database)
            yield candidate
    except OSError as error:
        raise StorageError(
            f"{places.home} cannot be used: {error.strerror}. Give this user the right to write there, and enough room."
        ) from error


def _bring_up(database: Path) -> None:
    """To the schema of this Chie, which refuses one that is newer: those who have the file open expect no less."""
    from sqlalchemy import URL

    from chie.chat.sessions.upgrade import upgrade
    from chie.knowledge.store.sqlite.file import SqliteFile

    found = _examine_unpacked(database)
    _refuse_newer(found)
    if found.notes_schema:
        notes = SqliteFile(database)
        try:
            with notes.read():
                pass
        finally:
            notes.close()
    if found.sessions_schema:
        upgrade(URL.create("sqlite", database=str(database)))
    _settle(database)


def _examine_unpacked(database: Path) -> Contents:
    try:
        return examine(database)
    except StorageError as error:
        if error.code not in DAMAGE_CODES:
            raise
        raise StorageError(
            "the database in this backup is damaged. Use another backup. Nothing was changed."
        ) from error


def _refuse_newer(found: Contents) -> None:
    from chie.chat.sessions.upgrade import HEAD
    from chie.knowledge.store.sqlite.schema import VERSION

    if found.notes_schema > VERSION or (found.sessions_schema or "") > HEAD:
        raise ValidationError(
            f"this backup was written by a newer Chie (schema {found.notes_schema}/{found.sessions_schema}; this one "
            f"knows {VERSION}/{HEAD}). Upgrade Chie, then restore again. Nothing was changed."
        )


def _settle(database: Path) -> None:
    """Opening it as our own turned on the log beside it; here everything shall be in the file."""
    import sqlite3
    from contextlib import closing

    with closing(sqlite3.connect(database, isolation_level=None)) as connection:
        connection.execute("PRAGMA journal_mode = DELETE")
