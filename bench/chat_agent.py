"""A minimal agent on an SDK, so that the figures show the cost of Chie around it."""

from collections.abc import AsyncGenerator, Callable, Sequence

from chie.chat.agents.base import AgentInfo, Approve, BaseAgent, Turn
from chie.chat.agents.calls import agent_info
from chie.chat.agents.registry import NoAgents
from chie.chat.events import Done, Event, Text


class SdkAgent(BaseAgent):
    def __init__(self, tokens: Callable[[str], AsyncGenerator[str, None]]) -> None:
        self._tokens = tokens

    @property
    def agent_id(self) -> str:
        return "sdk"

    @property
    def name(self) -> str:
        return "SDK"

    @property
    def description(self) -> str:
        return "A model's tokens, nothing else."

    def supports_mcp(self) -> bool:
        return False

    async def get_agent_info(self) -> AgentInfo:
        return AgentInfo(
            agent_id=self.agent_id, name=self.name, description=self.description, supports_mcp=False, available=True
        )

    async def stream_chat(
        self,
        message: str,
        history: Sequence[Turn],  # noqa: ARG002
        session_id: str,  # noqa: ARG002
        *,
        approve: Approve | None = None,  # noqa: ARG002
    ) -> AsyncGenerator[Event, None]:
        async for token in self._tokens(message):
            yield Text(type="message", content=token)
        yield Done(type="done", usage=None)


class OneAgent(NoAgents):
    """Always returns the same agent."""

    def __init__(self, agent: BaseAgent) -> None:
        self._agent = agent

    def get_agent(self, agent_id: str) -> BaseAgent:  # noqa: ARG002
        return self._agent

    async def list_agents(self) -> list[AgentInfo]:
        return [await agent_info(self._agent)]

    async def default_id(self) -> str:
        return self._agent.agent_id
