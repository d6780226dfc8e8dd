"""The port to a language model, and what is said across it."""

import json
from abc import ABC, abstractmethod
from collections.abc import AsyncGenerator, Sequence
from dataclasses import dataclass, field
from typing import Any

from chie.chat.events import Usage
from chie.errors import ServiceError


class ModelError(ServiceError):
    """The model's server is away, refuses, or breaks off; says which address was tried and what to do."""


@dataclass(frozen=True, kw_only=True)
class ToolSpec:
    """A tool as a model gets to know it."""

    name: str
    description: str
    schema: dict[str, Any]


@dataclass(frozen=True)
class Call:
    """A model wants a tool to run; `arguments` is JSON as the model wrote it, well-formed or not."""

    id: str
    name: str
    arguments: str

    def parsed(self) -> dict[str, Any] | None:
        """The arguments as an object, or None if they are none. No text at all stands for no arguments.

        Python reads more than JSON allows: NaN, numbers beyond all bounds, halves of surrogate pairs.
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
class UserSaid:
    content: str


@dataclass(frozen=True)
class Thought:
    """What a model thought before it spoke, in its server's form; it wants that back with the results of its calls."""

    block: Any


@dataclass(frozen=True)
class ModelSaid:
    content: str
    calls: tuple[Call, ...] = ()
    thoughts: tuple[Thought, ...] = ()


@dataclass(frozen=True)
class ToolsSaid:
    """The results of all calls of the message before."""

    results: tuple[CallResult, ...]


Message = UserSaid | ModelSaid | ToolsSaid


@dataclass(frozen=True, kw_only=True)
class Prompt:
    """All that a model needs for its next message; when `calls_allowed` is false it shall answer in words."""

    system: str
    messages: Sequence[Message]
    tools: Sequence[ToolSpec] = field(default=())
    calls_allowed: bool = True


@dataclass(frozen=True)
class TextPiece:
    text: str


@dataclass(frozen=True)
class End:
    """The message is whole; or `cut` where the model's limit of tokens was reached, or `stopped` by its provider, whose
    filter or policy did not let it go on."""

    usage: Usage | None
    cut: bool = False
    stopped: bool = False


Piece = TextPiece | Thought | Call | End


class ChatModel(ABC):
    """Made cheaply: an adapter imports its SDK when it is first used."""

    @property
    @abstractmethod
    def name(self) -> str | None:
        """The model's name, as far as it is known by now."""

    @abstractmethod
    def stream(self, prompt: Prompt) -> AsyncGenerator[Piece, None]:
        """One message, piece by piece: text as it comes, calls when they are whole, `End` last.

        Raises ModelError, also when the message breaks off. Closing the generator ends the request.
        """

    @abstractmethod
    async def check(self) -> None:
        """Raise a ChieError that says what to start or set, if this model cannot be used. Is brief."""

    @abstractmethod
    async def close(self) -> None:
        """Let go of connections."""
