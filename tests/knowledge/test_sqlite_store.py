"""The embedded store: the contract, and what only a file that processes share can get wrong."""

import os
import sqlite3
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from itertools import count, takewhile
from pathlib import Path
from threading import Thread

import pytest
from tests.contract.note_anchors import NoteAnchorContract
from tests.contract.note_decisions import NoteDecisionContract
from tests.contract.note_filters import NoteFilterContract
from tests.contract.note_links import NoteLinkContract
from tests.contract.note_recall import NoteRecallContract
from tests.contract.note_records import NoteRecordsContract
from tests.contract.note_review import NoteReviewContract
from tests.contract.note_spaces import NoteSpaceContract
from tests.contract.note_store import NoteStoreContract, a_note
from tests.contract.note_versions import NoteVersionContract
from tests.fakes.embedders import FailableEmbedder, HashingEmbedder
from tests.fakes.layouts import (
    IMPORTED,
    NOTES,
    PROPOSAL,
    SPACE,
    assert_same_results,
    assert_versions_and_links,
    has_recall,
    has_versions,
    load_sqlite,
    notes_of,
)

from chie.database import errors
from chie.database.errors import DAMAGE_CODES
from chie.errors import StorageError
from chie.knowledge.search.passages import INDEX_VERSION
from chie.knowledge.store.base import NoteStore
from chie.knowledge.store.degraded import indexing_in_progress, saved_without_vectors, searched_by_words
from chie.knowledge.store.sqlite import schema
from chie.knowledge.store.sqlite.store import SqliteStore
from chie.knowledge.viewer import Viewer
from chie.messages.catalogue import Message


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "home" / "chie.db"


@pytest.fixture
def store(path: Path) -> Iterator[NoteStore]:
    store = SqliteStore(path, HashingEmbedder())
    yield store
    store.close()


@pytest.fixture
def fresh_store(tmp_path: Path) -> Callable[[], NoteStore]:
    names = count()
    return lambda: SqliteStore(tmp_path / f"{next(names)}.db", HashingEmbedder())


class TestContract(
    NoteStoreContract,
    NoteFilterContract,
    NoteRecallContract,
    NoteRecordsContract,
    NoteReviewContract,
    NoteDecisionContract,
    NoteVersionContract,
    NoteAnchorContract,
    NoteLinkContract,
    NoteSpaceContract,
):
    pass


def test_another_process_sees_writes_at_once(path: Path, store: NoteStore) -> None:
    other = SqliteStore(path, HashingEmbedder())
    first, second = a_note("redis evicts"), a_note("redis evicts again")
    store.save(first)
    assert [hit.id for hit in other.search("redis evicts", limit=5, tags=()).hits] == [first.id]
    store.save(second)
    store.delete(first.id)
    assert [hit.id for hit in other.search("redis evicts", limit=5, tags=()).hits] == [second.id]


def test_a_search_with_an_older_view_of_the_file_sets_nothing_back(path: Path) -> None:
    store = SqliteStore(path, HashingEmbedder())
    store.save(a_note("最初のメモ"))
    query = store._vectors.embed(["note"])[0]
    with store._file.read() as older:
        store._vectors.nearest(older, query, 5)
        store.save(a_note("a second note"))
        store.search("note", limit=5, tags=())
        store._vectors.nearest(older, query, 5)
    store.search("note", limit=5, tags=())
    assert store._vectors._index is not None
    assert len(store._vectors._index) == 2
    store.close()


def test_many_threads_may_use_one_store(store: NoteStore) -> None:
    def work(number: int) -> None:
        for turn in range(10):
            store.save(a_note(f"thread {number} turn {turn}"))
            assert store.search(f"thread {number} turn {turn}", limit=1, tags=()).hits

    threads = [Thread(target=work, args=(number,)) for number in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert store.check().notes == 60


@pytest.mark.req("SE-5")
class TestModel:
    """Vectors of different models are never mixed, and never missing for long."""

    def test_a_changed_model_reads_everything_again_in_the_background(self, path: Path) -> None:
        before = SqliteStore(path, HashingEmbedder("1"))
        for number in range(70):
            before.save(a_note(f"finding number {number} about redis"))
        after = SqliteStore(path, HashingEmbedder("2", dimension=32))
        found = after.search("finding number 7 about redis", limit=3, tags=())
        assert found.notice == indexing_in_progress(70)
        assert found.hits[0].content == "finding number 7 about redis"  # by its words, meanwhile
        after._backfill.run(lambda _: None)
        wait_for(lambda: after.search("finding number 7", limit=1, tags=()).notice is None)
        assert before.search("finding number 7 about redis", limit=1, tags=()).notice == indexing_in_progress(70)
        before._backfill.run(lambda _: None)
        assert after.search("finding number 7", limit=1, tags=()).notice is None  # both are in use: neither is deleted

    def test_vectors_of_another_dimension_are_replaced(self, path: Path) -> None:
        embedder = HashingEmbedder()
        before = SqliteStore(path, embedder)
        before.save(a_note("redis evicts sessions"))
        embedder._dimension = 96
        before.save(mismatched := a_note("nginx の 504 エラー"))
        before.close()
        store = SqliteStore(path, HashingEmbedder())
        assert store.embeddings([mismatched]) == {}
        map_data = store.map_data(limit=5)
        assert map_data is not None
        assert len(map_data.vectors) == 1
        found = store.search("504", limit=5, tags=())
        assert found.hits[0].id == mismatched.id  # by its words, meanwhile
        assert found.notice == indexing_in_progress(1)
        store.save(a_note("redis again"))
        wait_for(lambda: store.search("504", limit=5, tags=()).notice is None)
        assert len(store.embeddings([mismatched])) == 1
        assert [similar.id for similar in store.similar(replace(mismatched, id="k-other"), limit=5)] == [mismatched.id]
        store.close()

    def test_backfill_reports_progress_and_runs_once(self, path: Path) -> None:
        first, second = (SqliteStore(path, HashingEmbedder("2")) for _ in range(2))
        SqliteStore(path, HashingEmbedder("1")).save(a_note("\n\n".join("word " * 100 for _ in range(100))))
        for store in (first, second):
            store._vectors.embed(["names the model"])
        left: list[int] = []
        assert first._backfill._acquire_lease() is True
        second._backfill.run(left.append)
        assert left == []  # the other one holds the lease
        first._backfill.run(left.append)
        assert left == sorted(left, reverse=True)
        assert left[-1] == 0

    def test_without_a_model_notes_are_saved_and_found_by_words(self, path: Path) -> None:
        embedder = FailableEmbedder()
        store = SqliteStore(path, embedder)
        embedder.failing = True
        notice = store.save(a_note("redis evicts sessions"))
        reason = Message("embedding.model_load_failed")
        assert notice == saved_without_vectors(reason)
        found = store.search("sessions", limit=1, tags=())
        assert found.hits[0].content == "redis evicts sessions"
        assert found.notice == searched_by_words(reason)
        embedder.failing = False
        assert store.search("sessions", limit=1, tags=()).notice == indexing_in_progress(1)
        wait_for(lambda: store.search("sessions", limit=1, tags=()).notice is None)
        store.close()


def wait_for(done: Callable[[], bool]) -> None:
    """The test's own time limit is the bound."""
    while not done():
        pass


@contextmanager
def without_write_permission(folder: Path) -> Iterator[None]:
    """Makes the folder read-only; root, who ignores modes, switches to another user."""
    folder.chmod(0o555)
    for entry in folder.iterdir():
        entry.chmod(0o444)
    if os.geteuid() == 0:
        for parent in takewhile(lambda parent: not parent.stat().st_mode & 0o001, folder.parents):
            parent.chmod(0o755)
        os.seteuid(65534)
    try:
        yield
    finally:
        os.seteuid(os.getuid())
        folder.chmod(0o755)


class TestBadFiles:
    """Every error leaves the file as it was."""

    def store(self, path: Path) -> SqliteStore:
        return SqliteStore(path, HashingEmbedder())

    @pytest.mark.parametrize("content", [b"this is not a database at all" * 100, b"\x00" * 4096 + b"x"])
    def test_file_that_is_not_a_database(self, tmp_path: Path, content: bytes) -> None:
        path = tmp_path / "chie.db"
        path.write_bytes(content)
        with pytest.raises(StorageError) as caught:
            self.store(path).check()
        assert caught.value.code == "database.file_invalid"
        assert path.read_bytes() == content

    def test_a_damaged_database(self, tmp_path: Path) -> None:
        path = tmp_path / "chie.db"
        store = self.store(path)
        for number in range(300):
            store.save(a_note(f"note {number} " + "x" * 500))
        store.close()
        whole = path.read_bytes()
        damaged = whole[:4096] + os.urandom(len(whole) - 4096)
        path.write_bytes(damaged)
        with pytest.raises(StorageError) as caught:
            self.store(path).browse(tag=None, limit=100, cursor=None)
        assert caught.value.code in DAMAGE_CODES
        assert path.read_bytes() == damaged

    def test_a_newer_schema(self, tmp_path: Path) -> None:
        path = tmp_path / "chie.db"
        self.store(path).save(a_note())
        with sqlite3.connect(path) as connection:
            connection.execute(f"PRAGMA user_version = {schema.VERSION + 1}")
        connection.close()
        with pytest.raises(StorageError) as caught:
            self.store(path).check()
        assert caught.value.code == "database.schema_newer"

    def test_folder_that_cannot_be_created(self, tmp_path: Path) -> None:
        (tmp_path / "file").write_text("in the way")
        with pytest.raises(StorageError) as caught:
            self.store(tmp_path / "file" / "home" / "chie.db").check()
        assert caught.value.code == "database.folder_unusable"

    def test_a_path_that_is_a_folder(self, tmp_path: Path) -> None:
        with pytest.raises(StorageError) as caught:
            self.store(tmp_path).check()
        assert caught.value.code == "database.file_unopenable"

    def test_read_only_file_can_be_read(self, tmp_path: Path) -> None:
        path = tmp_path / "chie.db"
        kept = a_note("kept")
        writer = self.store(path)
        writer.save(kept)
        writer.close()
        with without_write_permission(tmp_path):
            reader = self.store(path)
            with pytest.raises(StorageError) as caught:
                reader.save(a_note("lost"))
            assert caught.value.code == "database.file_read_only"
        assert self.store(path).get(kept.id) == kept
        assert self.store(path).check().notes == 1

    def test_a_full_disk_loses_nothing_that_was_there(self, tmp_path: Path) -> None:
        path = tmp_path / "chie.db"
        store = self.store(path)
        kept = a_note("kept")
        store.save(kept)
        with store._file.read() as connection:
            pages = connection.execute("PRAGMA page_count").fetchone()[0]
            connection.execute(f"PRAGMA max_page_count = {pages + 2}")
        with pytest.raises(StorageError) as caught:
            store.save(a_note("lost " * 10_000))
        assert caught.value.code == "database.disk_full"
        assert store.get(kept.id) == kept
        assert store.check().notes == 1

    def test_a_lock_that_is_held_too_long(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        path = tmp_path / "chie.db"
        self.store(path).save(a_note())
        monkeypatch.setattr(errors, "BUSY_TIMEOUT_SECONDS", 0.05)
        holder = sqlite3.connect(path, isolation_level=None)
        holder.execute("BEGIN IMMEDIATE")
        with pytest.raises(StorageError) as caught:
            self.store(path).save(a_note())
        assert caught.value.code == "database.file_locked"
        holder.close()


@pytest.mark.req("SE-3", "MT-9")
@pytest.mark.parametrize("version", [1, 2, 4, 6, 7])
def test_file_of_an_older_version_is_upgraded_with_its_notes(path: Path, version: int) -> None:
    load_sqlite(path, version)
    upgraded = SqliteStore(path, HashingEmbedder(dimension=8))
    new = SqliteStore(path.with_name("new.db"), HashingEmbedder(dimension=8))
    notes = [note for note in notes_of("sqlite", version) if version > 1 or not note.private]
    new.spaces.save(SPACE)
    new.put_copies(notes)
    upgraded.search("redis", limit=1, tags=())  # starts the background work, like any search after an upgrade
    wait_for(lambda: not outdated(path))
    assert upgraded.walk(after=None, limit=9) == notes
    if has_recall("sqlite", version):
        assert upgraded.imported_files() == {"k-6": IMPORTED}
        assert upgraded.shown("session-1") == {"k-1"}
        assert upgraded.by_signature(PROPOSAL.signatures, viewer=Viewer("ben"), limit=1) == [PROPOSAL]
    if has_versions("sqlite", version):
        assert_versions_and_links(upgraded)
    for change in (NoteStore.count, lambda store: store.delete("k-1"), lambda store: store.save(NOTES[0])):
        for store in (upgraded, new):
            change(store)
        assert_same_results(upgraded, new)
    with sqlite3.connect(path) as connection:
        counted = sorted(connection.execute("SELECT * FROM corpus"))
        assert counted == sorted(
            connection.execute("SELECT coalesce(owner, ''), count(*), sum(length) FROM passages GROUP BY 1")
        )
    connection.close()
    upgraded.close()
    new.close()


def outdated(path: Path) -> int:
    """Notes that were indexed by older rules."""
    with sqlite3.connect(path) as connection:
        found = connection.execute("SELECT count(*) FROM notes WHERE index_version < ?", (INDEX_VERSION,)).fetchone()
    connection.close()
    return int(found[0])


def tables(path: Path) -> set[tuple[str, str, str]]:
    """Every column, and the statements of indexes and triggers."""
    with sqlite3.connect(path) as connection:
        columns = connection.execute(
            "SELECT m.name, c.name, c.type || c.\"notnull\" || coalesce(c.dflt_value, '') || c.pk"
            " FROM sqlite_master m JOIN pragma_table_info(m.name) c WHERE m.type = 'table'"
        ).fetchall()
        rest = connection.execute(
            "SELECT type, name, sql FROM sqlite_master WHERE type <> 'table' AND sql IS NOT NULL"
        ).fetchall()
    connection.close()
    return {*columns, *rest}


@pytest.mark.parametrize("version", [1, 2, 4, 6, 7])
def test_upgraded_file_has_the_tables_of_a_new_one(tmp_path: Path, version: int) -> None:
    load_sqlite(tmp_path / "old.db", version)
    for name in ("old.db", "new.db"):
        store = SqliteStore(tmp_path / name, HashingEmbedder(dimension=8))
        store.count()
        store.close()
    assert tables(tmp_path / "old.db") == tables(tmp_path / "new.db")


def test_passage_without_the_owner_of_its_private_note_is_rejected(path: Path, store: NoteStore) -> None:
    """As a process of an older version would write it: everybody would find it by its words."""
    store.save(a_note("redis", user_id="aki", private=True))
    with sqlite3.connect(path) as connection, pytest.raises(sqlite3.IntegrityError):
        connection.execute("INSERT INTO passages (note, start, stop) SELECT seq, 0, 1 FROM notes")
    connection.close()


def test_lease_from_a_wrong_clock_is_ignored(path: Path, store: NoteStore) -> None:
    store.save(a_note("redis"))
    with sqlite3.connect(path) as connection:
        connection.execute("INSERT INTO leases VALUES ('backfill', 'gone', ?)", (time.time() + 86_400,))
    connection.close()
    other = SqliteStore(path, HashingEmbedder())
    assert other._backfill._acquire_lease() is True
    other.close()
