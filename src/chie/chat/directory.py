"""The port to the agents: who can answer, and the state of their tools' servers."""

from collections.abc import Sequence
from typing import Any, Protocol

from chie.chat.agents.base import AgentInfo, BaseAgent


class AgentDirectory(Protocol):
    def get_agent(self, agent_id: str) -> BaseAgent:
        """NotFoundError where there is none of that name."""

    async def list_agents(self) -> list[AgentInfo]: ...

    async def default_id(self) -> str:
        """The first agent that is available."""

    def server_states(self) -> Sequence[dict[str, Any]]:
        """One entry a server of tools: its name, state, error and tools."""
