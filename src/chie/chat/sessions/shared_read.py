"""One read for all who ask at the same time."""

import asyncio
from collections.abc import Callable, Coroutine
from typing import Any, Generic, TypeVar

T = TypeVar("T")


class SharedRead(Generic[T]):
    """Callers that wait for the read before theirs share the next one. It starts after each of them has called, so it
    sees everything that was stored before."""

    def __init__(self, read: Callable[[], Coroutine[Any, Any, T]]) -> None:
        self._read = read
        self._running: asyncio.Task[T] | None = None
        self._next: asyncio.Task[T] | None = None

    async def __call__(self) -> T:
        if self._next is None:
            self._next = asyncio.create_task(self._start(self._running), name="shared-read")
        shared = self._next
        await asyncio.wait({shared})  # a caller that is cancelled leaves it to the others
        return shared.result()

    async def _start(self, before: "asyncio.Task[T] | None") -> T:
        if before is not None and not before.done():
            await asyncio.wait({before})
        self._running, self._next = self._next, None
        return await self._read()
