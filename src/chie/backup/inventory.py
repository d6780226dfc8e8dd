"""What a backup includes: the SQLite database, and the files in `CHIE_HOME`."""

import os
import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from chie.access.settings import AccessSettings
from chie.database.settings import DATABASE_FILE, DatabaseSettings, database_url
from chie.database.url import DatabaseUrl, SqliteUrl
from chie.errors import ConfigurationError
from chie.knowledge.settings import KnowledgeSettings
from chie.messages.catalogue import Message
from chie.settings import load

ARCHIVED_DATABASE = "chie.db"  # its name in an archive, whatever the live file is called
USERS = "users.json"
FOLDERS = ("n8n-backups",)
MACHINE_SPECIFIC = ("connections.json", "secret.key")  # the key would open the encrypted texts of the database
TEMPORARY_PREFIXES = (".chie-", ".restoring-", ".connections.json.")
EXCLUDED_SUFFIXES = (".zip", ".log", ".lock", ".part", ".partial", ".chie-backup")

_ROTATED_LOG = re.compile(r"\.log\.\d+$")


@dataclass(frozen=True)
class Inventory:
    """`users` and `audit` may be outside `home`. `excluded` lists data that a backup does not include."""

    home: Path
    database: Path
    users: Path
    audit: Path | None = None
    excluded: tuple[Message, ...] = ()

    def files(self) -> Iterator[Path]:
        """The files to back up, relative to `home`."""
        if not self.home.is_dir():
            return
        for path in sorted(self.home.iterdir()):
            if path.is_file() and self.includes(path.relative_to(self.home)):
                yield path.relative_to(self.home)
        for folder in FOLDERS:
            yield from sorted(path.relative_to(self.home) for path in _files_below(self.home / folder))

    def includes(self, file: Path) -> bool:
        """Whether a file, relative to `home`, is backed up and restored."""
        if file.parts[0] in FOLDERS:
            return True
        return not (
            file.name.startswith((ARCHIVED_DATABASE, *TEMPORARY_PREFIXES))
            or file.name in MACHINE_SPECIFIC
            or file.suffix in EXCLUDED_SUFFIXES
            or _ROTATED_LOG.search(file.name)
            or any(file.name.startswith(own.name) for own in (self.database, self.audit) if own and self._in_home(own))
        )

    def must_not_change(self, file: Path) -> bool:
        """An existing list of users is not replaced: tokens revoked since the backup would become valid again."""
        target = self.home / file
        return target.exists() and (file == Path(USERS) or target.resolve() == self.users.resolve())

    def _in_home(self, path: Path) -> bool:
        return path.parent.resolve() == self.home.resolve()


def load_inventory(*, home_only: bool = False) -> Inventory:
    settings = load(DatabaseSettings)
    access = load(AccessSettings)
    home = settings.home.expanduser()
    url = database_url(settings)
    if not isinstance(url, SqliteUrl) and not home_only:
        raise ConfigurationError("backup.postgres_not_supported")
    database = url.path.absolute() if isinstance(url, SqliteUrl) else home / DATABASE_FILE
    excluded = tuple(_excluded(url, home / DATABASE_FILE, database))
    return Inventory(home, database, access.users_path, access.audit_path, excluded)


def _excluded(url: DatabaseUrl, default: Path, database: Path) -> Iterator[Message]:
    if not isinstance(url, SqliteUrl):
        yield Message("backup.postgres_excluded")
    if default.exists() and default.resolve() != database.resolve():
        yield Message("backup.unused_database_excluded", path=str(default))
    if load(KnowledgeSettings).knowledge_store == "vector-search":
        yield Message("backup.vector_search_excluded")


def _files_below(folder: Path) -> Iterator[Path]:
    """Files and folders may be deleted meanwhile; `os.walk` skips a missing folder."""
    for parent, _, names in os.walk(folder):
        yield from (path for name in names if (path := Path(parent, name)).is_file())
