"""What the routes work with, made by `create_app` and opened when the house starts."""

import asyncio
import logging
from contextlib import suppress
from typing import Annotated

from fastapi import Depends, Request
from sqlalchemy import URL

from chie.chat.directory import AgentDirectory
from chie.chat.metrics import Metrics
from chie.chat.runs import SAVE_SECONDS, Runs
from chie.chat.sessions.database import Database
from chie.chat.sessions.ownership import RENEW
from chie.chat.sessions.service import SessionService
from chie.chat.sessions.turns import Turns
from chie.chat.sessions.upgrade import upgrade
from chie.errors import ChieError

logger = logging.getLogger(__name__)


class Chat:
    """The parts of the room. A database that is ill at the start is tried again by every request."""

    def __init__(self, agents: AgentDirectory, url: URL, *, save_seconds: float = SAVE_SECONDS) -> None:
        self.agents = agents
        self.metrics = Metrics()
        self._url = url
        self._database = Database(url)
        self.sessions = SessionService(self._database, agents)
        self.turns = Turns(self._database, agents)
        self.runs = Runs(self.turns, self.metrics, save_seconds=save_seconds)
        self._opening = asyncio.Lock()
        self._keeper: asyncio.Task[None] | None = None

    @property
    def is_open(self) -> bool:
        return self._keeper is not None

    async def open(self) -> None:
        async with self._opening:
            if self.is_open:
                return
            await asyncio.to_thread(upgrade, self._url)
            await self.turns.recover()
            self._keeper = asyncio.create_task(self._keep(), name="chat-keeper")

    async def close(self) -> None:
        await self.runs.close()
        if self._keeper is not None:
            self._keeper.cancel()
            with suppress(asyncio.CancelledError):
                await self._keeper
            self._keeper = None
        await self._database.close()

    async def _keep(self) -> None:
        """Say that our answers are alive, and look for those whose writer is not."""
        while True:
            await asyncio.sleep(RENEW.total_seconds())
            try:
                await self.turns.stay_alive(self.runs.message_ids)
                await self.turns.recover()
            except ChieError as error:
                logger.warning("the database does not answer: %s", error.message)


async def get_chat(request: Request) -> Chat:
    chat: Chat = request.app.state.chat
    if not chat.is_open:
        await chat.open()
    return chat


ChatState = Annotated[Chat, Depends(get_chat)]
