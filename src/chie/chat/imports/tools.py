"""Calls of other products' tools, as parts of an answer. Names and ids fit what model providers accept in a history."""

import json
import re
from typing import Any

from chie.chat.imports.json_values import plain, text
from chie.chat.json_depth import is_too_deep

_OTHER = re.compile(r"[^A-Za-z0-9_-]+")
MAX_RESULT = 50_000


def called(number: str, name: str, arguments: object) -> dict[str, Any]:
    given = plain(arguments) if isinstance(arguments, dict) else {"input": plain(arguments)}
    return {"type": "tool_call", "id": number, "name": tool_name(name), "arguments": given}


def returned(number: str, name: str, content: str, *, is_error: bool = False) -> dict[str, Any]:
    kept = content if len(content) <= MAX_RESULT else content[: MAX_RESULT - 1] + "…"
    return {"type": "tool_result", "id": number, "name": tool_name(name), "content": kept, "is_error": is_error}


def tool_name(name: str) -> str:
    return _OTHER.sub("_", name)[:64].strip("_") or "tool"


def arguments_in(written: str) -> object:
    """The object that a call was written as, or the text itself: code, for example, or JSON too deep to be shown."""
    try:
        found = json.loads(written)
    except (ValueError, RecursionError):
        return {"code": written}
    if is_too_deep(found):
        return {"code": text(written)}
    return found if isinstance(found, dict) else {"code": text(written)}
