"""The subset of OpenAI's schemas that Chie supports. Unknown fields are ignored, as model servers do."""

from collections.abc import Sequence
from typing import Any, Literal

from pydantic import BaseModel, Field

from chie.chat.agents.base import Turn
from chie.errors import ValidationError

MAX_MESSAGES = 2_000


class TextPart(BaseModel):
    type: str
    text: str | None = None


class ChatMessage(BaseModel):
    role: Literal["system", "developer", "user", "assistant", "tool", "function"]
    content: str | list[TextPart] | None = None

    @property
    def text(self) -> str:
        if isinstance(self.content, list):
            if any(part.type != "text" for part in self.content):
                raise ValidationError("chat.text_only")
            return "\n".join(part.text or "" for part in self.content)
        return self.content or ""


class StreamOptions(BaseModel):
    include_usage: bool = False


class CompletionRequest(BaseModel):
    model: str = Field(min_length=1, max_length=200, description="An agent's id.")
    messages: list[ChatMessage] = Field(min_length=1, max_length=MAX_MESSAGES)
    stream: bool | None = False
    stream_options: StreamOptions | None = None


class Model(BaseModel):
    id: str
    object: Literal["model"] = "model"
    created: int = 0
    owned_by: str = "chie"


class Models(BaseModel):
    object: Literal["list"] = "list"
    data: list[Model]


class Completion(BaseModel):
    id: str
    object: Literal["chat.completion"]
    created: int
    model: str
    choices: list[dict[str, Any]]
    usage: dict[str, int] | None = None


def split(messages: Sequence[ChatMessage]) -> tuple[list[Turn], str]:
    """The earlier turns, and the question. A system message is put before the question that follows it, or after the
    last one."""
    turns: list[Turn] = []
    instructions: list[str] = []
    for message in messages:
        if message.role in ("tool", "function"):
            raise ValidationError("chat.tool_results_not_accepted")
        if message.role in ("system", "developer"):
            instructions.append(message.text)
        elif message.role == "assistant":
            turns.append(Turn(role="assistant", content=message.text))
        else:
            turns.append(Turn(role="user", content="\n\n".join([*instructions, message.text])))
            instructions.clear()
    if not turns or turns[-1]["role"] != "user" or not turns[-1]["content"].strip():
        raise ValidationError("chat.question_missing")
    return turns[:-1], "\n\n".join([turns[-1]["content"], *instructions])
