"""The notes as points on a plane: near each other where they speak of the same."""

from collections import OrderedDict
from dataclasses import dataclass
from threading import Lock
from typing import TYPE_CHECKING

from chie.access.identity import current_user
from chie.knowledge.store.base import NoteStore, Outline

if TYPE_CHECKING:
    from chie.knowledge.embedding.base import Vectors

KEPT = 8  # maps, of whoever looked last
MOST = 3_000  # points that a reader can tell apart and a browser can draw at once


@dataclass(frozen=True, kw_only=True)
class Point:
    """`x` and `y` are between -1 and 1."""

    id: str
    title: str
    tags: list[str]
    x: float
    y: float


@dataclass(frozen=True, kw_only=True)
class Map:
    """`total` counts all notes; beyond `MOST` only the newest are drawn."""

    points: list[Point]
    total: int


@dataclass(frozen=True)
class Sheet:
    revision: str
    points: list[Point]


class Atlas:
    """Draws each viewer's map, and keeps those that were looked at last until a note changes."""

    def __init__(self, store: NoteStore) -> None:
        self._store = store
        self._drawing = Lock()
        self._sheets: OrderedDict[str, Sheet] = OrderedDict()

    def map(self) -> Map:
        viewer = current_user().id
        with self._drawing:
            sheet = self._sheets.pop(viewer, None)
            outline = self._store.outline(limit=MOST, known=sheet.revision if sheet else None, viewer=viewer)
            if outline is not None:
                sheet = _draw(outline)
            if sheet is None:
                raise AssertionError("a store tells nothing new only to who knows something")
            self._sheets[viewer] = sheet
            if len(self._sheets) > KEPT:
                self._sheets.popitem(last=False)
            return Map(points=sheet.points, total=self._store.count(viewer=viewer))


def _draw(outline: Outline) -> Sheet:
    points = [
        Point(id=pin.id, title=pin.title, tags=pin.tags, x=x, y=y)
        for pin, (x, y) in zip(outline.pins, project(outline.vectors), strict=True)
    ]
    return Sheet(outline.revision, points)


def project(vectors: "Vectors") -> list[tuple[float, float]]:
    """The two directions in which the notes differ most. The same notes get the same places every time."""
    import numpy as np

    if len(vectors) < 2:
        return [(0.0, 0.0)] * len(vectors)
    centred = vectors.astype(np.float64) - vectors.mean(axis=0)
    _, axes = np.linalg.eigh(centred.T @ centred)
    axes = axes[:, :-3:-1]
    axes = axes * np.where(axes[np.abs(axes).argmax(axis=0), range(axes.shape[1])] < 0, -1, 1)
    places = centred @ axes
    reach = np.abs(places).max(axis=0)
    places = places / np.where(reach == 0, 1, reach)
    return [(round(float(x), 4), round(float(y), 4)) for x, y in places]
