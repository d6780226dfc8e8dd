"""OpenAI's Responses API in its basic form, as a request for a chat completion."""

import json
from collections.abc import Iterator, Mapping
from typing import Any, ClassVar, Literal

from fastapi.exceptions import RequestValidationError
from pydantic import BaseModel, Field
from pydantic import ValidationError as InvalidFieldError

from chie.chat.api.openai_options import parameters
from chie.chat.api.openai_schemas import MAX_MESSAGES, MAX_TOOLS, CompletionRequest, Function, Parameters
from chie.errors import ValidationError

TEXT_PARTS = ("input_text", "output_text", "refusal", "text")


class ResponseTool(Function):
    type: Literal["function"]


class ResponseToolChoice(BaseModel):
    type: Literal["function"]
    name: str


class ResponseRequest(Parameters):
    model: str = Field(min_length=1, max_length=200, description="An agent's id.")
    input: str | list[dict[str, Any]] = Field(
        max_length=4_000_000, description="A question, or items: messages, function calls and their outputs."
    )
    instructions: str | None = None
    stream: bool | None = False
    tools: list[ResponseTool] | None = Field(None, max_length=MAX_TOOLS)
    tool_choice: Literal["none", "auto", "required"] | ResponseToolChoice | None = None
    max_output_tokens: int | None = Field(None, ge=1)
    text: dict[str, Any] | None = None
    reasoning: dict[str, Any] | None = None
    metadata: dict[str, str] | None = None

    OWN: ClassVar = ("model", "input", "instructions", "stream", "tools", "tool_choice", "metadata")
    ACCEPTED: ClassVar[dict[str, tuple[object, ...]]] = Parameters.ACCEPTED | {
        "background": (False,),
        "include": ([], ["reasoning.encrypted_content"]),  # there is nothing to include
        "parallel_tool_calls": (True,),
        "stream_options": ({}, {"include_obfuscation": False}, {"include_obfuscation": True}),
        "top_logprobs": (0,),
        "truncation": ("auto", "disabled"),
    }


def completion_request(body: ResponseRequest) -> CompletionRequest:
    """ValidationError naming what has no counterpart there."""
    given = parameters(body)
    text, reasoning, limit = given.pop("text", {}), given.pop("reasoning", {}), given.pop("max_output_tokens", None)
    converted: dict[str, Any] = {
        **given,
        "model": body.model,
        "messages": list(_messages(body)),
        "tools": [{"type": "function", "function": tool.model_dump(exclude={"type"})} for tool in body.tools or []],
        "tool_choice": _tool_choice(body.tool_choice),
        "max_completion_tokens": limit,
        **_format(text),
        **_reasoning(reasoning),
    }
    try:
        return CompletionRequest.model_validate(converted)
    except InvalidFieldError as error:
        raise RequestValidationError([{**one, "loc": ("body", *one["loc"])} for one in error.errors()]) from error


def _messages(body: ResponseRequest) -> Iterator[dict[str, Any]]:
    if body.instructions:
        yield {"role": "system", "content": body.instructions}
    items = [{"role": "user", "content": body.input}] if isinstance(body.input, str) else body.input
    if not items or len(items) > MAX_MESSAGES:
        raise ValidationError("chat.input_size", count=MAX_MESSAGES)
    calls: list[dict[str, Any]] = []
    for item in items:
        if item.get("type") == "function_call":
            calls.append(_call(item))
            continue
        if calls:
            yield {"role": "assistant", "tool_calls": calls}
            calls = []
        yield from _message(item)
    if calls:
        yield {"role": "assistant", "tool_calls": calls}


def _message(item: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
    match item:
        case {"type": "function_call_output", "call_id": str(call_id), "output": output}:
            yield {"role": "tool", "tool_call_id": call_id, "content": _content(output)}
        case {"type": "reasoning"}:
            return  # clients send back what they got; agents make nothing of it
        case {"role": "user" | "assistant" | "system" | "developer" as role, "content": content} if (
            item.get("type", "message") == "message"
        ):
            yield {"role": role, "content": _content(content)}
        case _:
            raise ValidationError("chat.input_item_unsupported", type=str(item.get("type", "message"))[:60])


def _call(item: Mapping[str, Any]) -> dict[str, Any]:
    match item:
        case {"call_id": str(call_id), "name": str(name)} if call_id and name:
            arguments = item.get("arguments") or ""
            text = arguments if isinstance(arguments, str) else json.dumps(arguments)
            return {"id": call_id[:200], "type": "function", "function": {"name": name[:200], "arguments": text}}
    raise ValidationError("chat.input_item_unsupported", type="function_call")


def _content(content: object) -> str | list[dict[str, Any]]:
    """Parts keep their types, so that what cannot be read is refused by the same check as for completions."""
    if isinstance(content, str | None):
        return content or ""
    if not isinstance(content, list):
        return json.dumps(content, ensure_ascii=False)
    return [_part(part) if isinstance(part, dict) else {"type": "unknown"} for part in content]


def _part(part: Mapping[str, Any]) -> dict[str, Any]:
    kind = part.get("type")
    if kind in TEXT_PARTS:
        return {"type": "text", "text": str(part.get("text", part.get("refusal", "")))}
    if kind == "input_image" and isinstance(part.get("image_url"), str):
        return {"type": "image_url", "image_url": {"url": part["image_url"]}}
    return {"type": str(kind)}


def _tool_choice(choice: str | ResponseToolChoice | None) -> object:
    if isinstance(choice, ResponseToolChoice):
        return {"type": "function", "function": {"name": choice.name}}
    return choice


def _format(text: Mapping[str, Any]) -> dict[str, Any]:
    rest = {name: value for name, value in text.items() if name not in ("format", "verbosity") and value is not None}
    if rest:
        raise ValidationError("chat.fields_unsupported", names=[f"text.{name[:60]}" for name in rest])
    found = {"verbosity": text["verbosity"]} if text.get("verbosity") else {}
    match text.get("format"):
        case None | {"type": "text"}:
            return found
        case {"type": "json_schema", **schema}:
            return {**found, "response_format": {"type": "json_schema", "json_schema": schema}}
        case dict(other):
            return {**found, "response_format": other}
    raise ValidationError("chat.fields_unsupported", names=["text.format"])


def _reasoning(reasoning: Mapping[str, Any]) -> dict[str, Any]:
    """A summary is given if there is one; `auto` asks for no more."""
    accepted = {"summary": ("auto", "none"), "effort": (reasoning.get("effort"),)}
    rest = [name for name, value in reasoning.items() if value is not None and value not in accepted.get(name, ())]
    if rest:
        raise ValidationError("chat.fields_unsupported", names=[f"reasoning.{name[:60]}" for name in rest])
    return {"reasoning_effort": reasoning["effort"]} if reasoning.get("effort") else {}
