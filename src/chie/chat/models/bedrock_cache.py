"""Marks the parts of a request that the next one repeats, so that Amazon Bedrock reads them from its cache."""

import re
from typing import Any

POINT = {"cachePoint": {"type": "default"}}

# The models that take such points; others refuse a request that has one. Amazon's own take none among the tools.
_CLAUDE = re.compile(r"anthropic\.claude-(?:3-7-|3-5-haiku|3-5-sonnet-20241022|[a-z]+-\d)")
_NOVA = re.compile(r"amazon\.nova-(?:micro|lite|pro|premier|2)")


def with_cache_points(request: dict[str, Any]) -> dict[str, Any]:
    """At the tools, at the instructions, at the question before the newest one, and at the end: four, the maximum."""
    model = request["modelId"]
    if not (_CLAUDE.search(model) or _NOVA.search(model)):
        return request
    marked = dict(request)
    if "system" in request:
        marked["system"] = [*request["system"], POINT]
    if "toolConfig" in request and _CLAUDE.search(model):
        marked["toolConfig"] = {**request["toolConfig"], "tools": [*request["toolConfig"]["tools"], POINT]}
    messages = list(request["messages"])
    questions = [position for position, message in enumerate(messages) if _is_question(message)]
    for position in {len(messages) - 1, *questions[-2:-1]}:
        messages[position] = {**messages[position], "content": [*messages[position]["content"], POINT]}
    return {**marked, "messages": messages}


def _is_question(message: dict[str, Any]) -> bool:
    return message["role"] == "user" and "toolResult" not in message["content"][-1]
