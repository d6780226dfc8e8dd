"""Which passages a search may return."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from chie.knowledge.viewer import Viewer

_SHARED = "({0}owner IS NULL OR {0}owner = ANY(%(audiences)s::text[]))"
_OTHERS = "{0}owner IS NOT NULL AND {0}owner = ANY(%(audiences)s::text[])"
_TAGGED = "{0}labels @> %(labels)s::text[]"


@dataclass(frozen=True)
class PassageFilter:
    """Passages that have all the labels, meet the conditions and are visible to the viewer. Conditions name the
    columns as `{note}` and `{labels}`."""

    labels: list[str]
    viewer: Viewer
    conditions: tuple[str, ...] = ()
    parameters: Mapping[str, Any] = field(default_factory=dict)

    def __bool__(self) -> bool:
        """Whether there is more than what the viewer may see."""
        return bool(self.labels or self.conditions)

    def where(self, table: str = "") -> str:
        return (_SHARED if self.viewer.sees_team else _OTHERS).format(table) + self.narrowing(table)

    def where_not_public(self, table: str) -> str:
        """Without what is in the index of vectors."""
        return _OTHERS.format(table) + self.narrowing(table)

    def narrowing(self, table: str, note: str = "note") -> str:
        """All but the visibility, to be appended to a condition."""
        tagged = [_TAGGED.format(table)] if self.labels else []
        more = [condition.format(note=f"{table}{note}", labels=f"{table}labels") for condition in self.conditions]
        return "".join(f" AND {condition}" for condition in (*tagged, *more))

    @property
    def values(self) -> dict[str, Any]:
        viewer = self.viewer
        audiences = [audience for audience in viewer.audiences if audience]
        seen = {"viewer": viewer.user, "spaces": sorted(viewer.spaces), "audiences": audiences}
        return {"labels": self.labels, **seen, **self.parameters}
