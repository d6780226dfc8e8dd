"""SQLAlchemy engines for both databases."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from sqlalchemy import URL, Engine, create_engine, event, make_url
from sqlalchemy.engine import Connection
from sqlalchemy.exc import ArgumentError, DBAPIError, OperationalError, SQLAlchemyError
from sqlalchemy.exc import TimeoutError as PoolTimeoutError
from sqlalchemy.ext.asyncio import AsyncEngine, create_async_engine
from sqlalchemy.pool import NullPool

from chie.database import postgres, sqlite
from chie.database.errors import folder_error, postgres_error, sqlite_error, text_error
from chie.database.url import DatabaseUrl, SqliteUrl, postgres_location
from chie.errors import ChieError, ConfigurationError, StorageError
from chie.installation.commands import install_extra

WRITE_TRANSACTION = {"begin": "BEGIN IMMEDIATE"}
"""Execution options of a connection that writes. SQLite cannot upgrade a read transaction while another process
writes."""

SNAPSHOT = {"isolation_level": "REPEATABLE READ"}
"""Execution options of a connection to PostgreSQL whose statements all read the same state, as SQLite's do."""

SQLITE_POOL_SIZE = 4


def sqlalchemy_url(url: DatabaseUrl) -> URL:
    """The URL with the driver that serves both `async_engine` and `blocking_engine`."""
    if isinstance(url, SqliteUrl):
        query = make_url(f"sqlite://?{url.query}").query
        return URL.create("sqlite+aiosqlite", database=str(url.path), query=query)
    try:
        return make_url(url.text).set(drivername="postgresql+psycopg")
    except ArgumentError:
        raise ConfigurationError("database.url_invalid", source="CHIE_DATABASE_URL") from None


def async_engine(url: URL) -> AsyncEngine:
    if not is_sqlite(url):
        options = {"pool_size": postgres.POOL_SIZE, "pool_pre_ping": True}
        return create_async_engine(url, connect_args=_postgres_arguments(url), **options)
    engine = create_async_engine(
        url, pool_size=SQLITE_POOL_SIZE, pool_reset_on_return=None, connect_args=sqlite.driver_options()
    )
    _prepare_sqlite(engine.sync_engine)
    return engine


def thread_engine(url: URL) -> Engine:
    """One connection to an existing SQLite file."""
    engine = create_engine(
        url.set(drivername="sqlite"), pool_size=1, pool_reset_on_return=None, connect_args=sqlite.driver_options()
    )
    _prepare_sqlite(engine)
    return engine


def blocking_engine(url: URL) -> Engine:
    """For migrations. Creates a missing SQLite file."""
    if not is_sqlite(url):
        return create_engine(url, poolclass=NullPool, connect_args=_postgres_arguments(url))
    if url.database:
        sqlite.create_private_file(Path(url.database))
    return create_engine(url.set(drivername="sqlite"), poolclass=NullPool, connect_args=sqlite.driver_options())


def is_sqlite(url: URL) -> bool:
    return url.get_backend_name() == "sqlite"


def location(url: URL) -> str:
    """The database as messages name it."""
    return url.database or "" if is_sqlite(url) else postgres_location(url.host or "", url.database or "")


@contextmanager
def translate_errors(url: URL) -> Iterator[None]:
    try:
        yield
    except ModuleNotFoundError as error:
        raise ConfigurationError("database.driver_missing", command=install_extra("postgres")) from error
    except UnicodeEncodeError as error:
        raise text_error() from error
    except (SQLAlchemyError, OSError) as error:
        raise _translated(error, url) from error


def _translated(error: SQLAlchemyError | OSError, url: URL) -> ChieError:
    cause = error.orig if isinstance(error, DBAPIError) and isinstance(error.orig, Exception) else error
    if is_sqlite(url):
        path = Path(location(url))
        return folder_error(cause, path.parent) if isinstance(cause, OSError) else sqlite_error(cause, path)
    if isinstance(error, PoolTimeoutError):
        return StorageError("database.pool_exhausted", location=location(url))
    if isinstance(error, DBAPIError) and error.statement:
        return postgres_error(cause, location(url), connection_failed=isinstance(error, OperationalError))
    return StorageError("database.server_unreachable", location=location(url))


def _postgres_arguments(url: URL) -> dict[str, Any]:
    """Arguments given here win over the URL's, so one that the URL has is left out."""
    return {name: value for name, value in postgres.driver_options().items() if name not in url.query}


def _prepare_sqlite(engine: Engine) -> None:
    @event.listens_for(engine, "connect")
    def connect(connection: Any, _: object) -> None:  # noqa: ANN401 - a driver's connection
        cursor = connection.cursor()
        for pragma in sqlite.PRAGMAS:
            cursor.execute(pragma)
        cursor.close()

    @event.listens_for(engine, "begin")
    def begin(connection: Connection) -> None:
        connection.exec_driver_sql(connection.get_execution_options().get("begin", "BEGIN"))
