"""What is said of a tool before it runs: by a built-in server about this call, otherwise by the tool's own hints."""

import re
from typing import Any

from chie.chat.toolbox.tool import Hint, Tool
from chie.mcp_kit.approval import CallPreview, Danger, Json, shown_name
from chie.messages.catalogue import Message

MAX_DESCRIPTION = 400
MAX_PREVIEW = 200_000  # characters; a server that sends more is not quoted

_DELETES = re.compile(r"(?:^|[^a-z])(?:delete|remove|drop|destroy|erase|purge|truncate|wipe|uninstall)", re.IGNORECASE)


def hinted_preview(tool: Tool) -> Json:
    """For a tool of any server. Its title and description are the server's own words."""
    summary = Message("toolbox.preview_call", tool=shown_name(tool.title), server=shown_name(tool.server))
    notes = [_claim(tool), *([Message("toolbox.preview_open_world")] if tool.open_world else [])]
    preview = CallPreview(summary, danger_of(tool), notes).as_json()
    description = " ".join(tool.description.split())
    cut = description if len(description) <= MAX_DESCRIPTION else f"{description[: MAX_DESCRIPTION - 1]}…"
    return {**preview, "description": cut}


def danger_of(tool: Tool) -> Danger:
    """A tool that says nothing, or that is named after a deletion, counts as one that deletes."""
    hint = _hint(tool)
    if hint == "read_only":
        return "read"
    if _DELETES.search(tool.original) or hint in ("destroys", "unknown"):
        return "delete"
    return "add"


def known_preview(found: dict[str, Any] | None) -> Json | None:
    """The preview in the result of a built-in server."""
    preview = (found or {}).get("preview")
    return preview if isinstance(preview, dict) and len(str(preview)) <= MAX_PREVIEW else None


def _hint(tool: Tool) -> Hint:
    """Hints that have become laxer since the tool was pinned do not count."""
    return "unknown" if tool.changed or (tool.hint == "read_only" and not tool.read_only) else tool.hint


def _claim(tool: Tool) -> Message:
    match _hint(tool):
        case "read_only":
            return Message("toolbox.preview_reads")
        case "only_adds":
            return Message("toolbox.preview_adds")
        case "destroys":
            return Message("toolbox.preview_destroys")
    return Message("toolbox.preview_unknown")
