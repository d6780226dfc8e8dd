"""The line on which PostgreSQL tells what other processes did (LISTEN and NOTIFY). SQLite has none: there we poll."""

import asyncio
import logging
from typing import TYPE_CHECKING, Any
from uuid import uuid4

from chie.chat.sessions.database import CHANNEL, Database
from chie.errors import ChieError

if TYPE_CHECKING:
    from psycopg import AsyncConnection

QUIET_SECONDS = 15.0  # then we ask whether the line still stands
ANSWER_SECONDS = 5.0
PAUSES = (0.1, 0.5, 2.0, 5.0)

logger = logging.getLogger(__name__)


class Listener:
    """Keeps the line open. It counts as open once we have heard ourselves on it: behind a pooler that shares
    connections among transactions one may listen and never hear a thing."""

    def __init__(self, database: Database) -> None:
        self._database = database
        self._bell = database.bell
        self._echo = str(uuid4())
        self._failures = 0

    async def listen(self) -> None:
        """For ever, where there is something to listen to."""
        if self._database.url.get_backend_name() != "postgresql":
            return
        import psycopg

        while True:
            try:
                await self._hear()
            except (psycopg.Error, OSError, ChieError) as error:
                logger.warning("the line to PostgreSQL broke (%s); another is opened", type(error).__name__)
            finally:
                self._bell.hear(hears=False)
            await asyncio.sleep(PAUSES[min(self._failures, len(PAUSES) - 1)])
            self._failures += 1

    async def _hear(self) -> None:
        async with await self._connect() as connection:
            await connection.execute(f"LISTEN {CHANNEL}")
            await self._database.write(lambda writing: self._database.tell(writing, [self._echo]))
            while True:
                async for note in connection.notifies(timeout=QUIET_SECONDS):
                    self._pass_on(note.payload.split())
                async with asyncio.timeout(ANSWER_SECONDS):
                    await connection.execute("SELECT 1")

    def _pass_on(self, names: list[str]) -> None:
        if self._echo in names:
            self._failures = 0
            self._bell.hear(hears=True)
        self._bell.ring(names)

    async def _connect(self) -> "AsyncConnection[Any]":
        from psycopg import AsyncConnection

        url = self._database.url
        arguments, options = url.get_dialect()().create_connect_args(url)
        return await AsyncConnection.connect(*arguments, autocommit=True, **options)
