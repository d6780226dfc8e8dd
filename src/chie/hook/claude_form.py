"""Pieces of Claude Code's hook form, in which the server takes every client's calls."""

from __future__ import annotations

import json

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, TypeAlias

    Json: TypeAlias = dict[str, Any]

SAVING_TOOLS = ("save_knowledge", "update_knowledge")
NOTE_TOOLS = (*SAVING_TOOLS, "get_knowledge")


def session_body(event: str, session: object, folder: object, **more: object) -> Json:
    return {"session_id": str(session or ""), "cwd": str(folder or ""), "hook_event_name": event, **more}


def command_body(base: Json, command: object, output: object, exit_code: int | None) -> Json:
    """A command that succeeded or failed. Without an exit code, it has succeeded."""
    tool: Json = {"tool_name": "Bash", "tool_input": {"command": str(command or "")}}
    text = as_text(output)
    if exit_code:
        error = f"Exit code {exit_code}\n{text}"
        return {**base, **tool, "hook_event_name": "PostToolUseFailure", "error": error, "is_interrupt": False}
    response = {"stdout": text, "stderr": "", "interrupted": False}
    return {**base, **tool, "hook_event_name": "PostToolUse", "tool_response": response}


def file_body(base: Json, tool: str, path: object) -> Json | None:
    if not isinstance(path, str) or not path:
        return None
    return {**base, "hook_event_name": "PreToolUse", "tool_name": tool, "tool_input": {"file_path": path}}


def saving_body(base: Json, tool: str, arguments: object, response: object) -> Json | None:
    """A call of one of Chie's tools that write or read a note; None for other tools."""
    name = next((name for name in NOTE_TOOLS if tool.endswith(name)), None)
    if name is None:
        return None
    return {
        **base,
        "hook_event_name": "PostToolUse",
        "tool_name": f"mcp__knowledge__{name}",
        "tool_input": arguments if isinstance(arguments, dict) else {},
        "tool_response": as_text(response),
    }


def as_text(value: object) -> str:
    if isinstance(value, str):
        return value
    return "" if value is None else json.dumps(value, ensure_ascii=False)


def as_object(value: object) -> Json:
    """Some clients send JSON inside a string."""
    if isinstance(value, str):
        try:
            value = json.loads(value)
        except (ValueError, RecursionError):
            return {}
    return value if isinstance(value, dict) else {}


def exit_code_in(text: str, label: str) -> int | None:
    """The number behind the last `label`, such as `Exit Code:`."""
    _, found, rest = text.rpartition(label)
    digits = rest.split(None, 1)[0].strip("().,") if found and rest.strip() else ""
    return int(digits) if digits.lstrip("-").isdigit() else None


def context_of(reply: Json) -> str:
    found = reply.get("hookSpecificOutput")
    return str(found.get("additionalContext") or "") if isinstance(found, dict) else ""


def question_of(reply: Json) -> str:
    """What keeps the assistant from stopping: Claude Code takes one more turn for the context of a `Stop`."""
    found = reply.get("hookSpecificOutput")
    return context_of(reply) if isinstance(found, dict) and found.get("hookEventName") == "Stop" else ""


def nested_reply(event: str, reply: Json, block: str) -> Json:
    """The form of Codex and Gemini, which differs from Claude Code's in the event's name and the word for blocking."""
    answer: Json = {}
    if question := question_of(reply):
        answer |= {"decision": block, "reason": question}
    elif context := context_of(reply):
        answer["hookSpecificOutput"] = {"hookEventName": event, "additionalContext": context}
    if receipt := reply.get("systemMessage"):
        answer["systemMessage"] = receipt
    return answer
