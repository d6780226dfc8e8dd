"""Stands in for a plug-in that could not be loaded or does not work."""

from collections.abc import AsyncGenerator, Sequence

from chie.chat.agents.base import AgentInfo, Approve, BaseAgent, Turn
from chie.chat.agents.profile import Profile
from chie.chat.events import Event
from chie.errors import ConfigurationError


class BrokenAgent(BaseAgent):
    """Stands where a plug-in's agent would be, and says why it is not."""

    def __init__(self, profile: Profile, reason: str) -> None:
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
        return self._profile.description or "A plug-in that does not work."

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
        return AgentInfo(
            id=self.agent_id,
            name=self.name,
            description=self.description,
            supports_mcp=False,
            available=False,
            reason=self._reason,
        )
