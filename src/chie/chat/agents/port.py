"""The port to the agents: who can answer, and the state of their tools' servers."""

from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from typing import Any, Protocol

from chie.chat.agents.base import AgentInfo, BaseAgent
from chie.errors import NotFoundError


class AgentDirectory(Protocol):
    def get_agent(self, agent_id: str) -> BaseAgent:
        """NotFoundError where there is none of that name."""

    async def list_agents(self) -> list[AgentInfo]: ...

    async def default_id(self) -> str:
        """The first agent that is available."""

    def server_states(self) -> Sequence[dict[str, Any]]:
        """One entry a server of tools: its name, state, error and tools."""

    async def reconnect_server(self, name: str) -> dict[str, Any]:
        """Leave the server, go back to it, and tell how it does now; NotFoundError where there is none."""


class NoAgents:
    """Nobody answers, and says so."""

    def get_agent(self, agent_id: str) -> BaseAgent:  # noqa: ARG002
        raise NotFoundError("no agent has this id: this house has no agents.")

    async def list_agents(self) -> list[AgentInfo]:
        return []

    async def default_id(self) -> str:
        raise NotFoundError("no agent can answer: this house has no agents.")

    def server_states(self) -> Sequence[dict[str, Any]]:
        return []

    async def reconnect_server(self, name: str) -> dict[str, Any]:  # noqa: ARG002
        raise NotFoundError("no server has this name: this house has no agents that use any.")


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
