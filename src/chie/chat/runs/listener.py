"""Receives PostgreSQL's notifications (LISTEN) and passes them to the notifier. SQLite has none and is polled."""

import asyncio
import logging
from typing import TYPE_CHECKING, Any
from uuid import uuid4

from chie.chat.runs.notifier import Notifier
from chie.chat.sessions.database import CHANNEL, Database
from chie.errors import ChieError

if TYPE_CHECKING:
    from psycopg import AsyncConnection

KEEPALIVE_SECONDS = 15.0  # without a notification for so long, check that the connection still works
KEEPALIVE_TIMEOUT_SECONDS = 5.0
RECONNECT_DELAYS = (0.1, 0.5, 2.0, 5.0)

logger = logging.getLogger(__name__)


class Listener:
    """Keeps a listening connection open.

    It counts as connected once a notification of our own comes back: behind a pooler that shares connections between
    transactions, LISTEN succeeds and nothing ever arrives.
    """

    def __init__(self, database: Database, notifier: Notifier) -> None:
        self._database = database
        self._notifier = notifier
        self._probe = str(uuid4())
        self._failures = 0

    async def listen(self) -> None:
        """Runs until it is cancelled; returns at once on SQLite."""
        if self._database.url.get_backend_name() != "postgresql":
            return
        import psycopg

        while True:
            try:
                await self._receive()
            except (psycopg.Error, OSError, ChieError) as error:  # `listen` starts again after any other one
                logger.warning("lost the listening connection to PostgreSQL (%s); reconnecting", type(error).__name__)
            finally:
                self._notifier.set_connected(connected=False)
            await asyncio.sleep(RECONNECT_DELAYS[min(self._failures, len(RECONNECT_DELAYS) - 1)])
            self._failures += 1

    async def _receive(self) -> None:
        async with await self._connect() as connection:
            await connection.execute(f"LISTEN {CHANNEL}")
            await self._database.write(lambda writing: self._database.notify(writing, [self._probe]))
            while True:
                async for notification in connection.notifies(timeout=KEEPALIVE_SECONDS):
                    self._dispatch(notification.payload.split())
                async with asyncio.timeout(KEEPALIVE_TIMEOUT_SECONDS):
                    await connection.execute("SELECT 1")

    def _dispatch(self, names: list[str]) -> None:
        if self._probe in names:
            self._failures = 0
            self._notifier.set_connected(connected=True)
        self._notifier.notify(names)

    async def _connect(self) -> "AsyncConnection[Any]":
        from psycopg import AsyncConnection

        url = self._database.url
        arguments, options = url.get_dialect()().create_connect_args(url)
        return await AsyncConnection.connect(*arguments, autocommit=True, **options)
