"""The port to whoever answers."""

from abc import ABC, abstractmethod
from collections.abc import AsyncGenerator, Awaitable, Callable, Sequence
from dataclasses import dataclass
from typing import Literal, TypedDict

from chie.chat.events import Event, ToolCall


class Turn(TypedDict):
    """One earlier message of the conversation."""

    role: Literal["user", "assistant"]
    content: str


@dataclass(frozen=True, kw_only=True)
class AgentInfo:
    """What a person sees of an agent; `reason` says what to set while it is not available."""

    id: str
    name: str
    description: str
    supports_mcp: bool
    available: bool
    reason: str | None = None
    model: str | None = None


Approve = Callable[[ToolCall], Awaitable[bool]]


class BaseAgent(ABC):
    """Made once, used by many conversations at a time: it keeps nothing of a conversation."""

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
        """Answer. Ends with `done`, or raises a ChieError; closing the generator ends the work.

        `approve` is asked before a destructive tool runs; without it such tools are refused.
        """

    @abstractmethod
    async def get_agent_info(self) -> AgentInfo:
        """May ask the model's server whether it is there, but briefly."""

    @abstractmethod
    def supports_mcp(self) -> bool: ...

    async def close(self) -> None:  # noqa: B027  most agents hold nothing
        """Let go of what the agent holds; called once, when the house closes."""
