"""The part of OpenAI's schemas that Chie supports. Fields that it does not support are refused by name."""

from typing import Any, ClassVar, Literal

from pydantic import BaseModel, ConfigDict, Field

MAX_MESSAGES = 2_000
MAX_TOOLS = 256

Name = Field(min_length=1, max_length=128, pattern=r"^[A-Za-z0-9_.-]+$")


class ImageUrl(BaseModel):
    url: str = Field(description="A `data:` URL; others are not opened.")


class ContentPart(BaseModel):
    type: str
    text: str | None = None
    image_url: ImageUrl | None = None


class FunctionCall(BaseModel):
    name: str = Field(min_length=1, max_length=200)
    arguments: str = ""


class MessageCall(BaseModel):
    id: str = Field(min_length=1, max_length=200)
    function: FunctionCall


class ChatMessage(BaseModel):
    role: Literal["system", "developer", "user", "assistant", "tool"]
    content: str | list[ContentPart] | None = None
    tool_calls: list[MessageCall] | None = None
    tool_call_id: str | None = None


class StreamOptions(BaseModel):
    include_usage: bool = False


class Function(BaseModel):
    name: str = Name
    description: str | None = None
    parameters: dict[str, Any] | None = None
    strict: bool | None = None


class FunctionTool(BaseModel):
    type: Literal["function"]
    function: Function


class NamedFunction(BaseModel):
    name: str


class NamedToolChoice(BaseModel):
    type: Literal["function"]
    function: NamedFunction


class Parameters(BaseModel):
    """The fields of a request that reach the model as they are. Unknown fields are kept, to be refused by name."""

    model_config = ConfigDict(extra="allow")

    temperature: float | None = Field(None, ge=0, le=2)
    top_p: float | None = Field(None, ge=0, le=1)
    parallel_tool_calls: bool | None = None
    user: str | None = None
    prompt_cache_key: str | None = None
    safety_identifier: str | None = None

    # Fields that are read by the route itself, and by name the values that say what Chie does anyway.
    OWN: ClassVar[tuple[str, ...]] = ()
    ACCEPTED: ClassVar[dict[str, tuple[object, ...]]] = {"store": (False,), "service_tier": ("auto", "default")}


class CompletionRequest(Parameters):
    model: str = Field(min_length=1, max_length=200, description="An agent's id.")
    messages: list[ChatMessage] = Field(min_length=1, max_length=MAX_MESSAGES)
    stream: bool | None = False
    stream_options: StreamOptions | None = None
    tools: list[FunctionTool] | None = Field(None, max_length=MAX_TOOLS)
    tool_choice: Literal["none", "auto", "required"] | NamedToolChoice | None = None
    max_tokens: int | None = Field(None, ge=1)
    max_completion_tokens: int | None = Field(None, ge=1)
    stop: str | list[str] | None = None
    seed: int | None = None
    response_format: dict[str, Any] | None = None
    presence_penalty: float | None = Field(None, ge=-2, le=2)
    frequency_penalty: float | None = Field(None, ge=-2, le=2)
    logit_bias: dict[str, float] | None = None
    reasoning_effort: str | None = None
    verbosity: str | None = None
    top_k: int | None = None
    min_p: float | None = None
    repeat_penalty: float | None = None
    repetition_penalty: float | None = None
    chat_template_kwargs: dict[str, Any] | None = None

    OWN: ClassVar = ("model", "messages", "stream", "stream_options", "tools", "tool_choice")
    ACCEPTED: ClassVar[dict[str, tuple[object, ...]]] = Parameters.ACCEPTED | {
        "n": (1,),
        "logprobs": (False,),
        "modalities": (["text"],),
        "parallel_tool_calls": (True,),
    }


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
    usage: dict[str, Any] | None = None
