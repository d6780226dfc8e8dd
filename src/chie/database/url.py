"""Database URLs: parsing, and a form without credentials for messages."""

from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, TypeAlias
from urllib.parse import SplitResult, parse_qsl, unquote, urlsplit

from chie.errors import ConfigurationError

POSTGRES_SCHEMES = ("postgresql", "postgres")
POSTGRES_PORT = 5432

_CREDENTIALS = {"user", "password"}


@dataclass(frozen=True)
class SqliteUrl:
    """`query` holds driver options such as `timeout=5`."""

    path: Path
    query: str = ""

    @property
    def location(self) -> str:
        """The database as messages name it."""
        return str(self.path)

    @property
    def identity(self) -> str:
        """Equal for every spelling of the same file."""
        return str(self.path.resolve())


@dataclass(frozen=True)
class PostgresUrl:
    """`options` are libpq's connection parameters."""

    text: str = field(repr=False)
    options: dict[str, Any] = field(repr=False)

    @property
    def location(self) -> str:
        """The database as messages name it, without user and password."""
        return postgres_location(str(self.options.get("host") or ""), str(self.options.get("dbname") or ""))

    @property
    def identity(self) -> str:
        """Equal for every spelling of the same database, regardless of the user."""
        options = {"host": "", "port": POSTGRES_PORT} | self.options
        public = sorted(options.keys() - _CREDENTIALS)
        return "postgresql " + " ".join(f"{name}={options[name]}" for name in public)


DatabaseUrl: TypeAlias = SqliteUrl | PostgresUrl


def postgres_location(host: str, database: str) -> str:
    """A URL without credentials; a socket folder counts as the local host."""
    return f"postgresql://{'' if host.startswith('/') else host}/{database}"


def parse_url(text: str, *, source: str = "CHIE_DATABASE_URL") -> DatabaseUrl:
    """`source` names the variable or option in the error; the error never quotes the URL, which holds a password."""
    try:
        return _parse_sqlite(text) if _scheme(text) == "sqlite" else _parse_postgres(text)
    except ValueError:
        raise ConfigurationError("database.url_invalid", source=source) from None


def parse_location(text: str, *, source: str) -> DatabaseUrl:
    """A URL, or the path of a SQLite file. A shell does not expand `~` in `--to=~/chie.db`."""
    return parse_url(text, source=source) if "://" in text else SqliteUrl(Path(text).expanduser())


def _scheme(text: str) -> str:
    """`postgresql+psycopg://` is SQLAlchemy's spelling."""
    return text.partition("://")[0].partition("+")[0] if "://" in text else ""


def _parse_sqlite(text: str) -> SqliteUrl:
    """Three slashes and the path, as SQLAlchemy reads it."""
    path, _, query = text.partition(":///")[2].partition("?")
    if not path:
        raise ValueError
    return SqliteUrl(Path(path), query)


def _parse_postgres(text: str) -> PostgresUrl:
    if _scheme(text) not in POSTGRES_SCHEMES:
        raise ValueError
    parts = urlsplit(text)
    query = parse_qsl(parts.query)
    options = {name: value for name, value in query if name != "host"}
    hosts = _hosts([value for name, value in query if name == "host"])
    return PostgresUrl(text, {name: value for name, value in (_authority(parts) | options | hosts).items() if value})


def _authority(parts: SplitResult) -> dict[str, Any]:
    return {
        "host": parts.hostname,
        "port": parts.port,
        "user": parts.username and unquote(parts.username),
        "password": parts.password and unquote(parts.password),
        "dbname": unquote(parts.path.removeprefix("/")),
    }


def _hosts(given: list[str]) -> dict[str, str]:
    """A folder that holds the socket, or several hosts, each with an optional port."""
    if not given or (len(given) == 1 and given[0].startswith("/")):
        return {"host": given[0]} if given else {}
    pairs = [host.rpartition(":") if ":" in host else (host, "", "") for host in given]
    ports = {"port": ",".join(pair[2] for pair in pairs)} if any(pair[2] for pair in pairs) else {}
    return {"host": ",".join(pair[0] for pair in pairs), **ports}
