"""Who can answer."""

import asyncio
import logging
from collections.abc import Iterable
from typing import Any

from chie.chat.agents.base import AgentInfo, BaseAgent
from chie.chat.toolbox.toolbox import Toolbox
from chie.errors import ConfigurationError, NotFoundError

logger = logging.getLogger(__name__)


class AgentFactory:
    """A dict and a few verbs. The order of registration is the order in which people see the agents."""

    def __init__(self, toolbox: Toolbox, agents: Iterable[BaseAgent] = ()) -> None:
        self.toolbox = toolbox
        self._agents: dict[str, BaseAgent] = {}
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
        return list(await asyncio.gather(*(agent.get_agent_info() for agent in self._agents.values())))

    async def default_id(self) -> str:
        """The first one that is available; the first of all if none is, which will say what it lacks."""
        infos = await self.list_agents()
        return next((info.id for info in infos if info.available), next(iter(self._agents), ""))

    def server_states(self) -> list[dict[str, Any]]:
        """One entry a tool server: its name, transport, state, error and tools."""
        return [state.details() for state in self.toolbox.states()]

    async def close(self) -> None:
        for agent in self._agents.values():
            await agent.close()
