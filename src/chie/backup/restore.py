"""Restoring a backup: verified before anything is changed, then installed."""

import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

from chie.backup.archive import Manifest, verify
from chie.backup.create import back_up
from chie.backup.database import STAGING_PREFIX, Contents, copy_damaged, examine, replace_content, replace_damaged
from chie.backup.inventory import ARCHIVED_DATABASE, Inventory
from chie.database.errors import DAMAGE_CODES
from chie.errors import StorageError, ValidationError
from chie.files import copy_private, make_folder

# Archives of earlier versions may have two databases if CHIE_DATABASE_URL named a file. That file has this name in the
# archive and holds all data; the other one is an unused file in CHIE_HOME.
CONFIGURED_DATABASE = "conversations.db"


@dataclass(frozen=True)
class Restored:
    """`previous` is a backup of the state before; `unchanged` are the files that were not restored.

    `restart_needed` if running processes still have the old database open.
    """

    previous: Path
    restart_needed: bool
    unchanged: tuple[str, ...] = ()


@dataclass(frozen=True)
class UnpackedBackup:
    """An unpacked archive that is intact and has a supported schema."""

    inventory: Inventory
    manifest: Manifest
    folder: Path

    def install(self) -> Restored:
        """Back up the current state, then replace the database and each file, every one atomically."""
        previous, restart_needed = self._install_database()
        unchanged = tuple(str(file) for file in self._files() if self.inventory.must_not_change(file))
        for file in self._files():
            if str(file) not in unchanged:
                self._install_file(file)
        return Restored(previous, restart_needed, unchanged)

    def database(self) -> Path | None:
        """The unpacked database to restore; None if the archive has none."""
        names = self._names("databases/")
        if unknown := [name for name in names if name not in (ARCHIVED_DATABASE, CONFIGURED_DATABASE)]:
            raise ValidationError("backup.database_unknown", count=len(unknown))
        name = CONFIGURED_DATABASE if CONFIGURED_DATABASE in names else ARCHIVED_DATABASE
        return self.folder / "databases" / name if name in names else None

    def unused_database(self) -> Path | None:
        """The database that is not restored, in an archive with two."""
        both = {ARCHIVED_DATABASE, CONFIGURED_DATABASE} <= set(self._names("databases/"))
        return self.folder / "databases" / ARCHIVED_DATABASE if both else None

    def _files(self) -> list[Path]:
        """Without files that only earlier versions backed up."""
        return [file for file in map(Path, self._names("home/")) if self.inventory.includes(file)]

    def _names(self, folder: str) -> list[str]:
        return [name.removeprefix(folder) for name in self.manifest.items if name.startswith(folder)]

    def _install_file(self, file: Path) -> None:
        target = self.inventory.home / file
        make_folder(target.parent)
        (self.folder / "home" / file).replace(target)

    def _install_database(self) -> tuple[Path, bool]:
        """Where the state before is, and whether running processes must be restarted."""
        stamp = datetime.now(UTC).strftime("%Y%m%dT%H%M%SZ")
        target = self.inventory.home / f"before-restore-{stamp}.zip"
        database = self.database()
        try:
            if database is None:
                back_up(self.inventory, target)
            else:
                replace_content(database, self.inventory.database, lambda: back_up(self.inventory, target))
        except StorageError as error:
            if error.code not in DAMAGE_CODES:
                raise
            target = target.with_suffix("")
            self._copy_current(target)
            return target, database is not None and not replace_damaged(database, self.inventory.database)
        return target, False

    def _copy_current(self, folder: Path) -> None:
        copy_damaged(self.inventory.database, folder)
        for file in self.inventory.files():
            make_folder((folder / file).parent)
            with suppress(FileNotFoundError):  # deleted since it was listed
                copy_private(self.inventory.home / file, folder / file)


@contextmanager
def unpacked(inventory: Inventory, archive: Path) -> Iterator[UnpackedBackup]:
    """Unpack and verify the archive in a temporary folder, with its database upgraded."""
    home = inventory.home
    try:
        make_folder(home)
        with tempfile.TemporaryDirectory(dir=home, prefix=STAGING_PREFIX) as folder:
            manifest = verify(archive, into=Path(folder))
            backup = UnpackedBackup(inventory, manifest, Path(folder))
            if database := backup.database():
                _upgrade(database)
            yield backup
    except OSError as error:
        raise StorageError("backup.home_unusable", home=str(home), reason=error.strerror or "") from error


def _upgrade(database: Path) -> None:
    """To the current schema, which running processes expect. A newer schema is rejected."""
    from sqlalchemy import URL

    from chie.chat.sessions.upgrade import upgrade
    from chie.knowledge.store.sqlite.file import SqliteFile

    found = _examine_unpacked(database)
    _reject_newer(found)
    if found.notes_schema:
        notes = SqliteFile(database)
        try:
            with notes.read():
                pass
        finally:
            notes.close()
    if found.sessions_schema:
        upgrade(URL.create("sqlite", database=str(database)))
    _merge_log(database)


def _examine_unpacked(database: Path) -> Contents:
    try:
        return examine(database)
    except StorageError as error:
        if error.code not in DAMAGE_CODES:
            raise
        raise StorageError("backup.database_damaged") from error


def _reject_newer(found: Contents) -> None:
    from chie.chat.sessions.upgrade import HEAD
    from chie.knowledge.store.sqlite.schema import VERSION

    if found.notes_schema > VERSION or (found.sessions_schema or "") > HEAD:
        raise ValidationError(
            "backup.schema_newer",
            found=f"{found.notes_schema}/{found.sessions_schema}",
            supported=f"{VERSION}/{HEAD}",
        )


def _merge_log(database: Path) -> None:
    """The upgrade turned on the write-ahead log; only the database file itself is installed."""
    import sqlite3
    from contextlib import closing

    with closing(sqlite3.connect(database, isolation_level=None)) as connection:
        connection.execute("PRAGMA journal_mode = DELETE")
