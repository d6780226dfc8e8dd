"""What there is to keep: the databases that are files, and the operator's own files beside them."""

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from chie.chat.sessions.settings import DatabaseSettings, database_url
from chie.errors import ConfigurationError
from chie.knowledge.settings import KnowledgeSettings
from chie.settings import load

DATABASE = "chie.db"
CONVERSATIONS = "conversations.db"  # where CHIE_DATABASE_URL names a file of its own
FOLDERS = ("n8n-backups",)
PASSING = ("connections.json",)  # of this machine alone
UNFINISHED = (".chie-", ".restoring-", ".connections.json.")
NOT_KEPT = (".zip", ".log", ".lock", ".partial", ".chie-backup")


@dataclass(frozen=True)
class Places:
    """`databases` by their names in an archive; `elsewhere` is what Chie uses and an archive has not."""

    home: Path
    databases: dict[str, Path]
    elsewhere: tuple[str, ...] = ()

    def files(self) -> Iterator[Path]:
        """Relative to the home."""
        if not self.home.is_dir():
            return
        for path in sorted(self.home.iterdir()):
            if path.is_file() and self._is_kept(path):
                yield path.relative_to(self.home)
        for folder in FOLDERS:
            yield from sorted(p.relative_to(self.home) for p in (self.home / folder).rglob("*") if p.is_file())

    def _is_kept(self, path: Path) -> bool:
        return not (
            path.name.startswith((DATABASE, *UNFINISHED))
            or path.name in PASSING
            or path.suffix in NOT_KEPT
            or any(path.name.startswith(database.name) for database in self.databases.values())
        )


def find_places(*, home_only: bool = False) -> Places:
    settings = load(DatabaseSettings)
    home = settings.home.expanduser()
    databases = {DATABASE: home / DATABASE}
    url = database_url(settings)
    if url.get_backend_name() == "sqlite":
        if url.database and Path(url.database) != databases[DATABASE]:
            databases[CONVERSATIONS] = Path(url.database)
    elif not home_only:
        raise ConfigurationError(
            "the database is PostgreSQL, which has tools of its own for this. Run: "
            'pg_dump --format=custom --file=chie.dump "$CHIE_DATABASE_URL" (and to bring it back: pg_restore --clean '
            '--if-exists --dbname="$CHIE_DATABASE_URL" chie.dump). Add --home-only for the files in CHIE_HOME.'
        )
    return Places(home, databases, tuple(_elsewhere(url.get_backend_name())))


def _elsewhere(backend: str) -> Iterator[str]:
    if backend != "sqlite":
        yield "what is in PostgreSQL"
    if getattr(load(KnowledgeSettings), "knowledge_store", None) == "vector-search":
        yield "the notes in Vector Search"
