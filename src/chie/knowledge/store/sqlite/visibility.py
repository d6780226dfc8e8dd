"""The condition on rows of `notes` that every list and search has."""

from typing import Any

from chie.knowledge.viewer import Viewer


def visible(viewer: Viewer, table: str = "") -> tuple[str, list[Any]]:
    """SQL that is true for the notes that the viewer sees, and its parameters; `table` is empty or ends with a dot."""
    return f"(NOT ({table}private OR {table}proposal) OR {table}user_id = ?)", [viewer.user]


def waiting(viewer: Viewer) -> tuple[str, list[Any]]:
    """SQL that is true for the proposals that the viewer may decide on, and its parameters."""
    return "proposal AND (NOT private OR user_id = ?)", [viewer.user]
