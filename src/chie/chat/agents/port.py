"""The port to the agents: who can answer, and the state of their tools' servers."""

from collections.abc import Sequence
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
