"""The notes as points on a plane: near each other where they speak of the same."""

from dataclasses import dataclass
from threading import Lock
from typing import TYPE_CHECKING

from chie.knowledge.store.base import NoteStore

if TYPE_CHECKING:
    from chie.knowledge.embedding.base import Vectors

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


class Atlas:
    """Draws the map, and keeps it until a note changes."""

    def __init__(self, store: NoteStore) -> None:
        self._store = store
        self._drawing = Lock()
        self._revision: str | None = None
        self._points: list[Point] = []

    def map(self) -> Map:
        with self._drawing:
            outline = self._store.outline(limit=MOST, known=self._revision)
            if outline is not None:
                places = project(outline.vectors)
                self._points = [
                    Point(id=pin.id, title=pin.title, tags=pin.tags, x=x, y=y)
                    for pin, (x, y) in zip(outline.pins, places, strict=True)
                ]
                self._revision = outline.revision
            return Map(points=self._points, total=self._store.check().notes)


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
