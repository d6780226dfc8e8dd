"""Wakes tasks of this process that wait for a change made by another process.

A subscriber reads the database after each notification, and periodically without one, so a lost notification only
costs time.
"""

import asyncio
from collections.abc import Iterable
from contextlib import suppress
from math import inf
from typing import Self

POLL_SECONDS = 0.25  # without notifications: SQLite, or PostgreSQL while the listener is disconnected
CHECK_SECONDS = 5.0


class Subscription:
    """Remembers a notification that arrives while its subscriber is busy. Used as a context manager."""

    def __init__(self, notifier: "Notifier", name: str) -> None:
        self._notifier = notifier
        self._name = name
        self._notified = asyncio.Event()

    def __enter__(self) -> Self:
        self._notifier.add(self._name, self)
        return self

    def __exit__(self, *_: object) -> None:
        self._notifier.remove(self._name, self)

    def notify(self) -> None:
        self._notified.set()

    async def wait(self, timeout: float = inf) -> bool:  # noqa: ASYNC109 - the shorter of two timeouts
        """Wait until the database is worth reading again; False if no notification came."""
        with suppress(TimeoutError):
            async with asyncio.timeout(min(self._notifier.poll_interval, timeout)):
                await self._notified.wait()
        notified = self._notified.is_set()
        self._notified.clear()
        return notified


class Notifier:
    """Subscriptions by name: the id of an answer, or the owner that a command is for."""

    def __init__(self) -> None:
        self._subscriptions: dict[str, set[Subscription]] = {}
        self._connected = False

    @property
    def poll_interval(self) -> float:
        return CHECK_SECONDS if self._connected else POLL_SECONDS

    def subscribe(self, name: str) -> Subscription:
        return Subscription(self, name)

    def add(self, name: str, subscription: Subscription) -> None:
        self._subscriptions.setdefault(name, set()).add(subscription)

    def remove(self, name: str, subscription: Subscription) -> None:
        self._subscriptions[name].discard(subscription)
        if not self._subscriptions[name]:
            del self._subscriptions[name]

    def notify(self, names: Iterable[str]) -> None:
        for name in names:
            for subscription in self._subscriptions.get(name, ()):
                subscription.notify()

    def set_connected(self, *, connected: bool) -> None:
        """Whether notifications arrive from now on. Wakes all subscribers, as some may have been lost."""
        self._connected = connected
        self.notify(list(self._subscriptions))
