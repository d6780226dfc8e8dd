"""The registry of agents."""

import asyncio
import logging
from collections.abc import Iterable, Sequence
from time import monotonic
from typing import TYPE_CHECKING, Any, Protocol

from chie import background
from chie.chat.agents.base import AgentInfo, BaseAgent
from chie.chat.agents.calls import agent_info
from chie.chat.agents.profile import Profile
from chie.chat.agents.unavailable import UnavailableAgent
from chie.chat.models.catalogue import ModelCatalogue
from chie.errors import ConfigurationError, NotFoundError, ServiceError
from chie.messages.catalogue import Message

if TYPE_CHECKING:
    from chie.chat.toolbox.toolbox import Toolbox

logger = logging.getLogger(__name__)

DEFAULT_AGENT_TTL_SECONDS = 600.0
RECHECK_DELAY_SECONDS = 0.5  # the answer that is about to start goes first


class AgentRegistry(Protocol):
    """The port to all agents and to their tool servers."""

    @property
    def toolbox(self) -> "Toolbox": ...

    @property
    def catalogue(self) -> ModelCatalogue:
        """The models that conversations may choose."""

    def get_agent(self, agent_id: str) -> BaseAgent:
        """NotFoundError if there is no agent with this id."""

    async def list_agents(self) -> list[AgentInfo]:
        """Plain dicts, each with every key of AgentInfo."""

    async def default_id(self) -> str:
        """The first agent that is available. It answers requests that name none."""

    async def preselected_id(self) -> str:
        """The agent that the page selects, or else the default."""

    def server_states(self) -> Sequence[dict[str, Any]]:
        """One entry per tool server: its name, state, error and tools."""

    async def reconnect_server(self, name: str) -> dict[str, Any]:
        """Disconnect, connect again and return the new state.

        Raises NotFoundError if there is no such server, ServiceError if it cannot be connected.
        """

    async def accept_tools(self, name: str) -> dict[str, Any]:
        """Accept a server's changed tools and return its state. Raises NotFoundError if there is no such server."""


class NoAgents:
    """An empty registry."""

    @property
    def toolbox(self) -> "Toolbox":
        from chie.chat.toolbox.toolbox import Toolbox

        return Toolbox([])

    @property
    def catalogue(self) -> ModelCatalogue:
        return ModelCatalogue()

    def get_agent(self, agent_id: str) -> BaseAgent:  # noqa: ARG002
        raise NotFoundError("agents.none_registered")

    async def list_agents(self) -> list[AgentInfo]:
        return []

    async def default_id(self) -> str:
        raise NotFoundError("agents.none_registered")

    async def preselected_id(self) -> str:
        raise NotFoundError("agents.none_registered")

    def server_states(self) -> Sequence[dict[str, Any]]:
        return []

    async def reconnect_server(self, name: str) -> dict[str, Any]:  # noqa: ARG002
        raise NotFoundError("agents.none_registered")

    async def accept_tools(self, name: str) -> dict[str, Any]:  # noqa: ARG002
        raise NotFoundError("agents.none_registered")


class AgentFactory:
    """Agents by id, listed in the order of registration."""

    def __init__(
        self,
        toolbox: "Toolbox",
        agents: Iterable[BaseAgent] = (),
        catalogue: ModelCatalogue | None = None,
        *,
        preselected: str | None = None,
    ) -> None:
        self.toolbox = toolbox
        self.catalogue = catalogue or ModelCatalogue()
        self._agents: dict[str, BaseAgent] = {}
        self._preselected = preselected
        self._first_seen_at = float("-inf")  # when the first agent was last available
        self._rechecking: asyncio.Task[None] | None = None
        for agent in agents:
            self.register_agent(agent)

    def register_agent(self, agent: BaseAgent) -> None:
        if agent.agent_id in self._agents:
            raise ConfigurationError("agents.id_duplicate", id=agent.agent_id)
        self._agents[agent.agent_id] = agent

    def get_agent(self, agent_id: str) -> BaseAgent:
        try:
            return self._agents[agent_id]
        except KeyError:
            raise NotFoundError("agents.not_found", ids=list(self._agents)) from None

    async def list_agents(self) -> list[AgentInfo]:
        infos = await asyncio.gather(*map(self._info, self._agents))
        for first in infos[:1]:
            self._remember(first)
        return list(infos)

    async def default_id(self) -> str:
        """The first agent that is available, or else the very first, whose error explains why.

        Does not wait for the first agent's model server, which may be slow, if it was available recently: the check
        runs in the background, and the next call sees its result.
        """
        first = next(iter(self._agents), "")
        if monotonic() - self._first_seen_at > DEFAULT_AGENT_TTL_SECONDS:
            return await self._first_available() or first
        if self._rechecking is None or self._rechecking.done():
            self._rechecking = background.once(self._recheck(), "default-agent")
        return first

    async def preselected_id(self) -> str:
        if self._preselected in self._agents and (await self._info(self._preselected))["available"]:
            return self._preselected
        return await self.default_id()

    async def _first_available(self) -> str | None:
        for position, agent_id in enumerate(self._agents):
            info = await self._info(agent_id)
            if position == 0:
                self._remember(info)
            if info["available"]:
                return agent_id
        return None

    async def _info(self, agent_id: str) -> AgentInfo:
        """A plug-in that raises must not hide the other agents."""
        try:
            return await agent_info(self._agents[agent_id])
        except Exception as error:
            logger.exception("agent %s failed to report its state", agent_id)
            reason = Message("agents.info_failed", id=agent_id, error=type(error).__name__)
            return await UnavailableAgent(Profile(id=agent_id), reason).get_agent_info()

    def _remember(self, first: AgentInfo) -> None:
        self._first_seen_at = monotonic() if first["available"] else float("-inf")

    async def _recheck(self) -> None:
        await asyncio.sleep(RECHECK_DELAY_SECONDS)
        await self._first_available()

    def server_states(self) -> list[dict[str, Any]]:
        return [state.details() for state in self.toolbox.states()]

    async def reconnect_server(self, name: str) -> dict[str, Any]:
        state = await self.toolbox.reconnect(name)
        if state.state != "connected":
            raise ServiceError(state.error or Message("toolbox.connecting", server=name))
        return state.details()

    async def accept_tools(self, name: str) -> dict[str, Any]:
        return (await self.toolbox.accept_changes(name)).details()

    async def close(self) -> None:
        if self._rechecking is not None:
            self._rechecking.cancel()
        for agent in self._agents.values():
            await agent.close()
        await self.catalogue.close()
