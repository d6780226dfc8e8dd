"""Takes the place of a plug-in that cannot be loaded or does not work."""

from collections.abc import AsyncGenerator, Sequence
from dataclasses import replace
from typing import ClassVar

from chie.chat.agents.base import Approve, OptionsAgent, Turn
from chie.chat.agents.profile import Profile
from chie.chat.agents.profile_agent import ProfileAgent
from chie.chat.events import Event
from chie.chat.models.options import Options
from chie.errors import ConfigurationError
from chie.messages.catalogue import Message


class UnavailableAgent(ProfileAgent, OptionsAgent):
    default_description: ClassVar[str | Message] = Message("agents.plugin_description")

    def __init__(self, profile: Profile, problem: Message) -> None:
        super().__init__(replace(profile, name=profile.name or profile.id))
        self._problem = problem

    def supports_mcp(self) -> bool:
        return False

    async def problem(self) -> Message:
        return self._problem

    async def stream_chat(
        self,
        message: str,  # noqa: ARG002
        history: Sequence[Turn],  # noqa: ARG002
        session_id: str,  # noqa: ARG002
        *,
        approve: Approve | None = None,  # noqa: ARG002
    ) -> AsyncGenerator[Event, None]:
        raise ConfigurationError(self._problem)
        yield  # pragma: no cover  makes this a generator

    def stream_with_options(
        self,
        message: str,
        history: Sequence[Turn],
        session_id: str,
        options: Options,  # noqa: ARG002
    ) -> AsyncGenerator[Event, None]:
        return self.stream_chat(message, history, session_id)
