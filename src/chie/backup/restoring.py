"""Bringing a backup back: looked through before anything is touched, then put in place at once."""

import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

from chie.backup.archive import Manifest, verify
from chie.backup.database import Contents, copy_raw, examine, replace_content
from chie.backup.places import CONVERSATIONS, Places
from chie.backup.saving import back_up
from chie.errors import StorageError, ValidationError

STAGING = ".restoring-"  # beside what it will replace, so that putting it there is a rename


@dataclass(frozen=True)
class Restored:
    """`live` where whoever runs goes on with what was brought back; else they must start again."""

    safety: Path
    live: bool


@dataclass(frozen=True)
class Staged:
    """An unpacked archive that was found whole, and of a schema that this Chie knows."""

    places: Places
    manifest: Manifest
    folder: Path

    def put_in_place(self) -> Restored:
        """What was there is kept first. The database is one step, each file another, the database first."""
        safety = self._keep_what_is_there()
        live = True
        for name, target in self.databases().items():
            live = replace_content(self.folder / "databases" / name, target) and live
        for file in self._files():
            target = self.places.home / file
            target.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
            (self.folder / "home" / file).replace(target)
        return Restored(safety, live)

    def databases(self) -> dict[str, Path]:
        """Where each of its databases goes."""
        wanted = [name.removeprefix("databases/") for name in self.manifest.items if name.startswith("databases/")]
        if missing := [name for name in wanted if name not in self.places.databases]:
            raise ValidationError(
                f"this backup has conversations in a file of their own ({missing[0]}). Set CHIE_DATABASE_URL to where "
                "they shall go, as in sqlite:////folder/conversations.db, then try again. Nothing was changed."
            )
        return {name: self.places.databases[name] for name in wanted}

    def _files(self) -> list[str]:
        return [name.removeprefix("home/") for name in self.manifest.items if name.startswith("home/")]

    def _keep_what_is_there(self) -> Path:
        stamp = datetime.now(UTC).strftime("%Y%m%dT%H%M%SZ")
        safety = self.places.home / f"before-restore-{stamp}.zip"
        try:
            back_up(self.places, safety)
        except StorageError:  # a damaged database is a reason to be here
            safety = safety.with_suffix("")
            for database in self.places.databases.values():
                copy_raw(database, safety)
            for file in self.places.files():
                (safety / file).parent.mkdir(parents=True, exist_ok=True)
                shutil.copy2(self.places.home / file, safety / file)
        return safety


@contextmanager
def staged(places: Places, archive: Path) -> Iterator[Staged]:
    """The archive, unpacked and looked through; whatever is left of it afterwards goes."""
    try:
        places.home.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(dir=places.home, prefix=STAGING) as folder:
            manifest = verify(archive, into=Path(folder))
            candidate = Staged(places, manifest, Path(folder))
            for name in candidate.databases():
                _bring_up(Path(folder) / "databases" / name, conversations_alone=name == CONVERSATIONS)
            yield candidate
    except OSError as error:
        raise StorageError(
            f"{places.home} cannot be used: {error.strerror}. Give this user the right to write there, and enough room."
        ) from error


def _bring_up(database: Path, *, conversations_alone: bool) -> None:
    """To the schema of this Chie, which refuses one that is newer: those who have the file open expect no less."""
    from sqlalchemy import URL

    from chie.chat.sessions.upgrade import upgrade
    from chie.knowledge.store.sqlite.file import SqliteFile

    found = examine(database)
    _refuse_newer(found)
    if found.notes_schema and not conversations_alone:
        notes = SqliteFile(database)
        try:
            with notes.read():
                pass
        finally:
            notes.close()
    if found.sessions_schema:
        upgrade(URL.create("sqlite", database=str(database)))
    _settle(database)


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
