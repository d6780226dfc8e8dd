"""`chie notes migrate`: from file to server and back, killed half-way, and while people go on working."""

import json
import os
import signal
import sqlite3
import subprocess
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from datetime import timedelta
from pathlib import Path

import psycopg
import pytest
from bench.corpus import fill
from click.testing import CliRunner, Result
from tests.app.processes import BIN
from tests.contract.note_store import MOMENT, a_note
from tests.fakes.embedders import FailableEmbedder, HashingEmbedder
from tests.fakes.postgres import postgres_url
from tests.fakes.postgres_counts import assert_counts_are_true

from chie.cli import main
from chie.errors import StorageError
from chie.knowledge.embedding.precomputed import PrecomputedEmbedder
from chie.knowledge.migration import MAX_PASSES, Journal, Migration, MigrationReport
from chie.knowledge.note import Note
from chie.knowledge.store.base import NoteStore
from chie.knowledge.store.postgres.store import PostgresStore
from chie.knowledge.store.sqlite.store import SqliteStore
from chie.knowledge.viewer import Viewer

COUNT = 1_000


def chie(*arguments: str) -> Result:
    return CliRunner().invoke(main, arguments)


def all_notes(store: NoteStore) -> dict[str, Note]:
    return {note.id: note for note in store.walk(after=None, limit=10_000)}


class TestCommand:
    """With real processes, on stores that `chie` opens by its settings."""

    def test_there_and_back_again_gives_the_same_notes_with_the_same_vectors(
        self, home: Path, url: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        fill(home / "chie.db", 150)
        vault = tmp_path / "vault"
        vault.mkdir()
        (vault / "計画.md").write_text("the plan", encoding="utf-8")
        chie("notes", "import", str(vault))
        out = chie("notes", "migrate", "--to", url)
        last = json.loads((home / "audit.log").read_text().splitlines()[-1])
        assert last["kind"] == "notes.migrated"
        assert "151 notes copied, 0 deleted; 151 are equal in both stores." in out.output
        assert "Now set CHIE_DATABASE_URL to the URL that you gave" in out.output
        monkeypatch.setenv("CHIE_DATABASE_URL", url)
        back = chie("notes", "migrate", "--to", str(tmp_path / "back.db"))
        assert f"Now set CHIE_DATABASE_URL to sqlite:///{tmp_path / 'back.db'}" in back.output
        query = (
            "SELECT n.*, p.start, p.stop, v.model, v.vector FROM notes n, passages p, vectors v"
            " WHERE p.note = n.seq AND v.passage = p.id ORDER BY n.id, p.start"
        )
        first, last = (sqlite3.connect(path) for path in (home / "chie.db", tmp_path / "back.db"))
        rows = [[row[1:] for row in database.execute(query)] for database in (first, last)]
        assert rows[0] == rows[1]
        assert len(rows[0]) >= 151
        origins = [database.execute("SELECT * FROM imports").fetchall() for database in (first, last)]
        assert (len(origins[0]), origins[1]) == (1, origins[0])
        first.close()
        last.close()
        assert_counts_are_true(url)

    def test_a_second_run_copies_nothing(self, home: Path, url: str) -> None:
        fill(home / "chie.db", 30)
        chie("notes", "migrate", "--to", url)
        assert "0 notes copied, 0 deleted; 30 are equal" in chie("notes", "migrate", "--to", url).output

    def test_killed_migration_is_completed_by_the_next_run(self, home: Path, url: str) -> None:
        fill(home / "chie.db", COUNT)
        target = PostgresStore(postgres_url(url), HashingEmbedder())
        target.check()
        with subprocess.Popen([BIN / "chie", "notes", "migrate", "--to", url], stderr=subprocess.DEVNULL) as process:
            while not (copied := target.check().notes):
                assert process.poll() is None
            os.kill(process.pid, signal.SIGKILL)
        end_of_others(url)
        half = target.check().notes
        assert copied <= half < COUNT
        source = SqliteStore(home / "chie.db", HashingEmbedder())
        assert source.check().notes == COUNT
        gone = next(iter(all_notes(target)))
        source.delete(gone)  # while no migration runs
        out = chie("notes", "migrate", "--to", url).output
        assert f"{COUNT - half} notes copied, 1 deleted; {COUNT - 1} are equal in both" in out
        assert all_notes(target) == all_notes(source)
        assert_counts_are_true(url)
        assert list((home / "migrations").iterdir()) == []
        source.close()
        target.close()

    @pytest.mark.parametrize("target", ["{home}/chie.db", "sqlite:///{home}/../home/chie.db"])
    def test_migration_to_the_current_database_is_rejected(self, home: Path, target: str) -> None:
        result = chie("notes", "migrate", "--to", target.format(home=home))
        assert result.output == "Error: The notes are already stored there. Choose another target with `--to`.\n"

    def test_unsupported_migration_target_is_rejected(self) -> None:
        assert (
            "`--to` is not a database URL that Chie supports."
            in chie("notes", "migrate", "--to", "mysql://db/x").output
        )

    def test_unreachable_server_is_reported_without_its_password(self) -> None:
        result = chie("notes", "migrate", "--to", "postgresql://chie:hunter2hunter2@127.0.0.1:9/x")
        assert result.exit_code == 1
        assert "PostgreSQL at postgresql://127.0.0.1/x is not responding" in result.output
        assert "hunter2" not in result.output


def end_of_others(url: str) -> None:
    """The server ends the sessions of a killed process a moment after it; here, before this returns."""
    with psycopg.connect(url, autocommit=True) as connection:
        connection.execute(
            "SELECT pg_terminate_backend(pid, 5000) FROM pg_stat_activity"
            " WHERE pid <> pg_backend_pid() AND backend_type = 'client backend'"
        )


class TestMigration:
    """Migrations with changes between the passes."""

    @pytest.fixture
    def source(self, tmp_path: Path) -> Iterator[SqliteStore]:
        store = SqliteStore(tmp_path / "source.db", HashingEmbedder())
        yield store
        store.close()

    @pytest.fixture
    def model(self) -> FailableEmbedder:
        return FailableEmbedder()

    @pytest.fixture
    def carried(self, model: FailableEmbedder) -> PrecomputedEmbedder:
        return PrecomputedEmbedder(model)

    @pytest.fixture
    def target(self, url: str, carried: PrecomputedEmbedder) -> Iterator[PostgresStore]:
        store = PostgresStore(postgres_url(url), carried)
        yield store
        store.close()

    @pytest.fixture
    def migrate(
        self, source: SqliteStore, target: PostgresStore, carried: PrecomputedEmbedder, tmp_path: Path
    ) -> Callable[..., MigrationReport]:
        def migrate(interfere: Callable[[int], object] = lambda _: None) -> MigrationReport:
            @contextmanager
            def watch(walk: int) -> Iterator[Callable[[int], None]]:
                yield lambda _: None
                interfere(walk)

            return Migration(source, target, carried, Journal.open(tmp_path / "journal")).run(watch)

        return migrate

    def test_migration_copies_concurrent_changes(
        self, source: SqliteStore, target: PostgresStore, migrate: Callable[..., MigrationReport]
    ) -> None:
        notes = [a_note(f"note {n}", id=f"k-{n}", private=n == 5, user_id="aki") for n in range(10)]
        source.put_copies(notes)

        def interfere(walk: int) -> None:
            if walk == 0:
                source.save(replace(notes[3], content="changed", updated_at=MOMENT + timedelta(1)), replacing=notes[3])
                source.delete("k-4")
            if walk == 1:
                source.save(a_note("new", id="k-00"))

        report = migrate(interfere)
        assert (report.copied, report.deleted, report.same) == (12, 1, 10)
        assert all_notes(target) == all_notes(source)
        assert target.count(viewer=Viewer("ben")) == 9

    @pytest.mark.req("MT-1")
    def test_migration_copies_versions_trash_and_supersession(
        self, source: SqliteStore, target: PostgresStore, migrate: Callable[..., MigrationReport]
    ) -> None:
        old, kept, gone, theirs = (a_note(text, id=f"k-{text}") for text in ("old", "kept", "gone", "theirs"))
        for note in (old, replace(kept, supersedes=[old.id]), gone, theirs):
            source.save(note)
        changed = replace(old, content="接続は 20 本まで")
        source.save(changed, replacing=old)
        migrate()
        source.save(replace(changed, status="draft"), replacing=changed)
        source.delete(gone.id)
        source.save(replace(theirs, status="here", updated_at=MOMENT + timedelta(1)), replacing=theirs)
        edited = replace(theirs, status="there", updated_at=MOMENT + timedelta(2))
        target.save(edited, replacing=theirs)
        target.save(replace(edited, content="there"), replacing=edited)
        own = target.versions(theirs.id, limit=9)
        target.delete(gone.id)
        target.purge(gone.id, deleted=True)
        migrate()
        for note_id in (old.id, kept.id, gone.id):
            assert target.versions(note_id, limit=9) == source.versions(note_id, limit=9)
        assert [one.note for one in target.versions(old.id, limit=9)] == [changed, old]
        assert target.versions(theirs.id, limit=9) == own
        trash = [store.trash(viewer=Viewer("aki"), after=MOMENT, limit=9) for store in (source, target)]
        assert trash[0] == trash[1]
        assert [one.note for one in trash[1]] == [gone]
        assert target.superseding([old.id]) == {old.id: [kept.id]}

    def test_migration_copies_vectors(
        self,
        source: SqliteStore,
        target: PostgresStore,
        migrate: Callable[..., MigrationReport],
        model: FailableEmbedder,
    ) -> None:
        source.put_copies([a_note(f"finding {n} about redis") for n in range(30)])
        model.failing = True  # vectors that are not copied would be missing
        migrate()
        model.failing = False
        found = target.search("finding 7 about redis", limit=1, tags=())
        assert found.notice is None
        ours = source.search("finding 7 about redis", limit=1, tags=())
        assert found.hits[0].score == pytest.approx(ours.hits[0].score, abs=1.01e-4)

    def test_notes_written_in_the_target_are_kept(
        self, source: SqliteStore, target: PostgresStore, migrate: Callable[..., MigrationReport]
    ) -> None:
        old = a_note("old", id="k-1")
        newer = replace(old, content="newer", updated_at=MOMENT + timedelta(days=1))
        foreign = a_note("foreign", id="k-2")
        source.save(old)
        target.put_copies([newer, foreign])
        report = migrate()
        assert (report.copied, report.deleted, report.newer, report.foreign) == (0, 0, 1, 1)
        assert all_notes(target) == {"k-1": newer, "k-2": foreign}

    def test_ids_in_the_trash_of_the_target_stay_their_authors(
        self, source: SqliteStore, target: PostgresStore, migrate: Callable[..., MigrationReport]
    ) -> None:
        mine, gone, other = (a_note(text, id=f"k-{text}", user_id="ben") for text in ("mine", "gone", "other"))
        for note in (mine, gone, other):
            source.save(note)
            target.save(replace(note, user_id="ben" if note == other else "aki"))
            target.delete(note.id)
        source.delete(gone.id)
        trash = [target.trashed(note.id) for note in (mine, gone)]
        report = migrate()
        assert (report.copied, report.foreign) == (1, 1)
        assert all_notes(target) == {other.id: other}
        assert [target.trashed(note.id) for note in (mine, gone)] == trash

    def test_notes_that_never_stop_changing_end_it_with_a_word(
        self, source: SqliteStore, migrate: Callable[..., MigrationReport]
    ) -> None:
        walks: list[int] = []

        def interfere(walk: int) -> None:
            walks.append(walk)
            source.save(a_note(f"note {walk}"))

        source.save(a_note("first"))
        with pytest.raises(StorageError, match="Run the command again when there are fewer changes"):
            migrate(interfere)
        assert len(walks) == MAX_PASSES

    def test_a_journal_that_was_being_written_when_the_power_failed_is_read(self, tmp_path: Path) -> None:
        path = tmp_path / "journal"
        path.write_text("k-1\nk-2\nk-")
        assert Journal.open(path).ids == {"k-1", "k-2"}
