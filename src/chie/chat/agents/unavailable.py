"""Takes the place of a plug-in that cannot be loaded or does not work."""

from collections.abc import AsyncGenerator, Sequence

from chie.chat.agents.base import AgentInfo, Approve, BaseAgent, Turn, agent_info
from chie.chat.agents.profile import Profile
from chie.chat.events import Event
from chie.errors import ConfigurationError
from chie.messages.catalogue import Message


class UnavailableAgent(BaseAgent):
    default_description = Message("agents.plugin_description")

    def __init__(self, profile: Profile, reason: Message) -> None:
        self._profile = profile
        self._reason = reason

    @property
    def agent_id(self) -> str:
        return self._profile.id

    @property
    def name(self) -> str:
        return self._profile.name or self._profile.id

    @property
    def description(self) -> str:
        return self._profile.description or str(self.default_description)

    def supports_mcp(self) -> bool:
        return False

    async def stream_chat(
        self,
        message: str,  # noqa: ARG002
        history: Sequence[Turn],  # noqa: ARG002
        session_id: str,  # noqa: ARG002
        *,
        approve: Approve | None = None,  # noqa: ARG002
    ) -> AsyncGenerator[Event, None]:
        raise ConfigurationError(self._reason)
        yield  # pragma: no cover  makes this a generator

    async def get_agent_info(self) -> AgentInfo:
        description = self._profile.description or self.default_description
        return agent_info(self, name=self.name, description=description, reason=self._reason)
