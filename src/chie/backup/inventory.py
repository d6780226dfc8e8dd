"""What there is to keep: the database that is a file, and the operator's own files beside it."""

import os
import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from chie.access.settings import AccessSettings
from chie.database.settings import DatabaseSettings, database_url
from chie.database.url import DatabaseUrl, SqliteUrl
from chie.errors import ConfigurationError
from chie.knowledge.settings import KnowledgeSettings
from chie.settings import load

DATABASE = "chie.db"  # its name in an archive, whatever it is called here
USERS = "users.json"
FOLDERS = ("n8n-backups",)
PASSING = ("connections.json",)  # of this machine alone
UNFINISHED = (".chie-", ".restoring-", ".connections.json.")
NOT_KEPT = (".zip", ".log", ".lock", ".partial", ".chie-backup")

_TURNED_OVER = re.compile(r"\.log\.\d+$")


@dataclass(frozen=True)
class Places:
    """`elsewhere` is what Chie uses and an archive has not. `users` and `audit` may be outside the home."""

    home: Path
    database: Path
    users: Path
    audit: Path | None = None
    elsewhere: tuple[str, ...] = ()

    def files(self) -> Iterator[Path]:
        """Relative to the home."""
        if not self.home.is_dir():
            return
        for path in sorted(self.home.iterdir()):
            if path.is_file() and self.is_kept(path.relative_to(self.home)):
                yield path.relative_to(self.home)
        for folder in FOLDERS:
            yield from sorted(path.relative_to(self.home) for path in _files_below(self.home / folder))

    def is_kept(self, file: Path) -> bool:
        """Whether a file of the home, named relative to it, belongs in an archive, and out of one into a home."""
        if file.parts[0] in FOLDERS:
            return True
        return not (
            file.name.startswith((DATABASE, *UNFINISHED))
            or file.name in PASSING
            or file.suffix in NOT_KEPT
            or _TURNED_OVER.search(file.name)
            or any(file.name.startswith(own.name) for own in (self.database, self.audit) if own and self._is_here(own))
        )

    def stays(self, file: Path) -> bool:
        """Who may come in is not turned back with the rest: a token that was revoked since would open again."""
        target = self.home / file
        return target.exists() and (file == Path(USERS) or target.resolve() == self.users.resolve())

    def _is_here(self, path: Path) -> bool:
        return path.parent.resolve() == self.home.resolve()


def find_places(*, home_only: bool = False) -> Places:
    settings = load(DatabaseSettings)
    access = load(AccessSettings)
    home = settings.home.expanduser()
    url = database_url(settings)
    if not isinstance(url, SqliteUrl) and not home_only:
        raise ConfigurationError(
            "the database is PostgreSQL, which has tools of its own for this. Run: "
            'pg_dump --format=custom --file=chie.dump "$CHIE_DATABASE_URL" (and to bring it back: pg_restore --clean '
            '--if-exists --dbname="$CHIE_DATABASE_URL" chie.dump). Add --home-only for the files in CHIE_HOME.'
        )
    database = url.path.absolute() if isinstance(url, SqliteUrl) else home / DATABASE
    elsewhere = tuple(_elsewhere(url, home / DATABASE, database))
    return Places(home, database, access.users_path, access.audit_path, elsewhere)


def _elsewhere(url: DatabaseUrl, usual: Path, database: Path) -> Iterator[str]:
    if not isinstance(url, SqliteUrl):
        yield "what is in PostgreSQL"
    if usual.exists() and usual.resolve() != database.resolve():
        yield f"{usual}, which is not the file that CHIE_DATABASE_URL names"
    if getattr(load(KnowledgeSettings), "knowledge_store", None) == "vector-search":
        yield "the notes in Vector Search"


def _files_below(folder: Path) -> Iterator[Path]:
    """Tools tidy up there meanwhile; a folder that is gone has nothing to keep."""
    for place, _, names in os.walk(folder):
        yield from (path for name in names if (path := Path(place, name)).is_file())
