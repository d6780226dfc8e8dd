"""Idle connections, ready for the next caller."""

from contextlib import suppress
from queue import Empty, LifoQueue
from typing import Generic, Protocol, TypeVar


class Closable(Protocol):
    def close(self) -> None: ...


C = TypeVar("C", bound=Closable)


class IdleConnections(Generic[C]):
    """Last in, first out: the most recently used connection is the least likely to have timed out."""

    def __init__(self) -> None:
        self._queue: LifoQueue[C] = LifoQueue()

    def take(self) -> C | None:
        with suppress(Empty):
            return self._queue.get_nowait()
        return None

    def put(self, connection: C) -> None:
        self._queue.put(connection)

    def close(self) -> None:
        """Connections that are put back later are kept again."""
        while connection := self.take():
            connection.close()
