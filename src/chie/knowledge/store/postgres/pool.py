"""Connections to one PostgreSQL database, with transactions that are retried when a connection breaks.

psycopg_pool is not used: it reconnects in background threads and reports an unreachable server as a timeout, and a
closed pool cannot be opened again. Here the caller connects, fails at once, and learns the reason.
"""

import logging
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from threading import BoundedSemaphore, Lock
from typing import Any, TypeAlias, TypeVar

import psycopg

from chie.database.pool import IdleConnections
from chie.database.postgres import POOL_SIZE, driver_options
from chie.database.url import PostgresUrl
from chie.errors import StorageError
from chie.knowledge.store.postgres import schema
from chie.knowledge.store.postgres.errors import ConnectionLostError, is_conflict, is_connection_lost, translate_errors
from chie.knowledge.store.postgres.statement import Statement, set_locally, together

T = TypeVar("T")
Connection: TypeAlias = psycopg.Connection[tuple[Any, ...]]

logger = logging.getLogger(__name__)

STATEMENT_TIMEOUT_SECONDS = 30
LOCK_TIMEOUT_SECONDS = 10
MAX_ATTEMPTS = 3

NO_SETTINGS: dict[str, str] = {}
COMMIT = Statement("COMMIT")
_TRANSACTION = Statement("SELECT pg_current_xact_id()::text")
_READ = "BEGIN ISOLATION LEVEL REPEATABLE READ, READ ONLY"
_WRITE = "BEGIN ISOLATION LEVEL READ COMMITTED, READ WRITE"


class PostgresPool:
    """Connects on first use. A connection serves one thread at a time, then becomes idle."""

    def __init__(self, url: PostgresUrl) -> None:
        self.url = url
        self._idle: IdleConnections[Connection] = IdleConnections()
        self._slots = BoundedSemaphore(POOL_SIZE)
        self._preparing = Lock()
        self._ready = False

    def read(self, work: Callable[[Connection], T], *, settings: dict[str, str] = NO_SETTINGS) -> T:
        """Run `work` in a transaction with one consistent view, again on a new connection if the first one breaks.
        `settings` are for this transaction."""

        def whole(connection: Connection) -> T:
            together(connection, *opening(settings))
            result = work(connection)
            connection.execute("COMMIT")
            return result

        return self.lend(whole)

    def lend(self, work: Callable[[Connection], T]) -> T:
        """Like `read`, but `work` sends `opening` and COMMIT itself, together with its own statements."""
        return self._retry(lambda: self._lend(work))

    def write(self, work: Callable[[Connection], T]) -> T:
        """Run `work` in a transaction that is durable on return. It is repeated only if nothing was committed."""
        return self._retry(lambda: self._write(work))

    @contextmanager
    def session(self) -> Iterator[Connection]:
        """A connection without a transaction and without timeouts."""
        with translate_errors(self.url):
            connection = self._open()
            try:
                yield connection
            finally:
                connection.close()

    def close(self) -> None:
        self._idle.close()

    def _retry(self, attempt: Callable[[], T]) -> T:
        with translate_errors(self.url):
            for _ in range(MAX_ATTEMPTS - 1):
                try:
                    return attempt()
                except ConnectionLostError:
                    logger.info("lost a connection to PostgreSQL; retrying on a new one")
                except psycopg.Error as error:
                    if not is_conflict(error):
                        raise
            return attempt()

    def _lend(self, work: Callable[[Connection], T]) -> T:
        with self._borrowed() as connection:
            return work(connection)

    def _write(self, work: Callable[[Connection], T]) -> T:
        with self._borrowed() as connection:
            *_, [(transaction,)] = together(connection, Statement(_WRITE), _limits(NO_SETTINGS), _TRANSACTION)
            result = work(connection)
            try:
                connection.execute("COMMIT")
            except psycopg.Error as error:
                if not is_connection_lost(error, connection) or not self._was_committed(transaction):
                    raise
        return result

    def _was_committed(self, transaction: str) -> bool:
        """Look up, on a new connection, a transaction whose COMMIT got no response."""
        try:
            with self._connect() as connection:
                row = connection.execute("SELECT pg_xact_status(%s::text::xid8)", (transaction,)).fetchone()
        except (psycopg.Error, StorageError) as error:
            raise StorageError("database.commit_outcome_unknown", location=self.url.location) from error
        outcome = row and row[0]
        if outcome not in ("committed", "aborted"):
            raise StorageError("database.commit_outcome_unknown", location=self.url.location)
        return bool(outcome == "committed")

    @contextmanager
    def _borrowed(self) -> Iterator[Connection]:
        if not self._slots.acquire(timeout=STATEMENT_TIMEOUT_SECONDS):
            raise StorageError("database.pool_exhausted", location=self.url.location)
        try:
            connection = self._idle.take() or self._open()
            try:
                yield connection
            except psycopg.Error as error:
                if is_connection_lost(error, connection):
                    self.close()  # a restarted server has broken the idle connections too
                    raise ConnectionLostError from error
                raise
            finally:
                self._return(connection)
        finally:
            self._slots.release()

    def _return(self, connection: Connection) -> None:
        with suppress(psycopg.Error):
            if connection.info.transaction_status != psycopg.pq.TransactionStatus.IDLE:
                connection.execute("ROLLBACK")
        if connection.closed or connection.broken:
            connection.close()
        else:
            self._idle.put(connection)

    def _open(self) -> Connection:
        connection = self._connect()
        try:
            with self._preparing:
                if not self._ready:
                    schema.prepare(connection, self.url.location)
                    self._ready = True
        except BaseException:
            connection.close()
            raise
        return connection

    def _connect(self) -> Connection:
        """No prepared statements: plans depend on the values, and a pooler may switch sessions between statements."""
        options = driver_options() | self.url.options
        try:
            return psycopg.connect(**options, autocommit=True, prepare_threshold=None)
        except psycopg.Error as error:
            raise StorageError("database.server_unreachable", location=self.url.location) from error


def opening(settings: dict[str, str]) -> tuple[Statement, ...]:
    """Begins a transaction that reads."""
    return Statement(_READ), _limits(settings)


def _limits(more: dict[str, str]) -> Statement:
    """JIT compilation takes longer than our statements run. The driver converts timestamps to the session's time zone
    and fails where one then leaves the years 1 to 9999: a single such note would break every list."""
    limits = {
        "statement_timeout": f"{STATEMENT_TIMEOUT_SECONDS}s",
        "lock_timeout": f"{LOCK_TIMEOUT_SECONDS}s",
        "jit": "off",
        "TimeZone": "UTC",
    }
    return set_locally(limits | more)
