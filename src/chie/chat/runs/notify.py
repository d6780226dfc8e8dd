"""Wakes those in this process who wait for something that another process does.

Whoever waits looks into the database each time it rings, and now and then without: a ring that is lost costs time only.
"""

import asyncio
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from math import inf

POLL_SECONDS = 0.25  # where nothing can ring: SQLite, or PostgreSQL while the line to it is down
CHECK_SECONDS = 5.0


class Ring:
    """One who waits. What rang while they looked away is not lost."""

    def __init__(self, bell: "Bell") -> None:
        self._bell = bell
        self._rung = asyncio.Event()

    def ring(self) -> None:
        self._rung.set()

    async def heard(self, at_most: float = inf) -> bool:
        """Wait until there may be something to see, for so many seconds at most; False if nothing rang."""
        with suppress(TimeoutError):
            async with asyncio.timeout(min(self._bell.pause, at_most)):
                await self._rung.wait()
        rung = self._rung.is_set()
        self._rung.clear()
        return rung


class Bell:
    def __init__(self) -> None:
        self._rings: dict[str, set[Ring]] = {}
        self._hears = False

    @property
    def pause(self) -> float:
        return CHECK_SECONDS if self._hears else POLL_SECONDS

    @contextmanager
    def listening(self, name: str) -> Iterator[Ring]:
        """`name` is an answer's id, or the process that is asked for something."""
        ring = Ring(self)
        self._rings.setdefault(name, set()).add(ring)
        try:
            yield ring
        finally:
            self._rings[name].discard(ring)
            if not self._rings[name]:
                del self._rings[name]

    def ring(self, names: Iterable[str]) -> None:
        for name in names:
            for ring in self._rings.get(name, ()):
                ring.ring()

    def hear(self, *, hears: bool) -> None:
        """Whether news come by themselves, from now on; everybody looks once for what came meanwhile."""
        self._hears = hears
        self.ring(list(self._rings))
