"""One PostgreSQL database that many processes share: its connections, and what is done when one breaks."""

import logging
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from queue import Empty, LifoQueue
from threading import BoundedSemaphore, Lock
from typing import Any, TypeAlias, TypeVar

import psycopg

from chie.errors import StorageError
from chie.knowledge.store.postgres import errors as failures
from chie.knowledge.store.postgres import schema
from chie.knowledge.store.postgres.address import Address
from chie.knowledge.store.postgres.errors import LostError

T = TypeVar("T")
Connection: TypeAlias = psycopg.Connection[tuple[Any, ...]]

logger = logging.getLogger(__name__)

POOL = 8  # connections of one process
CONNECT_SECONDS = 10
STATEMENT_SECONDS = 30
LOCK_SECONDS = 10
TRIES = 3

# JIT takes longer to compile our statements than they run. The driver makes dates in the session's time zone, and
# cannot where one then falls outside the years 1 to 9999: a single such note would stop every list.
_LIMITS = (
    "SET LOCAL statement_timeout = '{statement}s'; SET LOCAL lock_timeout = '{lock}s'; SET LOCAL jit = off;"
    "SET LOCAL TimeZone = 'UTC';"
)
_READ = "BEGIN ISOLATION LEVEL REPEATABLE READ, READ ONLY; "
_WRITE = "BEGIN ISOLATION LEVEL READ COMMITTED, READ WRITE; "


class PostgresServer:
    """Opened by the first thing that needs it; a connection serves one thread at a time, then waits in the pool."""

    def __init__(self, address: Address) -> None:
        self.address = address
        self._idle: LifoQueue[Connection] = LifoQueue()
        self._places = BoundedSemaphore(POOL)
        self._preparing = Lock()
        self._ready = False

    def read(self, work: Callable[[Connection], T], *, settings: str = "") -> T:
        """One unchanging view for as long as the work lasts. A broken connection is replaced, and the work repeated.
        `settings` of the server are made for it, at no round trip of their own."""
        return self._again(lambda: self._read(work, settings))

    def write(self, work: Callable[[Connection], T]) -> T:
        """All of the work, on disk when this returns, or none of it. It is repeated only if it left no trace."""
        return self._again(lambda: self._write(work))

    @contextmanager
    def session(self) -> Iterator[Connection]:
        """A connection for what no transaction may enclose and no clock limits."""
        with failures.in_our_words(self.address):
            connection = self._open()
            try:
                yield connection
            finally:
                connection.close()

    def close(self) -> None:
        with suppress(Empty):
            while True:
                self._idle.get_nowait().close()

    def _again(self, attempt: Callable[[], T]) -> T:
        with failures.in_our_words(self.address):
            for _ in range(TRIES - 1):
                try:
                    return attempt()
                except LostError:
                    logger.info("a connection to PostgreSQL was lost; trying with a new one")
                except psycopg.Error as error:
                    if not failures.is_clash(error):
                        raise
            return attempt()

    def _read(self, work: Callable[[Connection], T], settings: str) -> T:
        with self._borrowed() as connection:
            connection.execute(_READ + _limits() + settings)
            result = work(connection)
            connection.execute("COMMIT")
        return result

    def _write(self, work: Callable[[Connection], T]) -> T:
        with self._borrowed() as connection:
            connection.execute(_WRITE + _limits())
            result = work(connection)
            row = connection.execute("SELECT pg_current_xact_id()::text").fetchone()
            try:
                connection.execute("COMMIT")
            except psycopg.Error as error:
                if not failures.is_lost(error, connection) or not row or not self._was_kept(row[0]):
                    raise
        return result

    def _was_kept(self, transaction: str) -> bool:
        """Ask a new connection how a transaction ended whose end nobody told us."""
        try:
            with self._connect() as connection:
                row = connection.execute("SELECT pg_xact_status(%s::text::xid8)", (transaction,)).fetchone()
        except (psycopg.Error, StorageError) as error:
            raise failures.unanswered(self.address) from error
        outcome = row and row[0]
        if outcome not in ("committed", "aborted"):
            raise failures.unanswered(self.address)
        return bool(outcome == "committed")

    @contextmanager
    def _borrowed(self) -> Iterator[Connection]:
        if not self._places.acquire(timeout=STATEMENT_SECONDS):
            raise StorageError("all connections to PostgreSQL have been busy for too long. Try again in a moment.")
        try:
            connection = self._next()
            try:
                yield connection
            except psycopg.Error as error:
                if failures.is_lost(error, connection):
                    self.close()  # a server that restarted has broken the idle ones too
                    raise LostError from error
                raise
            finally:
                self._return(connection)
        finally:
            self._places.release()

    def _next(self) -> Connection:
        try:
            return self._idle.get_nowait()
        except Empty:
            return self._open()

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
                    schema.prepare(connection, self.address)
                    self._ready = True
        except BaseException:
            connection.close()
            raise
        return connection

    def _connect(self) -> Connection:
        """Statements are not prepared: plans must know their values, and poolers may hand us another session."""
        options = {"connect_timeout": CONNECT_SECONDS} | self.address.options
        try:
            return psycopg.connect(**options, autocommit=True, prepare_threshold=None)
        except psycopg.Error as error:
            raise failures.unreached(self.address) from error


def _limits() -> str:
    return _LIMITS.format(statement=STATEMENT_SECONDS, lock=LOCK_SECONDS)
