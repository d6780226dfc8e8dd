"""Connections to the database: many readers, and one writer that commits all queued changes together.

SQLite allows one writer anyway. Sharing a commit makes writes cheap, keeps their order and avoids waiting for locks;
PostgreSQL gains from it too.
"""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, field
from typing import Any, TypeVar

from sqlalchemy import URL, Insert, text
from sqlalchemy.ext.asyncio import AsyncConnection, AsyncEngine

from chie.access.identity import User, acting_as, current_user
from chie.chat.sessions.connection import Connection
from chie.chat.sessions.database_thread import DatabaseThread, Transaction
from chie.database.engine import SNAPSHOT, WRITE_TRANSACTION, async_engine, is_sqlite, translate_errors
from chie.errors import BUSY_CODES, ChieError

T = TypeVar("T")
Change = Callable[[Connection], Awaitable[T]]

CHANNEL = "chie"
CONFLICT = "database.transaction_conflict"
MAX_ATTEMPTS = 5  # at a change that other transactions get in the way of
NAMES_PER_NOTIFICATION = 200  # a payload holds 8000 bytes

_NOTIFY = text(f"SELECT pg_notify('{CHANNEL}', :names)")


@dataclass(frozen=True, slots=True)
class Rows:
    """Inserts that depend on no other row. Those of all queued changes share one statement per table."""

    inserts: dict[Insert, list[dict[str, Any]]]

    async def __call__(self, connection: Connection) -> None:
        for statement, rows in self.inserts.items():
            await connection.execute(statement, rows)

    @classmethod
    def of_all(cls, batch: "Sequence[QueuedChange]") -> "Rows":
        inserts: dict[Insert, list[dict[str, Any]]] = {}
        for queued in batch:
            if isinstance(queued.change, Rows):
                for statement, rows in queued.change.inserts.items():
                    inserts.setdefault(statement, []).extend(rows)
        return cls(inserts)


@dataclass(slots=True)
class QueuedChange:
    """A change in the queue; it runs as the user who requested it."""

    change: Change[Any]
    user: User = field(default_factory=current_user)
    outcome: "asyncio.Future[Any]" = field(default_factory=lambda: asyncio.get_running_loop().create_future())

    async def finish(self, connection: Connection) -> object:
        if isinstance(self.change, Rows):
            return None
        with acting_as(self.user):
            return await self.change(connection)

    def resolve(self, value: object) -> None:
        if not self.outcome.done():  # the caller may have been cancelled; the change was made
            self.outcome.set_result(value)

    def fail(self, error: BaseException) -> None:
        if not self.outcome.done():
            self.outcome.set_exception(error)


class Database:
    def __init__(self, url: URL) -> None:
        self.url = url
        self._engine: AsyncEngine | None = None
        self._thread: DatabaseThread | None = None
        self._reader: DatabaseThread | None = None
        self._queue: list[QueuedChange] = []
        self._writer: asyncio.Task[None] | None = None
        self._ends: set[asyncio.Task[None]] = set()

    @asynccontextmanager
    async def read(self) -> AsyncIterator[Connection]:
        """A snapshot: what one statement finds is there for the next, whatever others delete meanwhile."""
        with translate_errors(self.url):
            connection = self._snapshots().connect()
            starting = asyncio.create_task(connection.start())
            try:
                await asyncio.shield(starting)
                yield connection
            finally:
                await asyncio.shield(self._ending(connection, starting))

    async def query(self, read: Transaction[T]) -> T:
        """As `read`, for what every answer needs: much cheaper on SQLite. It may wait for nothing but its connection,
        and runs outside the event loop there."""
        if not is_sqlite(self.url):
            async with self.read() as connection:
                return await read(connection)
        if self._reader is None:
            self._reader = DatabaseThread(self.url, "database-reader")
        with translate_errors(self.url):
            return await self._reader.run(read)

    async def write(self, change: Change[T]) -> T:
        """Make the whole change or none of it; it is on disk when this returns.

        `change` may run twice: if another change of the batch fails, each is tried alone. It may wait for nothing but
        its connection, and runs outside the event loop on SQLite.
        """
        queued = QueuedChange(change)
        self._queue.append(queued)
        if self._writer is None or self._writer.done():
            self._writer = asyncio.create_task(self._write_all(), name="database-writer")
        result: T = await queued.outcome
        return result

    async def notify(self, connection: Connection, names: Sequence[str]) -> None:
        """Notify every process about these names once the transaction commits. Does nothing on SQLite."""
        if self.url.get_backend_name() == "postgresql":
            for start in range(0, len(names), NAMES_PER_NOTIFICATION):
                batch = names[start : start + NAMES_PER_NOTIFICATION]
                await connection.execute(_NOTIFY, {"names": " ".join(batch)})

    async def check(self) -> None:
        async with self.read() as connection:
            await connection.execute(text("SELECT 1"))

    async def close(self) -> None:
        if self._writer is not None:
            with suppress(asyncio.CancelledError):
                await self._writer
        await asyncio.gather(*self._ends, return_exceptions=True)
        if self._engine is not None:
            await self._engine.dispose()
            self._engine = None
        for thread in filter(None, (self._thread, self._reader)):
            await thread.close()
        self._thread = self._reader = None

    async def _write_all(self) -> None:
        while self._queue:
            batch, self._queue = self._queue, []
            try:
                await self._commit(batch)
            except Exception as error:  # noqa: BLE001 - raised again by the caller of `write`
                await self._write_each(batch, error)

    async def _write_each(self, batch: Sequence[QueuedChange], error: Exception) -> None:
        """Commit each change alone after the batch failed. A locked database would make each wait as long again."""
        code = error.code if isinstance(error, ChieError) else ""
        if code in BUSY_CODES or (len(batch) == 1 and code != CONFLICT):
            for queued in batch:
                queued.fail(error)
            return
        for queued in batch:
            await self._write_alone(queued)

    async def _write_alone(self, queued: QueuedChange) -> None:
        """A change that PostgreSQL cancelled in favour of another one is made again; the other has ended by then."""
        for attempt in range(MAX_ATTEMPTS):
            try:
                await self._commit([queued])
            except Exception as error:  # noqa: BLE001
                cancelled = isinstance(error, ChieError) and error.code == CONFLICT
                if cancelled and attempt < MAX_ATTEMPTS - 1:
                    continue
                queued.fail(error)
            return

    async def _commit(self, batch: Sequence[QueuedChange]) -> None:
        async def make(connection: Connection) -> list[object]:
            await Rows.of_all(batch)(connection)
            return [await queued.finish(connection) for queued in batch]

        with translate_errors(self.url):
            results = await (self._on_thread(make) if is_sqlite(self.url) else self._on_loop(make))
        for queued, result in zip(batch, results, strict=True):
            queued.resolve(result)

    async def _on_thread(self, transaction: Transaction[T]) -> T:
        if self._thread is None:
            self._thread = DatabaseThread(self.url, "database-writer", **WRITE_TRANSACTION)
        return await self._thread.run(transaction)

    async def _on_loop(self, transaction: Transaction[T]) -> T:
        async with self._open().begin() as connection:
            return await transaction(connection)

    def _ending(self, connection: AsyncConnection, starting: "asyncio.Task[AsyncConnection]") -> "asyncio.Task[None]":
        """A task of its own: a reader may be cancelled again and again, also while its connection is opened or closed,
        and the driver would leave it open."""

        async def end() -> None:
            await asyncio.wait({starting})
            if not starting.cancelled() and starting.exception() is None:
                await connection.close()

        task = asyncio.create_task(end(), name="database-reader-end")
        self._ends.add(task)
        task.add_done_callback(self._ends.discard)
        return task

    def _snapshots(self) -> AsyncEngine:
        return self._open() if is_sqlite(self.url) else self._open().execution_options(**SNAPSHOT)

    def _open(self) -> AsyncEngine:
        if self._engine is None:
            self._engine = async_engine(self.url)
        return self._engine
