"""The map of the notes."""

import numpy as np
from tests.contract.note_store import a_note

from chie.knowledge.search.atlas import Atlas, project
from chie.knowledge.service import KnowledgeService
from chie.knowledge.store.sqlite.store import SqliteStore


def test_most_different_notes_are_furthest_apart() -> None:
    vectors = np.array([[1, 0, 0], [0.9, 0.1, 0], [0, 0, 1], [0, 0.1, 0.9]], np.float32)
    positions = project(vectors)
    assert abs(positions[0][0] - positions[1][0]) < 0.5 < abs(positions[0][0] - positions[2][0])
    assert all(-1 <= value <= 1 for position in positions for value in position)
    assert project(vectors) == positions


def test_map_of_zero_one_and_equal_notes() -> None:
    assert project(np.zeros((0, 0), np.float32)) == []
    assert project(np.ones((1, 4), np.float32)) == [(0.0, 0.0)]
    assert project(np.ones((3, 4), np.float32)) == [(0.0, 0.0)] * 3


def test_notes_on_one_matter_are_neighbours_in_both_languages(service: KnowledgeService) -> None:
    matters = {
        "food": ["カレーの作り方と玉ねぎ", "How to cook curry with onions", "おいしいラーメンの店"],
        "database": ["PostgreSQL の接続数の上限", "PostgreSQL connection limits", "データベースのバックアップ"],
    }
    where = {service.save(text).id: matter for matter, texts in matters.items() for text in texts}
    points = Atlas(service.store).map().points
    sides = {matter: [point.x for point in points if where[point.id] == matter] for matter in matters}
    low, high = sorted(sides.values(), key=min)
    assert max(low) < min(high)


def test_map_is_cached_until_a_note_changes(real_store: SqliteStore) -> None:
    atlas, note = Atlas(real_store), a_note("redis evicts sessions")
    assert atlas.map().points == []
    real_store.save(note)
    first = atlas.map().points
    assert [point.id for point in first] == [note.id]
    assert atlas.map().points is first
    real_store.delete(note.id)
    assert (atlas.map().points, atlas.map().total) == ([], 0)
