"""The engine: many readers, and one writer that puts all waiting changes into one transaction.

SQLite has one writer in any case; letting changes share a commit makes that cheap, keeps their order, and leaves
nobody waiting for a lock. PostgreSQL gains by it too, so both go the same way.
"""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, field
from typing import Any, TypeVar

from sqlalchemy import URL, Insert, text
from sqlalchemy.ext.asyncio import AsyncConnection, AsyncEngine

from chie.access.identity import User, acting_as, current_user
from chie.database.engine import WRITE_TRANSACTION, async_engine, translate_errors

T = TypeVar("T")
Connection = AsyncConnection
Change = Callable[[Connection], Awaitable[T]]

CHANNEL = "chie"
NAMES_PER_NOTIFICATION = 200  # a payload holds 8000 bytes

_NOTIFY = text(f"SELECT pg_notify('{CHANNEL}', :names)")


@dataclass(frozen=True, slots=True)
class Rows:
    """New rows that depend on nothing: those of all who wait go into the database with one statement a table."""

    inserts: dict[Insert, list[dict[str, Any]]]

    async def __call__(self, connection: Connection) -> None:
        for statement, rows in self.inserts.items():
            await connection.execute(statement, rows)

    @classmethod
    def of_all(cls, batch: "Sequence[Waiting]") -> "Rows":
        inserts: dict[Insert, list[dict[str, Any]]] = {}
        for waiting in batch:
            if isinstance(waiting.change, Rows):
                for statement, rows in waiting.change.inserts.items():
                    inserts.setdefault(statement, []).extend(rows)
        return cls(inserts)


@dataclass(slots=True)
class Waiting:
    """The writer serves many: each change is made as the user who asked for it."""

    change: Change[Any]
    user: User = field(default_factory=current_user)
    outcome: "asyncio.Future[Any]" = field(default_factory=lambda: asyncio.get_running_loop().create_future())

    async def finish(self, connection: Connection) -> object:
        if isinstance(self.change, Rows):
            return None
        with acting_as(self.user):
            return await self.change(connection)

    def resolve(self, value: object) -> None:
        if not self.outcome.done():  # whoever asked may have left; the change was made all the same
            self.outcome.set_result(value)

    def fail(self, error: BaseException) -> None:
        if not self.outcome.done():
            self.outcome.set_exception(error)


class Database:
    def __init__(self, url: URL) -> None:
        self.url = url
        self._engine: AsyncEngine | None = None
        self._queue: list[Waiting] = []
        self._writer: asyncio.Task[None] | None = None

    @asynccontextmanager
    async def read(self) -> AsyncIterator[Connection]:
        """One unchanging view where the database gives it (SQLite), at least committed rows elsewhere."""
        with translate_errors(self.url):
            async with self._open().connect() as connection:
                yield connection

    async def write(self, change: Change[T]) -> T:
        """All of the change, on disk when this returns, or none of it. It may run twice if a neighbour fails."""
        waiting = Waiting(change)
        self._queue.append(waiting)
        if self._writer is None or self._writer.done():
            self._writer = asyncio.create_task(self._write_all(), name="database-writer")
        result: T = await waiting.outcome
        return result

    async def notify(self, connection: Connection, names: Sequence[str]) -> None:
        """Notify every process about these names once the transaction commits. SQLite has no such thing."""
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
        if self._engine is not None:
            await self._engine.dispose()
            self._engine = None

    async def _write_all(self) -> None:
        while self._queue:
            batch, self._queue = self._queue, []
            try:
                await self._commit(batch)
            except Exception as error:  # noqa: BLE001 - whatever it is, whoever asked for the change gets it
                await self._write_each(batch, error)

    async def _write_each(self, batch: Sequence[Waiting], error: Exception) -> None:
        """One of them failed and took the others with it: now each alone."""
        if len(batch) == 1:
            return batch[0].fail(error)
        for waiting in batch:
            try:
                await self._commit([waiting])
            except Exception as own:  # noqa: BLE001
                waiting.fail(own)
        return None

    async def _commit(self, batch: Sequence[Waiting]) -> None:
        with translate_errors(self.url):
            async with self._open().connect() as connection:
                await connection.execution_options(**WRITE_TRANSACTION)
                async with connection.begin():
                    await Rows.of_all(batch)(connection)
                    results = [await waiting.finish(connection) for waiting in batch]
        for waiting, result in zip(batch, results, strict=True):
            waiting.resolve(result)

    def _open(self) -> AsyncEngine:
        if self._engine is None:
            self._engine = async_engine(self.url)
        return self._engine
