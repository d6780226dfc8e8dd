"""What the routes work with, made by `create_app` and opened when the house starts."""

import asyncio
import logging
from typing import Annotated

from fastapi import Depends, Request
from sqlalchemy import URL

from chie.chat.agents.port import AgentDirectory
from chie.chat.metrics import Metrics
from chie.chat.runs.command_queue import Orders
from chie.chat.runs.lease import RENEW, Patience
from chie.chat.runs.listener import Listener
from chie.chat.runs.manager import SAVE_SECONDS, Runs
from chie.chat.runs.recovery import Recovery
from chie.chat.runs.remote import Elsewhere
from chie.chat.sessions.database import Database
from chie.chat.sessions.service import SessionService
from chie.chat.sessions.turns import Turns
from chie.chat.sessions.upgrade import upgrade
from chie.chat.toolbox.wrappers import possible_names
from chie.errors import ChieError

logger = logging.getLogger(__name__)


class Chat:
    """The parts of the room. A database that is ill at the start is tried again by every request."""

    def __init__(
        self, agents: AgentDirectory, url: URL, *, save_seconds: float = SAVE_SECONDS, characters: int
    ) -> None:
        self.agents = agents
        self.metrics = Metrics(self._tool_names)
        self._url = url
        self._database = Database(url)
        self.sessions = SessionService(self._database, agents)
        self.turns = Turns(self._database, agents)
        self.recovery = Recovery(self._database, self.turns.owner)
        orders = Orders(self._database, self.turns.owner)
        elsewhere = Elsewhere(self.turns, orders, self.recovery)
        self.runs = Runs(self.turns, orders, elsewhere, self.metrics, save_seconds=save_seconds, characters=characters)
        self._orders = orders
        self._patience = Patience()
        self._opening = asyncio.Lock()
        self._keepers: list[asyncio.Task[None]] = []

    def _tool_names(self) -> set[str]:
        offered = ((server["name"], tool["name"]) for server in self.agents.server_states() for tool in server["tools"])
        return set().union(*(possible_names(server, tool) for server, tool in offered))

    @property
    def is_open(self) -> bool:
        return bool(self._keepers)

    async def open(self) -> None:
        async with self._opening:
            if self.is_open:
                return
            await asyncio.to_thread(upgrade, self._url)
            await self._orders.forget_old()
            await self.recovery.recover(self._patience.lease)
            listening = Listener(self._database).listen()
            self._keepers = [
                asyncio.create_task(self._keep(), name="chat-keeper"),
                asyncio.create_task(listening, name="chat-listener"),
            ]

    async def close(self) -> None:
        await self.runs.close()
        for keeper in self._keepers:
            keeper.cancel()
        await asyncio.gather(*self._keepers, return_exceptions=True)
        self._keepers = []
        await self._database.close()

    async def _keep(self) -> None:
        """Say that our answers are alive, and look for those whose writer is not."""
        while True:
            await asyncio.sleep(RENEW.total_seconds())
            try:
                self.runs.lose(await self.turns.stay_alive(self.runs.message_ids))
                await self.recovery.recover(self._patience.lease)
            except ChieError as error:
                self._patience.start_over()
                logger.warning("the database does not answer: %s", error.message)


async def get_chat(request: Request) -> Chat:
    chat: Chat = request.app.state.chat
    if not chat.is_open:
        await chat.open()
    return chat


ChatState = Annotated[Chat, Depends(get_chat)]
