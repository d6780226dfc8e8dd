"""The port to an agent."""

from abc import ABC, abstractmethod
from collections.abc import AsyncGenerator, Awaitable, Callable, Mapping, Sequence
from typing import Any, Literal, NotRequired, TypedDict

from chie.chat.events import Event, ToolCall
from chie.chat.models.options import Options


class Attachment(TypedDict):
    """A file that came with a question: an image with its `data`, or a document with its `text`."""

    name: str
    media_type: str
    data: NotRequired[bytes]
    text: NotRequired[str]


class Turn(TypedDict):
    """One earlier message of the conversation. `parts` are the texts, tool calls and results of an answer that used
    tools, in order, as events; a call that was cut off has no result. A question may have `attachments`."""

    role: Literal["user", "assistant"]
    content: str
    parts: NotRequired[list[dict[str, Any]]]
    attachments: NotRequired[list[Attachment]]


class AgentInfo(TypedDict):
    """The public description of an agent; `reason` explains why it is not available.

    A text from the message catalogue has its code and parameters beside it, so that the page can translate it.
    An agent without `available` is available. One that `sees_images` takes `attachments`; one that does not say
    otherwise `reads_documents`, whose text is put into the message. One whose model can be chosen has the
    `model_parameters` of its own model. `tool_tokens` is about what its tools take in every question.
    """

    agent_id: str
    name: str
    description: str
    supports_mcp: bool
    available: NotRequired[bool]
    reason: NotRequired[str | None]
    model: NotRequired[str | None]
    sees_images: NotRequired[bool]
    reads_documents: NotRequired[bool]
    servers: NotRequired[list[str]]
    tool_tokens: NotRequired[int | None]
    model_parameters: NotRequired[list[dict[str, Any]] | None]
    name_code: NotRequired[str | None]
    name_params: NotRequired[dict[str, Any] | None]
    description_code: NotRequired[str | None]
    description_params: NotRequired[dict[str, Any] | None]
    reason_code: NotRequired[str | None]
    reason_params: NotRequired[dict[str, Any] | None]


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

        `approve` is awaited before a destructive call runs. Without it such calls are rejected. An agent that never
        asks may leave the parameter out.
        An agent may also take the keyword `attachments`, the files of the question. If it does not, the text of
        documents is put into `message` and into the earlier turns.
        It may take the keyword `project`, a `ProjectContext`, too. If it does not, the project's instructions and files
        are put before `message`.
        """

    @abstractmethod
    def get_agent_info(self) -> Mapping[str, object] | Awaitable[Mapping[str, object]]:
        """The keys of `AgentInfo`. `async def` may contact the model's server; both must return quickly."""

    @abstractmethod
    def supports_mcp(self) -> bool: ...

    def mcp_servers(self) -> Sequence[str]:
        """The MCP servers whose prompts and resources the page offers with this agent, by name."""
        return ()

    async def close(self) -> None:  # noqa: B027  most agents hold no resources
        """Release the agent's resources. Called once, when the app shuts down."""


class OptionsAgent(BaseAgent):
    """An agent that also takes the options of a request to the OpenAI-compatible API."""

    @abstractmethod
    def stream_with_options(
        self, message: str, history: Sequence[Turn], session_id: str, options: Options
    ) -> AsyncGenerator[Event, None]:
        """As `stream_chat`, without approval. An empty `message` follows the results of calls in the last turn."""
