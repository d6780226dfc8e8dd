"""The shapes of requests, and of the few responses that are not a noun of ours."""

from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field, StrictBool

from chie.chat.sessions.service import MAX_TITLE
from chie.chat.sessions.turns import MAX_MESSAGE

MAX_ID = 200

MessageText = Annotated[str, Field(max_length=MAX_MESSAGE, description="What you want to ask.")]
Id = Annotated[str, Field(min_length=1, max_length=MAX_ID, pattern=r"^[^\x00]+$")]
# Gateways hide a model's thoughts in the ids of its calls, and want them back whole.
CallId = Annotated[str, Field(min_length=1, max_length=100_000, pattern=r"^[^\x00]+$")]
Title = Annotated[str, Field(max_length=MAX_TITLE)]


class Body(BaseModel):
    model_config = ConfigDict(extra="forbid", hide_input_in_errors=True)


class Ask(Body):
    message: MessageText
    session_id: Id | None = Field(default=None, description="Without it a new session begins.")
    agent_id: Id | None = Field(default=None, description="Without it the session's agent, or the default one.")
    parent_id: Id | None = Field(
        default=None, description="The answer to go on from; without it the session's newest message."
    )


class Regenerate(Body):
    agent_id: Id | None = Field(default=None, description="Who shall answer this time.")


class Edit(Body):
    message: MessageText
    agent_id: Id | None = None


class Approve(Body):
    id: CallId = Field(description="The `id` of the `tool_call` event that waits.")
    approved: StrictBool = Field(default=True, description="False refuses; the model is told so.")


class NewSession(Body):
    title: Title | None = None
    agent_id: Id | None = None


class SessionChange(Body):
    title: Title | None = None
    current_agent_id: Id | None = None


class AnswerState(BaseModel):
    message_id: str
    status: Literal["complete", "streaming", "stopped", "interrupted", "failed"]


class Decision(BaseModel):
    id: str
    approved: bool


class ServerState(BaseModel):
    """A server of tools; what it says beyond this is passed on."""

    model_config = ConfigDict(extra="allow")

    name: str
    state: str
    error: str | None = None
    tools: list[Any] = []


class Servers(BaseModel):
    servers: list[ServerState]
