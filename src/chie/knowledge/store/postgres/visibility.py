"""The condition on rows of `knowledge_notes` that every list and search has."""

from typing import Any

from chie.knowledge.viewer import Viewer


def visible(viewer: Viewer, table: str = "") -> tuple[str, list[Any]]:
    """SQL that is true for the notes that the viewer sees, and its parameters; `table` is empty or ends with a dot."""
    return (
        f"({_in_spaces(viewer, table, '%s')} AND (NOT ({table}private OR {table}proposal) OR {table}user_id = %s))",
        [sorted(viewer.spaces), viewer.user],
    )


def visible_by_name(viewer: Viewer, table: str) -> str:
    """The same with the parameters of `PassageFilter.values`."""
    spaces = _in_spaces(viewer, table, "%(spaces)s")
    return f"({spaces} AND (NOT ({table}private OR {table}proposal) OR {table}user_id = %(viewer)s))"


def waiting(viewer: Viewer) -> tuple[str, list[Any]]:
    """SQL that is true for the proposals that the viewer may decide on, and its parameters."""
    spaces = _in_spaces(viewer, "", "%s")
    return f"proposal AND {spaces} AND (NOT private OR user_id = %s)", [sorted(viewer.spaces), viewer.user]


def _in_spaces(viewer: Viewer, table: str, parameter: str) -> str:
    """Without the team's space, the index of all other spaces can be used."""
    others = "" if viewer.sees_team else f"{table}space <> 'team' AND "
    return f"{others}{table}space = ANY({parameter}::text[])"
