"""The messages of a conversation with a model."""

from dataclasses import dataclass

from chie.chat.models.chunks import Call, Reasoning


@dataclass(frozen=True)
class UserMessage:
    content: str


@dataclass(frozen=True)
class AssistantMessage:
    content: str
    calls: tuple[Call, ...] = ()
    reasoning: tuple[Reasoning, ...] = ()


@dataclass(frozen=True)
class CallResult:
    id: str
    content: str
    is_error: bool


@dataclass(frozen=True)
class ToolMessage:
    """The results of all calls of the preceding message."""

    results: tuple[CallResult, ...]


ChatMessage = UserMessage | AssistantMessage | ToolMessage
