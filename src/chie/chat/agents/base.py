"""The port to an agent."""

from abc import ABC, abstractmethod
from collections.abc import AsyncGenerator, Awaitable, Callable, Sequence
from dataclasses import dataclass
from typing import Any, Literal, TypedDict

from chie.chat.events import Event, ToolCall


class Turn(TypedDict):
    """One earlier message of the conversation."""

    role: Literal["user", "assistant"]
    content: str


@dataclass(frozen=True, kw_only=True)
class AgentInfo:
    """The public description of an agent; `reason` explains why it is not available.

    A text from the message catalogue has its code and parameters beside it, so that the page can translate it.
    """

    id: str
    name: str
    description: str
    supports_mcp: bool
    available: bool
    reason: str | None = None
    model: str | None = None
    name_code: str | None = None
    name_params: dict[str, Any] | None = None
    description_code: str | None = None
    description_params: dict[str, Any] | None = None
    reason_code: str | None = None
    reason_params: dict[str, Any] | None = None


Approve = Callable[[ToolCall], Awaitable[bool]]


class BaseAgent(ABC):
    """Created once and used by many conversations at a time, so it keeps no state of a conversation."""

    @property
    @abstractmethod
    def agent_id(self) -> str: ...

    @property
    @abstractmethod
    def name(self) -> str: ...

    @property
    @abstractmethod
    def description(self) -> str: ...

    @abstractmethod
    def stream_chat(
        self, message: str, history: Sequence[Turn], session_id: str, *, approve: Approve | None = None
    ) -> AsyncGenerator[Event, None]:
        """Answer. Ends with `done` or raises a ChieError; closing the generator cancels the work.

        `approve` is awaited before a destructive call runs. Without it such calls are rejected.
        """

    @abstractmethod
    async def get_agent_info(self) -> AgentInfo:
        """May contact the model's server, but must return quickly."""

    @abstractmethod
    def supports_mcp(self) -> bool: ...

    async def close(self) -> None:  # noqa: B027  most agents hold no resources
        """Release the agent's resources. Called once, when the app shuts down."""
