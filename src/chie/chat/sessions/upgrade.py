"""Upgrades the database to the current schema. Of processes that start together, one upgrades and the others wait."""

import logging
from pathlib import Path
from typing import TYPE_CHECKING

from sqlalchemy import URL, Column, Connection, MetaData, PrimaryKeyConstraint, String, inspect, text
from sqlalchemy import Table as Relation

from chie.chat.sessions import project_models, usage_models  # noqa: F401  declare tables
from chie.chat.sessions.models import Table
from chie.database.engine import blocking_engine, is_sqlite, location, translate_errors
from chie.database.sqlite import enable_wal
from chie.errors import StorageError

if TYPE_CHECKING:
    from alembic.config import Config

HEAD = "0016"  # the newest revision; a database at HEAD is opened without loading Alembic
VERSION = Relation(
    "alembic_version",
    MetaData(),
    Column("version_num", String(32), nullable=False),
    PrimaryKeyConstraint("version_num", name="alembic_version_pkc"),
)
"""The same table as Alembic creates, so that Alembic finds it later."""
UPGRADE_LOCK = 6_840_301  # any number, as long as every version uses the same

logger = logging.getLogger(__name__)


def upgrade(url: URL) -> str | None:
    """The revision before the upgrade: None for a new database, `HEAD` if there was nothing to do."""
    with translate_errors(url):
        engine = blocking_engine(url)
        try:
            with engine.connect() as connection:
                if is_sqlite(url):
                    enable_wal(connection.exec_driver_sql)
                    connection.rollback()
                return _revision(connection) if _revision(connection) == HEAD else _upgrade(connection, url)
        finally:
            engine.dispose()


def _upgrade(connection: Connection, url: URL) -> str | None:
    connection.rollback()
    connection.exec_driver_sql("BEGIN IMMEDIATE" if is_sqlite(url) else f"SELECT pg_advisory_xact_lock({UPGRADE_LOCK})")
    before = _revision(connection)
    if before == HEAD:  # another process upgraded it in the meantime
        return before
    if before is None and not _tables(connection):
        _create(connection)
    else:
        _migrate(connection, before, location(url))
    connection.commit()
    logger.info("upgraded the database of conversations to schema %s", HEAD)
    return before


def _create(connection: Connection) -> None:
    """Create the current tables without Alembic, which takes 11 MB of memory to load."""
    Table.metadata.create_all(connection, checkfirst=False)
    VERSION.create(connection)
    connection.execute(VERSION.insert().values(version_num=HEAD))


def _tables(connection: Connection) -> set[str]:
    return Table.metadata.tables.keys() & set(inspect(connection).get_table_names())


def _migrate(connection: Connection, before: str | None, where: str) -> None:
    logging.getLogger("alembic").setLevel(logging.WARNING)  # it logs every plugin that it loads
    from alembic import command
    from alembic.script import ScriptDirectory

    config = alembic_config()
    known = {script.revision for script in ScriptDirectory.from_config(config).walk_revisions()}
    if before is not None and before not in known:
        raise StorageError("database.schema_newer", location=where, found=before, supported=HEAD)
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
