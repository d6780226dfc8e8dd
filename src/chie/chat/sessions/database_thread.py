"""Transactions on a SQLite file in a thread of their own.

An asynchronous driver moves to its thread and back for every statement, and each time waits for a busy event loop.
Here that happens once for a whole transaction.
"""

import asyncio
from collections.abc import Callable, Coroutine
from concurrent.futures import ThreadPoolExecutor
from typing import Any, TypeVar

from sqlalchemy import URL, CursorResult, Executable
from sqlalchemy.engine import Connection as BlockingConnection

from chie.chat.sessions.connection import Connection
from chie.database.engine import thread_engine

T = TypeVar("T")
Transaction = Callable[[Connection], Coroutine[Any, Any, T]]


class DatabaseThread:
    """`options` are the execution options of its connection."""

    def __init__(self, url: URL, name: str, **options: str) -> None:
        self._engine = thread_engine(url)
        self._options = options
        self._thread = ThreadPoolExecutor(1, name)

    async def run(self, transaction: Transaction[T]) -> T:
        return await asyncio.get_running_loop().run_in_executor(self._thread, self._run, transaction)

    async def close(self) -> None:
        await asyncio.get_running_loop().run_in_executor(self._thread, self._engine.dispose)
        self._thread.shutdown()

    def _run(self, transaction: Transaction[T]) -> T:
        with self._engine.connect() as connection:
            connection.execution_options(**self._options)
            with connection.begin():
                return _result(transaction(_NeverWaiting(connection)))


class _NeverWaiting:
    """A coroutine that awaits nothing but this runs to its end at the first step, without an event loop."""

    def __init__(self, connection: BlockingConnection) -> None:
        self._connection = connection

    async def execute(self, statement: Executable, parameters: Any = None, /) -> CursorResult[Any]:  # noqa: ANN401
        return self._connection.execute(statement, parameters)


def _result(coroutine: Coroutine[Any, Any, T]) -> T:
    try:
        coroutine.send(None)
    except StopIteration as end:
        result: T = end.value
        return result
    coroutine.close()
    raise RuntimeError("a transaction may wait for its connection only")
