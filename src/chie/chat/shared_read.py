"""One read for all who ask at the same time."""

import asyncio
from collections.abc import Callable, Coroutine
from time import monotonic
from typing import Any, Generic, TypeVar

T = TypeVar("T")


class SharedRead(Generic[T]):
    """Callers that wait for the read before theirs share the next one. It starts after each of them has called, so it
    sees everything that was stored before. What was read is used again for `seconds`, unless it is forgotten."""

    def __init__(self, read: Callable[[], Coroutine[Any, Any, T]], *, seconds: float = 0.0) -> None:
        self._read = read
        self._seconds = seconds
        self._running: asyncio.Task[T] | None = None
        self._next: asyncio.Task[T] | None = None
        self._kept: tuple[float, T] | None = None  # with the time at which it was read
        self._forgotten = 0

    async def __call__(self) -> T:
        if self._kept is not None and monotonic() - self._kept[0] < self._seconds:
            return self._kept[1]
        if self._next is None:
            self._next = asyncio.create_task(self._start(self._running), name="shared-read")
        shared = self._next
        await asyncio.wait({shared})  # a caller that is cancelled leaves it to the others
        return shared.result()

    def forget(self) -> None:
        """After a change: nothing that was read before it is used again."""
        self._kept = None
        self._forgotten += 1

    async def _start(self, before: "asyncio.Task[T] | None") -> T:
        if before is not None and not before.done():
            await asyncio.wait({before})
        self._running, self._next = self._next, None
        forgotten, began = self._forgotten, monotonic()
        found = await self._read()
        if self._seconds and forgotten == self._forgotten:
            self._kept = began, found
        return found
