"""Errors of a PostgreSQL connection: which ones to retry, and their translation."""

from collections.abc import Iterator
from contextlib import contextmanager

import psycopg
from psycopg import errors

from chie.database.errors import SHUTDOWN_STATES, postgres_error
from chie.database.url import PostgresUrl


class ConnectionLostError(Exception):
    """The connection broke before anything was written, so the work may be repeated."""


_CONNECTION_ERRORS = (ConnectionLostError, psycopg.OperationalError, psycopg.InterfaceError)


@contextmanager
def translate_errors(url: PostgresUrl) -> Iterator[None]:
    try:
        yield
    except (psycopg.Error, ConnectionLostError, UnicodeEncodeError) as error:
        failed = isinstance(error, _CONNECTION_ERRORS)
        raise postgres_error(error, url.location, connection_failed=failed) from error


def is_connection_lost(error: psycopg.Error, connection: "psycopg.Connection[tuple[object, ...]]") -> bool:
    return connection.broken or connection.closed or error.sqlstate in SHUTDOWN_STATES


def is_conflict(error: psycopg.Error) -> bool:
    """The server cancelled one of two conflicting transactions, which may be repeated."""
    return isinstance(error, errors.SerializationFailure | errors.DeadlockDetected)
