"""Brings the database to the schema that this Chie knows. Processes that start together wait for the first."""

import logging
from pathlib import Path
from typing import TYPE_CHECKING

from sqlalchemy import URL, Column, Connection, MetaData, PrimaryKeyConstraint, String, create_engine, inspect, text
from sqlalchemy import Table as Relation
from sqlalchemy.pool import NullPool

from chie.chat.sessions.failures import in_our_words
from chie.chat.sessions.models import Table
from chie.errors import StorageError
from chie.files import make_database

if TYPE_CHECKING:
    from alembic.config import Config

HEAD = "0003"  # the newest revision; a house that finds it there need not load Alembic
VERSION = Relation(
    "alembic_version",
    MetaData(),
    Column("version_num", String(32), nullable=False),
    PrimaryKeyConstraint("version_num", name="alembic_version_pkc"),
)
"""As Alembic makes it, to find it there."""
LOCK = 6_840_301  # any number, as long as every Chie takes the same
BUSY_SECONDS = 30

logger = logging.getLogger(__name__)


def upgrade(url: URL) -> str | None:
    """The revision that was there before; `HEAD` means that nothing had to be done."""
    sqlite = url.get_backend_name() == "sqlite"
    with in_our_words(url):
        if sqlite and url.database:
            make_database(Path(url.database))
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
    if before is None and not _tables(connection):
        _create(connection)
    else:
        _migrate(connection, before)
    connection.commit()
    logger.info("the database of conversations is now at schema %s", HEAD)
    return before


def _create(connection: Connection) -> None:
    """A new database gets its tables as they are now; Alembic, which takes 11 MB, is for those that have a past."""
    Table.metadata.create_all(connection, checkfirst=False)
    VERSION.create(connection)
    connection.execute(VERSION.insert().values(version_num=HEAD))


def _tables(connection: Connection) -> set[str]:
    return Table.metadata.tables.keys() & set(inspect(connection).get_table_names())


def _migrate(connection: Connection, before: str | None) -> None:
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
