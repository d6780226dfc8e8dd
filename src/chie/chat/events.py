"""The events of an answer: plain dicts with types. Agents yield them, `api/sse.py` encodes them."""

from math import inf
from typing import Any, Literal, NotRequired, TypedDict

MAX_TOKENS = 2**31 - 1  # of one answer, in the database


class Text(TypedDict):
    """A piece of the answer."""

    type: Literal["message"]
    content: str


class ReasoningText(TypedDict):
    """A piece of what the model thinks before it answers or calls a tool; it is not a part of the answer.

    The run manager ends each stretch with an empty piece that has its `duration_ms`.
    """

    type: Literal["reasoning"]
    content: str
    duration_ms: NotRequired[int]


class SummaryText(TypedDict):
    """The first `questions` of the conversation and their answers are too long for the model, which reads `content`
    instead; empty content means that they are left out. Without content it is being written."""

    type: Literal["summary"]
    questions: int
    content: NotRequired[str]


class ViewRef(TypedDict):
    """The view of a tool: an MCP App that shows its result."""

    server: str
    uri: str


class ToolCall(TypedDict):
    """A tool is about to run; `approval` is present while it waits for the user's decision.

    `preview` says what the call would do: `text`, `code` and `params` of a sentence, `danger`, `notes`, `changes`.
    `definition` identifies the tool's description, schema and hints, so that a permission is not taken for another
    tool of the same name; it is absent if no permission may be remembered. `changed` is present if they differ from
    the ones that the operator approved.
    """

    type: Literal["tool_call"]
    id: str
    name: str
    arguments: dict[str, Any]
    approval: NotRequired[Literal["required"]]
    definition: NotRequired[str]
    changed: NotRequired[Literal[True]]
    preview: NotRequired[dict[str, Any]]
    view: NotRequired[ViewRef]


class ToolResult(TypedDict):
    """The result of a tool call, as the model sees it; `is_error` marks a failed one.

    `structured` and `blocks`, the content as the server sent it, are present where a view shows them.
    `code` and `params` are present where the tool reported an error of Chie's catalogue. The run manager adds
    `duration_ms`, without the time spent waiting for approval.
    """

    type: Literal["tool_result"]
    id: str
    name: str
    content: str
    is_error: bool
    code: NotRequired[str]
    params: NotRequired[dict[str, Any]]
    duration_ms: NotRequired[int]
    structured: NotRequired[dict[str, Any]]
    blocks: NotRequired[list[dict[str, Any]]]


class ToolPreview(TypedDict):
    """What a call that waits for approval would do, by the server that would do it; replaces the call's own preview."""

    type: Literal["tool_preview"]
    id: str
    preview: dict[str, Any]


class ToolProgress(TypedDict):
    """How far a tool call is; `total` is null where the server does not know."""

    type: Literal["tool_progress"]
    id: str
    progress: float
    total: float | None
    message: NotRequired[str]


class ToolLog(TypedDict):
    """A line that the server wrote while a tool ran."""

    type: Literal["tool_log"]
    id: str
    level: str
    text: str


class Elicitation(TypedDict):
    """A server asks the user while a tool runs: to fill in a form, to open a URL, or whether the model may answer it.

    `id` names the question, `call_id` the tool call. The run waits for the answer.
    """

    type: Literal["elicitation"]
    id: str
    call_id: str
    server: str
    mode: Literal["form", "url", "sampling"]
    message: str
    schema: NotRequired[dict[str, Any]]
    url: NotRequired[str]


class ElicitationEnd(TypedDict):
    """The question was answered, or is no longer asked."""

    type: Literal["elicitation_end"]
    id: str
    action: Literal["accept", "decline", "cancel"]


class Usage(TypedDict):
    """Token counts, as reported by the model's server. `cached_tokens` are those of the input that it had kept,
    `cache_write_tokens` those that it keeps now, `reasoning_tokens` those of the output that are not shown as text.

    `estimated` is present where the server did not say. The run manager adds the `models` and the `cost` in US
    dollars; without `cost` the price of a model is not known.
    """

    input_tokens: int
    output_tokens: int
    cached_tokens: NotRequired[int]
    cache_write_tokens: NotRequired[int]
    reasoning_tokens: NotRequired[int]
    estimated: NotRequired[Literal[True]]
    models: NotRequired[list[str]]
    cost: NotRequired[float]


class ClientCall(TypedDict):
    """A call of a tool that the client of the OpenAI-compatible API runs; `arguments` is the model's JSON text."""

    id: str
    name: str
    arguments: str


class Done(TypedDict):
    """The last event of a successful answer; the API adds the ids of the message and the session.

    `finish` is present where the model did not end the answer itself: `length` for a limit on tokens or characters,
    `content_filter` for the provider's filter or policy, `tool_calls` for `calls` that the client runs.
    """

    type: Literal["done"]
    usage: Usage | None
    finish: NotRequired[Literal["length", "content_filter", "tool_calls"]]
    calls: NotRequired[list[ClientCall]]


class Error(TypedDict):
    """Why an answer failed. Agents raise a ChieError instead of yielding this; `done` with a null id follows it."""

    type: Literal["error"]
    error: str
    code: str
    params: dict[str, Any]


Event = Text | ReasoningText | SummaryText | ToolCall | ToolResult | Done


def total_usage(first: Usage | None, second: Usage | None) -> Usage | None:
    if first is None or second is None:
        return first or second
    total = counted_usage(
        first["input_tokens"] + second["input_tokens"],
        first["output_tokens"] + second["output_tokens"],
        first.get("cached_tokens", 0) + second.get("cached_tokens", 0),
        written=first.get("cache_write_tokens", 0) + second.get("cache_write_tokens", 0),
        reasoning=first.get("reasoning_tokens", 0) + second.get("reasoning_tokens", 0),
    )
    return {**total, "estimated": True} if first.get("estimated") or second.get("estimated") else total


def counted_usage(
    input_tokens: object,
    output_tokens: object,
    cached_tokens: object = 0,
    *,
    written: object = 0,
    reasoning: object = 0,
) -> Usage:
    """`input_tokens` includes those that were cached or written to the cache; `output_tokens` the reasoning."""
    usage = Usage(input_tokens=token_count(input_tokens), output_tokens=token_count(output_tokens))
    if cached := token_count(cached_tokens):
        usage["cached_tokens"] = cached
    if count := token_count(written):
        usage["cache_write_tokens"] = count
    if count := token_count(reasoning):
        usage["reasoning_tokens"] = count
    return usage


def token_count(reported: object) -> int:
    """What a model's server or a plug-in reports may be anything; 0 for what is no count. A larger number would not fit
    into the database, and the answer could not be stored."""
    if isinstance(reported, bool) or not isinstance(reported, int | float) or not 0 < reported < inf:
        return 0
    return min(int(reported), MAX_TOKENS)
