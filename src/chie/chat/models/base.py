"""The port to a language model."""

from abc import ABC, abstractmethod
from collections.abc import AsyncGenerator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from chie.chat.models.chunks import Chunk
from chie.chat.models.messages import ChatMessage
from chie.chat.models.model_parameters import UNKNOWN, Parameter
from chie.chat.models.options import ToolSpec
from chie.chat.models.vision import known_model_sees

CONNECT_TIMEOUT_SECONDS = 5.0
MAX_OUTPUT_TOKENS = 8192  # of a Claude; Anthropic requires a limit


@dataclass(frozen=True, kw_only=True)
class Prompt:
    """The input for a model's next message. With `calls_allowed` false the model must answer in text, with
    `call_required` it must call a tool. `parameters` have OpenAI's names; an adapter refuses those it cannot send."""

    system: str
    messages: Sequence[ChatMessage]
    tools: Sequence[ToolSpec] = field(default=())
    calls_allowed: bool = True
    call_required: bool = False
    parameters: Mapping[str, Any] = field(default_factory=dict)


class ChatModel(ABC):
    """Cheap to construct: an adapter imports its SDK on first use. `context` is how many tokens the model reads, where
    a setting, its server or one of its errors has said so; `vision` is what a setting says about images."""

    context: int | None = None
    token_scale: float = 1.0  # how many tokens it counts for one of our estimate
    vision: bool | None = None

    @property
    @abstractmethod
    def name(self) -> str | None:
        """The model's name; None until it is known."""

    @property
    def host(self) -> str:
        """The host that serves the model, which is billed for it; empty if it is not known."""
        return ""

    @property
    def is_local(self) -> bool:
        """Whether the model runs on this machine, at no cost."""
        return False

    @property
    def sees_images(self) -> bool | None:
        """As a setting, the server or the name of the model says; None if it is unknown."""
        return known_model_sees(self.name) if self.vision is None else self.vision

    @property
    def parameters(self) -> tuple[Parameter, ...]:
        """Those that a conversation may set."""
        return UNKNOWN

    async def find_context(self) -> None:  # noqa: B027  most servers do not say
        """Set `context` if the model's server says it; called for long conversations while it is not known."""

    def learn_context(self, tokens: int) -> None:
        """An error has named it, which is more certain than a listing."""
        self.context = tokens

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
