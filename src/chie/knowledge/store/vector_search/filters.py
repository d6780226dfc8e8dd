"""Conditions in the service's filter language, which nests two levels deep and compares only numbers by order."""

from collections.abc import Mapping, Sequence
from typing import Any, Final

from chie.knowledge.store.vector_search.objects import TEAM, labels, reader
from chie.knowledge.viewer import Viewer

Filter = Mapping[str, Any]

HEADS: Final[Filter] = {"part": {"$eq": 0}}
PROPOSALS: Final[Filter] = {"proposal": {"$eq": True}}
NOTES_PER_REQUEST: Final = 100
NOBODY: Final = "nobody"  # no value of `reader`


def all_of(*conditions: Filter) -> Filter:
    return conditions[0] if len(conditions) == 1 else {"$and": list(conditions)}


def visible_to(viewer: Viewer) -> Filter:
    """The team's notes and the viewer's private ones, in one condition. All notes are in the team's space."""
    return {"reader": {"$in": [TEAM, reader(viewer.user)] if viewer.sees_team else [NOBODY]}}


def tagged(tags: Sequence[str]) -> Filter:
    return {"labels": {"$all": labels(tags)}}


def of_notes(note_ids: Sequence[str]) -> Filter:
    return {"note": {"$in": list(note_ids)}}


def searchable(viewer: Viewer, tags: Sequence[str]) -> list[Filter]:
    """The conditions of every list and search."""
    return [visible_to(viewer), *([tagged(tags)] if tags else [])]


def batches(note_ids: Sequence[str]) -> list[Sequence[str]]:
    return [note_ids[start : start + NOTES_PER_REQUEST] for start in range(0, len(note_ids), NOTES_PER_REQUEST)]
