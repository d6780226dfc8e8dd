"""The base of agents that take their texts from a profile."""

from abc import abstractmethod
from typing import Any, ClassVar, cast

from chie.chat.agents.base import AgentInfo, BaseAgent
from chie.chat.agents.profile import Profile
from chie.messages.catalogue import Message


class ProfileAgent(BaseAgent):
    """Subclasses set the defaults for the texts that a profile leaves out, and say why they are unavailable."""

    uses_model: ClassVar[bool] = True  # false for an agent that costs nothing, whatever limits there are
    default_name: ClassVar[str | Message]
    default_description: ClassVar[str | Message]

    def __init__(self, profile: Profile) -> None:
        self._profile = profile

    @property
    def agent_id(self) -> str:
        return self._profile.id

    @property
    def name(self) -> str:
        return self._profile.name or str(self.default_name)

    @property
    def description(self) -> str:
        return self._profile.description or str(self.default_description)

    @property
    def model_name(self) -> str | None:
        return None

    @property
    def sees_images(self) -> bool:
        return False

    @property
    def reads_documents(self) -> bool:
        return False

    @property
    def parameter_info(self) -> list[dict[str, Any]] | None:
        """The parameters of the agent's own model; None if its model cannot be chosen."""
        return None

    @property
    def tool_tokens(self) -> int | None:
        return None

    @abstractmethod
    async def problem(self) -> Message | None:
        """What keeps the agent from being available, and how to fix it."""

    async def get_agent_info(self) -> AgentInfo:
        problem = await self.problem()
        info = {
            "agent_id": self.agent_id,
            "supports_mcp": self.supports_mcp(),
            "available": problem is None,
            "model": self.model_name,
            "sees_images": self.sees_images,
            "reads_documents": self.reads_documents,
            "tool_tokens": self.tool_tokens,
            "model_parameters": self.parameter_info,
            **_text("name", self._profile.name or self.default_name),
            **_text("description", self._profile.description or self.default_description),
            **_text("reason", problem),
        }
        return cast("AgentInfo", info)


def _text(field: str, text: str | Message | None) -> dict[str, Any]:
    if not isinstance(text, Message):
        return {field: text, f"{field}_code": None, f"{field}_params": None}
    return {field: str(text), f"{field}_code": text.code, f"{field}_params": text.json_params()}
