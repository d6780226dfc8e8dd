"""Changes of notes in SQLite that are interrupted, made at once, or find the disk full."""

import sqlite3
from collections.abc import Iterator, Mapping
from pathlib import Path

import pytest
from tests.contract.note_safety import (
    NoteSafetyContract,
    acknowledged,
    assert_consistent,
    assert_steps_are_stored,
    changer,
)
from tests.fakes.embedders import HashingEmbedder

from chie.knowledge.store.base import NoteStore
from chie.knowledge.store.sqlite.store import SqliteStore


@pytest.fixture
def environment(tmp_path: Path) -> Mapping[str, str]:
    return {"CHIE_HOME": str(tmp_path / "home")}


@pytest.fixture
def store(tmp_path: Path) -> Iterator[NoteStore]:
    store = SqliteStore(tmp_path / "home" / "chie.db", HashingEmbedder())
    store.count()
    yield store
    store.close()


class TestSafety(NoteSafetyContract):
    @pytest.mark.parametrize("megabytes", [1.0, 1.5])
    def test_notes_and_versions_agree_on_a_full_disk(
        self, store: NoteStore, environment: Mapping[str, str], megabytes: float
    ) -> None:
        out, err = changer(environment, "lives", "full", int(megabytes * 2**20)).communicate(timeout=300)
        steps = acknowledged(out.splitlines(keepends=True))
        assert "database.disk_full" in err or "StorageError" in err
        assert_consistent(store)
        assert_steps_are_stored(store, steps)
        with sqlite3.connect(Path(environment["CHIE_HOME"]) / "chie.db") as connection:
            assert connection.execute("PRAGMA integrity_check").fetchone() == ("ok",)
        connection.close()
        again = changer(environment, "lives", "again")
        with again:
            assert again.stdout
            assert again.stdout.readline()
            again.kill()
