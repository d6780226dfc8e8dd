"""Conditions in the service's filter language, which may be nested two deep and orders numbers alone."""

from collections.abc import Mapping, Sequence
from typing import Any, Final

from chie.knowledge.store.vector_search.objects import TEAM, labels, reader

Filter = Mapping[str, Any]

HEADS: Final[Filter] = {"part": {"$eq": 0}}


def all_of(*conditions: Filter) -> Filter:
    return conditions[0] if len(conditions) == 1 else {"$and": list(conditions)}


def seen_by(viewer: str) -> Filter:
    """The team's notes and the viewer's own private ones, in one condition."""
    return {"reader": {"$in": [TEAM, reader(viewer)]}}


def tagged(tags: Sequence[str]) -> Filter:
    return {"labels": {"$all": labels(tags)}}


def of_notes(note_ids: Sequence[str]) -> Filter:
    return {"note": {"$in": list(note_ids)}}


def looking(viewer: str, tags: Sequence[str]) -> list[Filter]:
    """What everybody who looks is held to."""
    return [seen_by(viewer), *([tagged(tags)] if tags else [])]
