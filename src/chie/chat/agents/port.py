"""The port to the agents: who can answer, and the state of their tools' servers."""

from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from typing import Any

from chie.chat.agents.base import AgentInfo, BaseAgent
from chie.chat.agents.registry import AgentRegistry as AgentDirectory
from chie.chat.agents.registry import NoAgents

__all__ = ["AgentDirectory", "NoAgents", "Reception"]


class Reception:
    """Stands where the agents will be: they come when the house opens and leave when it closes."""

    def __init__(self, opening: Callable[[], AbstractAsyncContextManager[AgentDirectory]]) -> None:
        self._opening = opening
        self._agents: AgentDirectory = NoAgents()

    @asynccontextmanager
    async def open(self) -> AsyncIterator[None]:
        async with self._opening() as self._agents:
            yield
        self._agents = NoAgents()

    def get_agent(self, agent_id: str) -> BaseAgent:
        return self._agents.get_agent(agent_id)

    async def list_agents(self) -> list[AgentInfo]:
        return await self._agents.list_agents()

    async def default_id(self) -> str:
        return await self._agents.default_id()

    def server_states(self) -> Sequence[dict[str, Any]]:
        return self._agents.server_states()

    async def reconnect_server(self, name: str) -> dict[str, Any]:
        return await self._agents.reconnect_server(name)
