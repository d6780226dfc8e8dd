"""A map of the notes: points on a plane, close together if their topics are."""

from collections import OrderedDict
from dataclasses import dataclass
from threading import Lock
from typing import TYPE_CHECKING

from chie.knowledge.rules import current_viewer
from chie.knowledge.store.base import MapData, NoteStore

if TYPE_CHECKING:
    from chie.knowledge.embedding.base import Vectors
    from chie.knowledge.viewer import Viewer

MAX_CACHED_MAPS = 8  # of the most recent viewers
MAX_MAP_NOTES = 3_000  # readable, and fast to draw in a browser


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
    """`total` counts all notes; beyond `MAX_MAP_NOTES` only the newest are drawn."""

    points: list[Point]
    total: int


@dataclass(frozen=True)
class CachedMap:
    revision: str
    points: list[Point]


class Atlas:
    """Computes each viewer's map, and caches the most recent ones until a note changes."""

    def __init__(self, store: NoteStore) -> None:
        self._store = store
        self._lock = Lock()
        self._maps: OrderedDict[Viewer, CachedMap] = OrderedDict()

    def map(self) -> Map:
        viewer = current_viewer(self._store)
        with self._lock:
            cached = self._maps.pop(viewer, None)
            data = self._store.map_data(limit=MAX_MAP_NOTES, known=cached.revision if cached else None, viewer=viewer)
            if data is not None:
                cached = _draw(data)
            if cached is None:
                raise AssertionError("without a known revision a store returns map data")
            self._maps[viewer] = cached
            if len(self._maps) > MAX_CACHED_MAPS:
                self._maps.popitem(last=False)
            return Map(points=cached.points, total=self._store.count(viewer=viewer))


def _draw(data: MapData) -> CachedMap:
    points = [
        Point(id=note.id, title=note.title, tags=note.tags, x=x, y=y)
        for note, (x, y) in zip(data.notes, project(data.vectors), strict=True)
    ]
    return CachedMap(data.revision, points)


def project(vectors: "Vectors") -> list[tuple[float, float]]:
    """The first two principal components. Deterministic: the same notes get the same positions."""
    import numpy as np

    if len(vectors) < 2:
        return [(0.0, 0.0)] * len(vectors)
    centred = vectors.astype(np.float64) - vectors.mean(axis=0)
    _, axes = np.linalg.eigh(centred.T @ centred)
    axes = axes[:, :-3:-1]
    axes = axes * np.where(axes[np.abs(axes).argmax(axis=0), range(axes.shape[1])] < 0, -1, 1)
    positions = centred @ axes
    extent = np.abs(positions).max(axis=0)
    positions = positions / np.where(extent == 0, 1, extent)
    return [(round(float(x), 4), round(float(y), 4)) for x, y in positions]
