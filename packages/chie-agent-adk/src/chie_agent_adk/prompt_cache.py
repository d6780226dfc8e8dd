"""Marks the parts of a request that the next one repeats, so that Anthropic reads them from its cache."""

from typing import Any

MARK = {"cache_control": {"type": "ephemeral"}}


def with_cache_marks(request: dict[str, Any]) -> dict[str, Any]:
    """Anthropic takes up to four marks, and finds an earlier one within twenty blocks before a mark. Here they are at
    the instructions, which follow the tools, at the question before the newest one, and at the end."""
    marked = dict(request)
    if isinstance(system := request.get("system"), str):
        marked["system"] = [{"type": "text", "text": system, **MARK}]
    elif tools := request.get("tools"):
        marked["tools"] = [*tools[:-1], {**tools[-1], **MARK}]
    messages = list(request["messages"])
    questions = [position for position, message in enumerate(messages) if _is_question(message)]
    for position in {len(messages) - 1, *questions[-2:-1]}:
        messages[position] = _marked(messages[position])
    return {**marked, "messages": messages}


def _is_question(message: dict[str, Any]) -> bool:
    content = message["content"]
    return message["role"] == "user" and (isinstance(content, str) or content[-1]["type"] != "tool_result")


def _marked(message: dict[str, Any]) -> dict[str, Any]:
    content = message["content"]
    blocks = [{"type": "text", "text": content}] if isinstance(content, str) else content
    return {**message, "content": [*blocks[:-1], {**blocks[-1], **MARK}]}
