"""The messages of a conversation with a model."""

from base64 import b64encode
from dataclasses import dataclass

from chie.chat.models.chunks import Call, Reasoning


@dataclass(frozen=True)
class Image:
    """A picture as it was attached; `media_type` is one that every provider takes."""

    media_type: str
    data: bytes

    @property
    def base64(self) -> str:
        return b64encode(self.data).decode("ascii")


@dataclass(frozen=True)
class UserMessage:
    """`content` may be empty if there are images."""

    content: str
    images: tuple[Image, ...] = ()


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
