"""The plug-in of docs/agents.md, which contains the rest of this file word for word."""

from collections.abc import AsyncGenerator, Sequence

from chie.chat.agents.base import AgentInfo, Approve, BaseAgent, Turn
from chie.chat.agents.dependencies import AgentDependencies
from chie.chat.agents.profile import Profile
from chie.chat.events import Done, Event, Text


class Parrot(BaseAgent):
    def __init__(self, profile: Profile, dependencies: AgentDependencies) -> None:
        self.profile = profile

    @property
    def agent_id(self) -> str:
        return self.profile.id

    @property
    def name(self) -> str:
        return self.profile.name or "Parrot"

    @property
    def description(self) -> str:
        return "Repeats what you say."

    def supports_mcp(self) -> bool:
        return False

    async def get_agent_info(self) -> AgentInfo:
        return AgentInfo(
            agent_id=self.agent_id, name=self.name, description=self.description, supports_mcp=False, available=True
        )

    async def stream_chat(
        self, message: str, history: Sequence[Turn], session_id: str, *, approve: Approve | None = None
    ) -> AsyncGenerator[Event, None]:
        yield Text(type="message", content=message)
        yield Done(type="done", usage=None)
