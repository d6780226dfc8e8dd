"""What Claude Code sends to its hooks, recorded from the real program (`tests/real/test_plugin.py`); paths are neutral.

`tool_response` of an MCP tool is a string of JSON, unlike that of `Bash`. `git_remote` at a session start is added
by `chie hook`, the only sender of that event.
"""

import json
from pathlib import Path
from typing import Any

FOLDER = Path(__file__).parent / "hooks"
NAMES = (
    "session_start",
    "user_prompt_submit",
    "pre_tool_use_read",
    "pre_tool_use_edit",
    "pre_tool_use_write",
    "post_tool_use_bash",
    "post_tool_use_save_knowledge",
    "post_tool_use_failure_bash",
    "stop",
    "stop_hook_active",
    "session_end",
)


def hook_body(name: str, **changes: Any) -> dict[str, Any]:
    body: dict[str, Any] = json.loads((FOLDER / f"{name}.json").read_text("utf-8"))
    return {**body, **changes}


def body_name(body: dict[str, Any]) -> str:
    """The name of the recording that a body belongs to."""
    words = "".join(f"_{letter.lower()}" if letter.isupper() else letter for letter in body["hook_event_name"])
    tool = body.get("tool_name", "").rpartition("__")[2].lower()
    if body.get("stop_hook_active"):
        return "stop_hook_active"
    return "_".join(filter(None, [words.strip("_"), tool]))
