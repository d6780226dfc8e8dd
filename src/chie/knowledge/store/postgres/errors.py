"""PostgreSQL's failures in our words. The driver's own text may hold values: it stays in the log, as the cause."""

from collections.abc import Iterator
from contextlib import contextmanager

import psycopg
from psycopg import errors

from chie.errors import StorageError
from chie.knowledge.store.postgres.address import Address

# By the first five or two characters of the SQLSTATE.
_EXPLANATIONS = {
    "53100": "the disk of PostgreSQL at {where} is full. Free some space there, then try again. "
    "Nothing stored was lost.",
    "53300": "PostgreSQL at {where} has no connection left. Raise its max_connections, run fewer processes, "
    "or put a pooler in front of it.",
    "57014": "PostgreSQL at {where} took too long for a statement, and it was given up. Nothing was written. "
    "Try again; if it stays so, look what else keeps that server busy.",
    "55P03": "another transaction has kept rows at {where} locked for too long. Nothing was written. Try again; "
    "if it stays so, find that transaction in pg_stat_activity and end it.",
    "25006": "PostgreSQL at {where} only lets itself be read: it is a standby, or was set so. "
    "Set CHIE_DATABASE_URL to the primary server.",
    "42501": "PostgreSQL at {where} does not let this user do that. Give the user the right to create and use tables "
    "in the database: GRANT ALL ON SCHEMA public TO the user.",
    "42P01": "tables of Chie are missing at {where}. Start Chie again: it makes them.",
    "08": "PostgreSQL at {where} was lost. Check that it runs, then try again. Nothing was written.",
    "40": "PostgreSQL at {where} gave up the change because others wrote the same. Nothing was written. Try again.",
}
_SHUT = ("57P01", "57P02", "57P03")  # by an administrator, by a crash, and still starting
_LOST = "PostgreSQL at {where} was lost while it worked. Nothing was written. Check that it runs, then try again."
_UNKNOWN = "PostgreSQL at {where} refused a statement (SQLSTATE {state}). Try again; the log has the reason."
_UNFIT = (
    "PostgreSQL at {where} cannot hold this value, or Chie cannot read what it holds. Nothing was written. Look for a "
    "character of code 0 or a date outside the years 1 to 9999; the log has the reason."
)
_UNREACHED = (
    "PostgreSQL at {where} does not answer or does not let this user in. Check that it runs and that "
    "the address (in CHIE_DATABASE_URL, or in --to of a migration), user and password are right, then try again."
)


class LostError(Exception):
    """The connection broke before anything was written: whoever asked may ask again."""


_BROKEN = (LostError, psycopg.OperationalError, psycopg.InterfaceError)


def unreached(address: Address) -> StorageError:
    return StorageError(_UNREACHED.format(where=address.shown))


def unanswered(address: Address) -> StorageError:
    return StorageError(
        f"PostgreSQL at {address.shown} was lost at the very moment of writing, and whether the change was kept is "
        "not known. Look whether it is there before you repeat it."
    )


@contextmanager
def in_our_words(address: Address) -> Iterator[None]:
    try:
        yield
    except (psycopg.Error, LostError) as error:
        raise StorageError(_explain(error, address)) from error


def is_lost(error: psycopg.Error, connection: "psycopg.Connection[tuple[object, ...]]") -> bool:
    return connection.broken or connection.closed or error.sqlstate in _SHUT


def is_clash(error: psycopg.Error) -> bool:
    """Two transactions stood in each other's way and the server ended one, which may simply be done again."""
    return isinstance(error, errors.SerializationFailure | errors.DeadlockDetected)


def _explain(error: Exception, address: Address) -> str:
    state = getattr(error, "sqlstate", None) or ""
    if state in _SHUT or (not state and isinstance(error, _BROKEN)):
        return _LOST.format(where=address.shown)
    if not state:  # the driver refused it, and the server never saw it
        return _UNFIT.format(where=address.shown)
    text = _EXPLANATIONS.get(state) or _EXPLANATIONS.get(state[:2]) or _UNKNOWN
    return text.format(where=address.shown, state=state)
