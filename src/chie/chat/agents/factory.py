"""Who can answer."""

import asyncio
import logging
from collections.abc import Iterable
from time import monotonic
from typing import Any

from chie.chat.agents.base import AgentInfo, BaseAgent
from chie.chat.agents.broken import BrokenAgent
from chie.chat.agents.profile import Profile
from chie.chat.toolbox.toolbox import Toolbox
from chie.errors import ConfigurationError, NotFoundError

logger = logging.getLogger(__name__)

REMEMBERED_SECONDS = 600.0
LOOK_SECONDS = 0.5  # the answer that is being asked for goes first


class AgentFactory:
    """A dict and a few verbs. The order of registration is the order in which people see the agents."""

    def __init__(self, toolbox: Toolbox, agents: Iterable[BaseAgent] = ()) -> None:
        self.toolbox = toolbox
        self._agents: dict[str, BaseAgent] = {}
        self._seen = float("-inf")  # when the first of them was available last
        self._looking: asyncio.Task[None] | None = None
        for agent in agents:
            self.register_agent(agent)

    def register_agent(self, agent: BaseAgent) -> None:
        if agent.agent_id in self._agents:
            raise ConfigurationError(f"There are two agents with the id {agent.agent_id}. Give one of them another.")
        self._agents[agent.agent_id] = agent

    def get_agent(self, agent_id: str) -> BaseAgent:
        try:
            agent = self._agents[agent_id]
        except KeyError:
            raise NotFoundError(f"There is no such agent. There are: {', '.join(self._agents)}.") from None
        logger.info("agent %s is chosen", agent_id)
        return agent

    async def list_agents(self) -> list[AgentInfo]:
        infos = await asyncio.gather(*map(self._info, self._agents))
        for first in infos[:1]:
            self._remember(first)
        return list(infos)

    async def default_id(self) -> str:
        """The first one that is available; the first of all if none is, which will say what it lacks.

        Nobody waits to hear that the very first is still there: a model's server may be far away. It is asked a moment
        later, for the next one who comes.
        """
        first = next(iter(self._agents), "")
        if monotonic() - self._seen > REMEMBERED_SECONDS:
            return await self._first_available() or first
        if self._looking is None or self._looking.done():
            self._looking = asyncio.create_task(self._look_again(), name="default-agent")
        return first

    async def _first_available(self) -> str | None:
        for place, agent_id in enumerate(self._agents):
            info = await self._info(agent_id)
            if place == 0:
                self._remember(info)
            if info.available:
                return info.id
        return None

    async def _info(self, agent_id: str) -> AgentInfo:
        """An agent may be anybody's code; one that fails must not hide the others."""
        try:
            return await self._agents[agent_id].get_agent_info()
        except Exception as error:
            logger.exception("agent %s could not say how it does", agent_id)
            reason = (
                f"The agent {agent_id} failed when it was asked how it does ({type(error).__name__}). Update or remove "
                "its package; the log has the reason."
            )
            return await BrokenAgent(Profile(id=agent_id), reason).get_agent_info()

    def _remember(self, first: AgentInfo) -> None:
        self._seen = monotonic() if first.available else float("-inf")

    async def _look_again(self) -> None:
        await asyncio.sleep(LOOK_SECONDS)
        await self._first_available()

    def server_states(self) -> list[dict[str, Any]]:
        """One entry a tool server: its name, transport, state, error and tools."""
        return [state.details() for state in self.toolbox.states()]

    async def reconnect_server(self, name: str) -> dict[str, Any]:
        return (await self.toolbox.reconnect(name)).details()

    async def close(self) -> None:
        if self._looking is not None:
            self._looking.cancel()
        for agent in self._agents.values():
            await agent.close()
