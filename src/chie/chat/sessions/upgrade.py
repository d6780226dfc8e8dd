"""Brings the database to the schema that this Chie knows. Processes that start together wait for the first."""

import logging
from pathlib import Path
from typing import TYPE_CHECKING

from sqlalchemy import URL, Connection, create_engine, inspect, text
from sqlalchemy.pool import NullPool

from chie.chat.sessions.failures import in_our_words
from chie.errors import StorageError

if TYPE_CHECKING:
    from alembic.config import Config

HEAD = "0003"  # the newest revision; a house that finds it there need not load Alembic
LOCK = 6_840_301  # any number, as long as every Chie takes the same
BUSY_SECONDS = 30

logger = logging.getLogger(__name__)


def upgrade(url: URL) -> str | None:
    """The revision that was there before; `HEAD` means that nothing had to be done."""
    sqlite = url.get_backend_name() == "sqlite"
    with in_our_words(url):
        if sqlite and url.database:
            Path(url.database).parent.mkdir(parents=True, exist_ok=True)
        engine = create_engine(_blocking(url), poolclass=NullPool, **_arguments(sqlite=sqlite))
        try:
            with engine.connect() as connection:
                if sqlite:
                    _write_ahead(connection)
                return _revision(connection) if _revision(connection) == HEAD else _upgrade(connection, url)
        finally:
            engine.dispose()


def _upgrade(connection: Connection, url: URL) -> str | None:
    connection.rollback()
    connection.exec_driver_sql(
        "BEGIN IMMEDIATE" if url.get_backend_name() == "sqlite" else f"SELECT pg_advisory_xact_lock({LOCK})"
    )
    before = _revision(connection)
    if before == HEAD:  # another process did it while we waited
        return before
    logging.getLogger("alembic").setLevel(logging.WARNING)  # it tells of every plugin that it loads
    from alembic import command
    from alembic.script import ScriptDirectory

    config = alembic_config()
    known = {script.revision for script in ScriptDirectory.from_config(config).walk_revisions()}
    if before is not None and before not in known:
        raise StorageError(
            f"the database was written by a newer Chie (schema {before}; this one knows {HEAD}). "
            "Upgrade Chie, or set CHIE_DATABASE_URL or CHIE_HOME to another place. Nothing in it was changed."
        )
    config.attributes["connection"] = connection
    command.upgrade(config, "head")
    connection.commit()
    logger.info("the database of conversations is now at schema %s", HEAD)
    return before


def alembic_config() -> "Config":
    from alembic.config import Config

    config = Config()
    config.set_main_option("script_location", str(Path(__file__).parent / "migrations"))
    return config


def _revision(connection: Connection) -> str | None:
    if not inspect(connection).has_table("alembic_version"):
        return None
    found: str | None = connection.execute(text("SELECT version_num FROM alembic_version")).scalar()
    return found


def _blocking(url: URL) -> URL:
    """psycopg speaks both ways; SQLite's own driver stands in for aiosqlite."""
    return url.set(drivername="sqlite") if url.get_backend_name() == "sqlite" else url


def _arguments(*, sqlite: bool) -> dict[str, object]:
    # Without an isolation level the driver leaves BEGIN to us, so that tables are made inside the transaction.
    return {"connect_args": {"timeout": BUSY_SECONDS, "isolation_level": None}} if sqlite else {}


def _write_ahead(connection: Connection) -> None:
    mode = connection.exec_driver_sql("PRAGMA journal_mode").scalar()
    if mode != "wal":
        connection.exec_driver_sql("PRAGMA journal_mode = WAL")
    connection.rollback()
