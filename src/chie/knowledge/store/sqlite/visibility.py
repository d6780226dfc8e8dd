"""The condition on rows of `notes` that every list and search has."""

from typing import Any

from chie.knowledge.viewer import Viewer


def visible(viewer: Viewer, table: str = "") -> tuple[str, list[Any]]:
    """SQL that is true for the notes that the viewer sees, and its parameters; `table` is empty or ends with a dot."""
    spaces, values = in_spaces(viewer, table)
    return f"({spaces} AND (NOT ({table}private OR {table}proposal) OR {table}user_id = ?))", [*values, viewer.user]


def waiting(viewer: Viewer) -> tuple[str, list[Any]]:
    """SQL that is true for the proposals that the viewer may decide on, and its parameters."""
    spaces, values = in_spaces(viewer)
    return f"proposal AND {spaces} AND (NOT private OR user_id = ?)", [*values, viewer.user]


def in_spaces(viewer: Viewer, table: str = "") -> tuple[str, list[Any]]:
    """Without the team's space, the index of all other spaces can be used."""
    marks = ", ".join("?" for _ in viewer.spaces)
    others = "" if viewer.sees_team else f"{table}space <> 'team' AND "
    return f"({others}{table}space IN ({marks}))", sorted(viewer.spaces)
