"""The database's failures in our words."""

from collections.abc import Iterator
from contextlib import contextmanager

from sqlalchemy import URL
from sqlalchemy.exc import DBAPIError, SQLAlchemyError

from chie.errors import ConfigurationError, StorageError

_SQLITE = {
    "SQLITE_FULL": "the disk that holds {where} is full. Free some space, then try again. Nothing stored was lost.",
    "SQLITE_READONLY": "{where} cannot be written. Give this user the right to write it and its folder, "
    "or set CHIE_HOME to another folder.",
    "SQLITE_CANTOPEN": "{where} cannot be opened. Give this user the right to read and write it and its folder, "
    "or set CHIE_HOME to another folder.",
    "SQLITE_NOTADB": "{where} is not a Chie database, or it is damaged. Put a backup in its place, "
    "or set CHIE_HOME to another folder. Nothing in it was changed.",
    "SQLITE_BUSY": "another process keeps {where} locked. Try again; if it stays so, find that process and stop it.",
}


@contextmanager
def in_our_words(url: URL) -> Iterator[None]:
    """The driver's own text may hold values and passwords: it stays in the log, as the cause."""
    try:
        yield
    except ModuleNotFoundError as error:
        raise ConfigurationError(
            "PostgreSQL needs a driver that is not installed. Run: pip install 'chie[postgres]'"
        ) from error
    except (SQLAlchemyError, OSError) as error:
        raise StorageError(_explain(error, url)) from error


def _explain(error: Exception, url: URL) -> str:
    if url.get_backend_name() == "sqlite":
        name = getattr(error.orig, "sqlite_errorname", "") if isinstance(error, DBAPIError) else ""
        family = "_".join(name.split("_")[:2])
        unknown = "{where} could not be used. Check the disk and the rights of its folder; the log has the reason."
        return _SQLITE.get(family, unknown).format(where=url.database)
    if isinstance(error, DBAPIError) and not error.connection_invalidated and error.statement:
        return "PostgreSQL refused a statement. Try again; if it fails again, the log has the reason."
    where = f"{url.host or 'the local socket'}, database {url.database}"
    return (
        f"PostgreSQL at {where} does not answer as it should. "
        "Check that it runs and that CHIE_DATABASE_URL is right, then try again."
    )
