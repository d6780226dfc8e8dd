"""The port to a language model, and the types that cross it."""

import json
from abc import ABC, abstractmethod
from collections.abc import AsyncGenerator, Sequence
from dataclasses import dataclass, field
from typing import Any

from chie.chat.events import Usage

CONNECT_TIMEOUT_SECONDS = 5.0
MAX_OUTPUT_TOKENS = 8192  # Bedrock and Anthropic require a limit


@dataclass(frozen=True, kw_only=True)
class ToolSpec:
    """A tool as it is offered to a model."""

    name: str
    description: str
    schema: dict[str, Any]


@dataclass(frozen=True)
class Call:
    """A tool call of a model; `arguments` is the JSON text that the model wrote, valid or not."""

    id: str
    name: str
    arguments: str

    def parsed(self) -> dict[str, Any] | None:
        """The arguments as an object, or None if they are not one. An empty text means no arguments.

        Python's parser also accepts NaN, out-of-range numbers and lone surrogates, which are not valid JSON.
        """
        try:
            value = json.loads(self.arguments or "{}")
            json.dumps(value, allow_nan=False, ensure_ascii=False).encode()
        except (ValueError, RecursionError):
            return None
        return value if isinstance(value, dict) else None


@dataclass(frozen=True)
class CallResult:
    id: str
    content: str
    is_error: bool


@dataclass(frozen=True)
class Reasoning:
    """A reasoning block in the provider's own format. Providers expect it back together with the tool results."""

    block: Any


@dataclass(frozen=True)
class UserMessage:
    content: str


@dataclass(frozen=True)
class AssistantMessage:
    content: str
    calls: tuple[Call, ...] = ()
    reasoning: tuple[Reasoning, ...] = ()


@dataclass(frozen=True)
class ToolMessage:
    """The results of all calls of the preceding message."""

    results: tuple[CallResult, ...]


ChatMessage = UserMessage | AssistantMessage | ToolMessage


@dataclass(frozen=True, kw_only=True)
class Prompt:
    """The input for a model's next message. With `calls_allowed` false the model must answer in text."""

    system: str
    messages: Sequence[ChatMessage]
    tools: Sequence[ToolSpec] = field(default=())
    calls_allowed: bool = True


@dataclass(frozen=True)
class TextDelta:
    text: str


@dataclass(frozen=True)
class End:
    """The end of a message. `truncated`: the token limit was reached. `filtered`: the provider's filter or policy
    stopped it."""

    usage: Usage | None
    truncated: bool = False
    filtered: bool = False


Chunk = TextDelta | Reasoning | Call | End


class ChatModel(ABC):
    """Cheap to construct: an adapter imports its SDK on first use."""

    @property
    @abstractmethod
    def name(self) -> str | None:
        """The model's name; None until it is known."""

    @abstractmethod
    def stream(self, prompt: Prompt) -> AsyncGenerator[Chunk, None]:
        """One message: text as it arrives, each call once it is complete, `End` last.

        Raises ModelError, also when the message breaks off. Closing the generator cancels the request.
        """

    @abstractmethod
    async def check(self) -> None:
        """Raise a ChieError naming what to start or set if the model cannot be used. Returns quickly."""

    @abstractmethod
    async def close(self) -> None:
        """Close connections."""
