"""Request bodies, and the responses that are not entities."""

from datetime import datetime
from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field, StrictBool

from chie.chat.sessions.attachments import MAX_ATTACHMENTS
from chie.chat.sessions.entities import ModelChoice
from chie.chat.sessions.service import MAX_TITLE
from chie.chat.sessions.turns import MAX_MESSAGE

MAX_ID = 200

MessageText = Annotated[str, Field(max_length=MAX_MESSAGE, description="The question.")]
Id = Annotated[str, Field(min_length=1, max_length=MAX_ID, pattern=r"^[^\x00]+$")]
# Some gateways encode a model's reasoning in the ids of its calls and need them back unchanged.
CallId = Annotated[str, Field(min_length=1, max_length=100_000, pattern=r"^[^\x00]+$")]
Attachments = Annotated[list[Id], Field(max_length=MAX_ATTACHMENTS)]
ModelReference = Annotated[str, Field(min_length=3, max_length=1_000, pattern=r"^[^\x00/]+/[^\x00]+$")]
Title = Annotated[str, Field(max_length=MAX_TITLE)]


class Body(BaseModel):
    model_config = ConfigDict(extra="forbid", hide_input_in_errors=True)


class Parameters(Body):
    """Which of them a model takes is listed with the model."""

    temperature: float | None = Field(default=None, ge=0, le=2)
    max_tokens: int | None = Field(default=None, ge=1, le=1_000_000, description="The maximum length of an answer.")
    reasoning_effort: Literal["low", "medium", "high"] | None = None


class ModelFields(Body):
    model: ModelReference | None = Field(
        default=None, description="An `id` of `GET /api/models`; null is the agent's own. Default: the session's model."
    )
    parameters: Parameters | None = Field(
        default=None, description="Default: those of the session, unless `model` is given."
    )

    @property
    def choice(self) -> ModelChoice | None:
        """None if the request names neither."""
        if not {"model", "parameters"} & self.model_fields_set:
            return None
        given = self.parameters.model_dump(exclude_none=True) if self.parameters else {}
        return ModelChoice(model=self.model, parameters=given)


class Ask(ModelFields):
    message: MessageText
    session_id: Id | None = Field(default=None, description="Omit it to start a new session.")
    agent_id: Id | None = Field(default=None, description="Default: the session's agent, or the default agent.")
    parent_id: Id | None = Field(
        default=None, description="The answer to continue from. Default: the session's newest message."
    )

    attachments: Attachments = Field(default_factory=list, description="The ids of files that were uploaded before.")
    project_id: Id | None = Field(default=None, description="The project of the new session.")


class Queue(Body):
    message: MessageText
    agent_id: Id | None = Field(default=None, description="Default: the session's agent when it is sent.")
    parent_id: Id | None = Field(default=None, description="The answer to wait for. Default: the newest one.")
    attachments: Attachments = Field(default_factory=list, description="The ids of files that were uploaded before.")


class Seen(Body):
    message_id: Id = Field(description="The answer that was shown.")


class SendQueued(Body):
    stop: StrictBool = Field(default=False, description="True stops the answer that the message waits for.")


class Regenerate(ModelFields):
    agent_id: Id | None = Field(default=None, description="The agent that answers. Default: the session's agent.")
    beside: StrictBool = Field(
        default=False,
        description="True answers beside one other answer that is being generated; the session keeps its agent.",
    )


class Edit(ModelFields):
    message: MessageText
    agent_id: Id | None = None
    attachments: Attachments | None = Field(default=None, description="Default: the files of the old question.")


class Approve(Body):
    id: CallId = Field(description="The `id` of the waiting `tool_call` event.")
    approved: StrictBool = Field(default=True, description="False denies the call; the model sees that.")


class NewSession(Body):
    title: Title | None = None
    agent_id: Id | None = None
    project_id: Id | None = None


class SessionChange(Body):
    title: Title | None = None
    current_agent_id: Id | None = None
    pinned: StrictBool | None = Field(default=None, description="Pinned sessions are on top of the page's list.")
    archived: StrictBool | None = Field(
        default=None, description="Archived sessions are not in the list. A new question brings one back."
    )
    project_id: Id | None = Field(default=None, description="Moves the session; `null` takes it out of its project.")


class AnswerState(BaseModel):
    message_id: str
    status: Literal["complete", "streaming", "stopped", "interrupted", "failed"]


class AnswerQuestion(BaseModel):
    """The user's answer to a question that a server asks while its tool runs."""

    model_config = ConfigDict(extra="forbid")

    id: str = Field(min_length=1, max_length=MAX_ID)
    action: Literal["accept", "decline", "cancel"]
    content: dict[str, str | int | float | bool | list[str] | None] | None = None


class Decision(BaseModel):
    id: str
    approved: bool


class AddedServerDetails(BaseModel):
    """`url` is without its query, and `headers` are names: their values are never in a response. One that is not
    `readable` was encrypted on another machine and must be entered again."""

    url: str
    query: bool = False
    headers: list[str] = []
    always_ask: bool = False
    readable: bool = True
    changed_at: datetime | None = None


class ServerState(BaseModel):
    """An MCP server. `error_code` and `error_params` are null where the text is not Chie's own."""

    model_config = ConfigDict(extra="allow")

    name: str
    state: str
    error: str | None = None
    error_code: str | None = None
    error_params: dict[str, Any] | None = None
    tools: list[Any] = []
    login: Literal["required", "connected"] | None = None
    added: AddedServerDetails | None = Field(
        default=None, description="For admins: how a server that was added in the page is configured."
    )


class Servers(BaseModel):
    servers: list[ServerState]
