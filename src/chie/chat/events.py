"""What happens while an agent answers. Plain dicts with types: agents yield them, `api/sse.py` writes them down."""

from typing import Any, Literal, NotRequired, TypedDict


class Text(TypedDict):
    """A piece of the answer."""

    type: Literal["message"]
    content: str


class ToolCall(TypedDict):
    """A tool is about to run, or waits for the user's word when `approval` is there."""

    type: Literal["tool_call"]
    id: str
    name: str
    arguments: dict[str, Any]
    approval: NotRequired[Literal["required"]]


class ToolResult(TypedDict):
    """What a tool gave back; `is_error` is true for a failure, which the model has seen too. The house adds how long
    it took, once it was allowed to run."""

    type: Literal["tool_result"]
    id: str
    name: str
    content: str
    is_error: bool
    duration_ms: NotRequired[int]


class Usage(TypedDict):
    """Tokens, as far as the model's server told."""

    input_tokens: int
    output_tokens: int


class Done(TypedDict):
    """The last event of an answer that ended well; the edge adds which message and session it was. `finish` is there
    where not the model ended the answer but its limit of tokens, or its provider, whose filter or policy forbade it."""

    type: Literal["done"]
    usage: Usage | None
    finish: NotRequired[Literal["length", "content_filter"]]


Event = Text | ToolCall | ToolResult | Done


def clean(text: str) -> str:
    """Neither a database nor UTF-8 takes NUL or halves of surrogate pairs; models send both now and then."""
    if "\x00" in text:
        text = text.replace("\x00", "\ufffd")
    if not text.isascii():
        return text.encode("utf-8", "replace").decode("utf-8")
    return text
