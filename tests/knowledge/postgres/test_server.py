"""PostgreSQL with several processes: kills, crashes, lost connections and errors."""

import os
import signal
import subprocess
import sys
import traceback
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from typing import Any

import psycopg
import pytest
from click.testing import CliRunner
from tests.app.processes import BIN
from tests.contract.note_store import MOMENT, a_note
from tests.fakes.embedders import HashingEmbedder
from tests.fakes.postgres import crash, new_database, new_schema, postgres_url
from tests.fakes.postgres_counts import assert_counts_are_true

from chie.cli import main
from chie.database import postgres as database_postgres
from chie.database.settings import database_url
from chie.errors import ChieError, ConfigurationError, ConflictError, StorageError
from chie.knowledge.note import Note
from chie.knowledge.settings import KnowledgeSettings, create_store
from chie.knowledge.store.postgres import backfill, nearest, schema
from chie.knowledge.store.postgres import pool as server_module
from chie.knowledge.store.postgres import statistics as counts
from chie.knowledge.store.postgres.store import PostgresStore

PASSWORD = "hunter2hunter2"
ROUNDS = 5


def as_user(url: str, name: str) -> str:
    return url.replace("postgresql://postgres:", f"postgresql://{name}:").replace("//postgres@", f"//{name}@")


class TestManyProcesses:
    def test_no_acknowledged_save_is_lost_when_a_writer_is_killed(
        self, url: str, store: PostgresStore, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        """Writers by twos, each killed in the middle of its work."""
        monkeypatch.setenv("CHIE_DATABASE_URL", url)
        with ThreadPoolExecutor(2) as pool:
            acknowledged = {note_id for saved in pool.map(_write_until_killed, range(ROUNDS)) for note_id in saved}
        kept = {note.id for note in store.walk(after=None, limit=10_000)}
        assert len(acknowledged) >= ROUNDS * 5
        assert acknowledged <= kept
        assert_counts_are_true(url)

    def test_processes_that_start_together_make_the_tables_once(self, url: str) -> None:
        def start(number: int) -> None:
            store = PostgresStore(postgres_url(url), HashingEmbedder())
            store.save(a_note(f"together {number}"))
            store.close()

        with ThreadPoolExecutor(8) as pool:
            list(pool.map(start, range(8)))
        assert_counts_are_true(url)

    def test_one_of_several_concurrent_updates_succeeds(self, url: str, store: PostgresStore) -> None:
        note = a_note("zero")
        store.save(note)
        stores = [PostgresStore(postgres_url(url), HashingEmbedder()) for _ in range(6)]

        def change(number: int) -> bool:
            try:
                stores[number].save(replace(note, content=f"version {number}"), replacing=note)
            except ConflictError:
                return False
            return True

        with ThreadPoolExecutor(6) as pool:
            outcomes = list(pool.map(change, range(6)))
        assert outcomes.count(True) == 1
        kept = store.get(note.id)
        assert kept is not None
        assert kept.content == f"version {outcomes.index(True)}"
        assert_counts_are_true(url)
        for other in stores:
            other.close()

    def test_the_command_line_and_another_process_share_one_database(
        self, url: str, store: PostgresStore, monkeypatch: pytest.MonkeyPatch, home: Path
    ) -> None:
        monkeypatch.setenv("CHIE_DATABASE_URL", url)
        saved = CliRunner().invoke(main, ["notes", "save", "本番の接続数は PgBouncer で抑える"])
        note = store.get(saved.output.split()[1])
        assert note is not None
        assert note.content == "本番の接続数は PgBouncer で抑える"
        assert "PgBouncer" in CliRunner().invoke(main, ["notes", "search", "connection limit"]).output
        assert not (home / "chie.db").exists()


def _write_until_killed(turn: int) -> set[str]:
    with subprocess.Popen(
        [BIN / "python", "-m", "tests.knowledge.writer", str(turn)],
        stdout=subprocess.PIPE,
        text=True,
        cwd=Path(__file__).parents[3],
    ) as writer:
        assert writer.stdout
        reported = {writer.stdout.readline().strip() for _ in range(5 + turn)}
        os.kill(writer.pid, signal.SIGKILL)
        return reported | {line.strip() for line in writer.stdout if line.endswith("\n")}


class TestLostConnections:
    def test_server_crash_is_transparent(self, server: str, url: str, store: PostgresStore) -> None:
        before, after = a_note("before the crash"), a_note("after the crash")
        store.save(before)
        crash(server)
        assert store.get(before.id) == before
        crash(server)
        store.save(after)
        assert {note.id for note in store.walk(after=None, limit=9)} == {before.id, after.id}
        assert_counts_are_true(url)

    def test_write_is_retried_after_a_broken_connection(self, url: str, store: PostgresStore) -> None:
        note, runs = a_note("kept once"), list[int]()

        def work(connection: Any) -> None:
            connection.execute("INSERT INTO knowledge_leases VALUES ('x', 'y', now())")
            runs.append(1)
            if len(runs) == 1:
                end_others(url)
            connection.execute("SELECT 1")

        store.save(note)
        store._pool.write(work)
        assert len(runs) == 2
        assert store.check().notes == 1

    @pytest.mark.parametrize("committed", [True, False])
    def test_connection_lost_at_commit_is_resolved_by_transaction_status(
        self, url: str, store: PostgresStore, monkeypatch: pytest.MonkeyPatch, *, committed: bool
    ) -> None:
        store.check()
        store.close()
        monkeypatch.setattr(psycopg, "connect", _losing(url, committed=committed).connect)
        note = a_note("kept exactly once")
        store.save(note)
        assert store.get(note.id) == note
        assert_counts_are_true(url)

    def test_unknown_outcome_of_a_commit_is_reported(
        self, url: str, store: PostgresStore, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        store.save(a_note("names the model"))
        store.close()
        connection = _losing(url, committed=True).connect(url, autocommit=True)
        store._pool._idle.put(connection)
        monkeypatch.setattr(database_postgres, "CONNECT_TIMEOUT_SECONDS", 1)
        monkeypatch.setattr(store._pool, "url", postgres_url("postgresql://127.0.0.1:9/x"))
        with pytest.raises(StorageError) as caught:
            store.save(a_note("perhaps"))
        assert caught.value.code == "database.commit_outcome_unknown"


def _fetch(statement: str, values: Sequence[object], connection: Any) -> Any:
    return connection.execute(statement, values or None).fetchall()


def end_others(url: str) -> None:
    with psycopg.connect(url, autocommit=True) as connection:
        connection.execute(
            "SELECT pg_terminate_backend(pid, 5000) FROM pg_stat_activity"
            " WHERE pid <> pg_backend_pid() AND backend_type = 'client backend'"
        )


def _losing(url: str, *, committed: bool) -> type[psycopg.Connection[Any]]:
    """Connections of which the first that has written is lost at its commit, a moment after it or before."""
    lost: list[bool] = []

    class Losing(psycopg.Connection[Any]):
        def execute(self, query: Any, *arguments: Any, **options: Any) -> Any:
            wrote = query == "COMMIT" and self.info.transaction_status == psycopg.pq.TransactionStatus.INTRANS
            if not wrote or lost or _is_read_only(self):
                return super().execute(query, *arguments, **options)
            lost.append(True)
            if committed:
                super().execute(query)
                self.close()
                raise psycopg.OperationalError("the answer was lost")
            end_others(url)
            return super().execute(query)

    return Losing


def _is_read_only(connection: psycopg.Connection[Any]) -> bool:
    return connection.cursor().execute("SHOW transaction_read_only").fetchone() == ("on",)


class TestFailures:
    """Every error has advice, and none shows a password."""

    def failure(self, url: str, note: Note | None = None) -> ChieError:
        store = PostgresStore(postgres_url(url), HashingEmbedder())
        with pytest.raises(ChieError) as caught:
            store.save(note) if note else store.check()
        store.close()
        shown = "".join(traceback.format_exception(caught.value))
        assert PASSWORD not in shown
        return caught.value

    def test_a_server_that_does_not_answer(self) -> None:
        error = self.failure(f"postgresql://chie:{PASSWORD}@127.0.0.1:9/notes")
        assert error.code == "database.server_unreachable"
        assert error.reason.params == {"location": "postgresql://127.0.0.1/notes"}

    @pytest.mark.parametrize(
        "wrong", [f"postgresql://chie:{PASSWORD}/@db/x", f"postgresql://chie@db:{PASSWORD}/x", "mysql://db/x"]
    )
    def test_invalid_url(self, wrong: str) -> None:
        with pytest.raises(ConfigurationError) as caught:
            PostgresStore(postgres_url(wrong), HashingEmbedder())
        assert caught.value.code == "database.url_invalid"
        assert PASSWORD not in "".join(traceback.format_exception(caught.value))

    def test_a_user_who_may_not_add_the_extension(self, server: str) -> None:
        empty = new_database(server)
        with psycopg.connect(empty, autocommit=True) as connection:
            connection.execute(f"CREATE ROLE weak LOGIN PASSWORD '{PASSWORD}'")
        assert self.failure(as_user(empty, "weak")).code == "database.pgvector_forbidden"

    def test_an_owner_without_other_rights_needs_the_extension_and_nothing_else(
        self, server: str, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr(backfill, "MIN_INDEXED_VECTORS", 1)
        monkeypatch.setattr(nearest, "MAX_EXACT_SCAN_PASSAGES", 0)
        with psycopg.connect(server, autocommit=True) as connection:
            connection.execute("CREATE ROLE plain LOGIN")
            connection.execute("CREATE DATABASE plain OWNER plain")
        with psycopg.connect(server.replace("/postgres?", "/plain?"), autocommit=True) as connection:
            connection.execute("CREATE EXTENSION vector")
        store = PostgresStore(
            postgres_url(as_user(server, "plain").replace("/postgres?", "/plain?")), HashingEmbedder()
        )
        store.save(a_note("redis evicts sessions"))
        store.finish_background_work()
        store.close()  # the next connection has not loaded pgvector when it makes its settings
        assert store.search("redis sessions", limit=1, tags=()).hits
        assert store._pool.read(lambda connection: counts.read(connection, store._vectors.model, None)).indexed
        store.close()

    def test_a_server_without_the_extension(self, server: str, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(schema, "EXTENSION", "CREATE EXTENSION vector_that_nobody_installed")
        empty = new_database(server)
        assert self.failure(empty).code == "database.pgvector_missing"
        with psycopg.connect(empty) as connection:
            assert connection.execute("SELECT to_regclass('knowledge_notes')").fetchone() == (None,)

    def test_an_extension_that_is_too_old(self, server: str, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(schema, "PGVECTOR", (99, 0))
        error = self.failure(new_schema(server))
        assert error.code == "database.pgvector_outdated"
        assert error.reason.params["needed"] == "99.0"

    def test_a_database_that_cannot_hold_japanese(self, server: str) -> None:
        with psycopg.connect(server, autocommit=True) as connection:
            connection.execute("CREATE DATABASE latin ENCODING 'LATIN1' LC_COLLATE 'C' LC_CTYPE 'C' TEMPLATE template0")
        error = self.failure(server.replace("/postgres?", "/latin?"))
        assert error.code == "database.encoding_unsupported"

    def test_newer_schema_is_rejected_and_not_changed(self, url: str, store: PostgresStore) -> None:
        store.save(a_note())
        with psycopg.connect(url) as connection:
            connection.execute("UPDATE knowledge_schema SET version = version + 1")
        error = self.failure(url)
        assert error.code == "database.schema_newer"
        assert error.reason.params["found"] == schema.VERSION + 1
        assert error.reason.params["supported"] == schema.VERSION

    def test_revoked_permissions(self, url: str, store: PostgresStore) -> None:
        store.check()
        with psycopg.connect(url, autocommit=True) as connection:
            connection.execute("DROP ROLE IF EXISTS reader")
            connection.execute("CREATE ROLE reader LOGIN")
        assert self.failure(as_user(url, "reader")).code == "database.permission_denied"

    @pytest.mark.parametrize("field", ["id", "title", "content", "source", "status", "tags"])
    def test_nul_character(self, url: str, field: str) -> None:
        fields: dict[str, Any] = {field: ["a\0"] if field == "tags" else "a\0"}
        assert self.failure(url, replace(a_note(), **fields)).code == "knowledge.nul_character"

    def test_value_rejected_by_the_driver_is_not_a_lost_connection(self, store: PostgresStore) -> None:
        for statement, values, code in (
            ("SELECT %s", ("a\0",), "database.text_unsupported"),
            ("SELECT '10000-01-01'::timestamptz", (), "database.value_unsupported"),
        ):
            with pytest.raises(ChieError) as caught:
                store._pool.read(partial(_fetch, statement, values))
            assert caught.value.code == code
        assert store.check().notes == 0

    @pytest.mark.parametrize("zone", ["Asia/Tokyo", "America/New_York"])
    def test_a_date_at_either_end_of_the_calendar_is_read_whatever_the_servers_time_zone(
        self, url: str, zone: str
    ) -> None:
        store = PostgresStore(
            postgres_url(url.replace("options=", f"options=-ctimezone%3D{zone}%20")), HashingEmbedder()
        )
        for moment in (datetime.min.replace(tzinfo=UTC), datetime.max.replace(tzinfo=UTC)):
            note = a_note("redis", created_at=moment, updated_at=moment)
            store.save(note)
            assert store.get(note.id) == note
        assert len(store.browse(tag=None, limit=5, cursor=None).notes) == 2
        assert len(store.search("redis", limit=5, tags=()).hits) == 2
        store.close()

    def test_locked_row(self, url: str, store: PostgresStore, monkeypatch: pytest.MonkeyPatch) -> None:
        note = a_note("locked")
        store.save(note)
        monkeypatch.setattr(server_module, "LOCK_TIMEOUT_SECONDS", "0.05")
        with psycopg.connect(url) as holder:
            holder.execute("SELECT 1 FROM knowledge_notes WHERE id = %s FOR UPDATE", (note.id,))
            with pytest.raises(StorageError) as caught:
                store.save(replace(note, content="new", updated_at=MOMENT), replacing=note)
        assert caught.value.code == "database.lock_timeout"
        assert store.get(note.id) == note

    def test_a_statement_that_takes_too_long(self, store: PostgresStore, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(server_module, "STATEMENT_TIMEOUT_SECONDS", "0.05")
        with pytest.raises(StorageError) as caught:
            store._pool.read(lambda connection: connection.execute("SELECT pg_sleep(30)"))
        assert caught.value.code == "database.statement_timeout"
        monkeypatch.undo()
        assert store.check().notes == 0

    def test_missing_driver(self, url: str, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.delitem(sys.modules, "chie.knowledge.store.postgres.pool")
        monkeypatch.setitem(sys.modules, "psycopg", None)
        assert self.failure(url).code == "database.driver_missing"


class TestSetting:
    """`CHIE_DATABASE_URL` is read as for conversations."""

    @pytest.mark.parametrize("scheme", ["postgresql", "postgres", "postgresql+psycopg"])
    def test_every_spelling_that_the_conversations_know(
        self, url: str, monkeypatch: pytest.MonkeyPatch, scheme: str
    ) -> None:
        monkeypatch.setenv("CHIE_DATABASE_URL", url.replace("postgresql", scheme, 1))
        store = create_store(KnowledgeSettings())
        assert isinstance(store, PostgresStore)
        assert store.check().notes == 0
        store.close()

    @pytest.mark.parametrize("options", ["", "?timeout=5"])
    def test_a_file_can_be_named_too(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, options: str) -> None:
        monkeypatch.setenv("CHIE_DATABASE_URL", f"sqlite:///{tmp_path}/other.db{options}")
        store = create_store(KnowledgeSettings())
        store.check()
        store.close()
        assert (tmp_path / "other.db").exists()

    def test_unsupported_database_is_rejected_without_its_password(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setenv("CHIE_DATABASE_URL", f"mysql://root:{PASSWORD}@db/chie")
        with pytest.raises(ConfigurationError) as caught:
            database_url(KnowledgeSettings())
        assert caught.value.code == "database.url_invalid"
        assert PASSWORD not in str(caught.value)

    def test_driver_is_imported_on_first_use(self) -> None:
        script = (
            "import sys; from chie.knowledge.settings import KnowledgeSettings, create_store;"
            "create_store(KnowledgeSettings()).close(); print('psycopg' in sys.modules)"
        )
        environment = os.environ | {"CHIE_DATABASE_URL": "postgresql://127.0.0.1:9/x"}
        done = subprocess.run(
            [BIN / "python", "-c", script], env=environment, capture_output=True, text=True, check=True
        )
        assert done.stdout == "False\n"

    @pytest.mark.parametrize(
        ("url", "options"),
        [
            ("postgresql://u:p%40x@h:5/db?sslmode=require",
             {"user": "u", "password": "p@x", "host": "h", "port": 5, "dbname": "db", "sslmode": "require"}),
            ("postgres:///db?host=/run/pg", {"dbname": "db", "host": "/run/pg"}),
            ("postgresql://u@/db?host=a:1&host=b:2", {"user": "u", "dbname": "db", "host": "a,b", "port": "1,2"}),
        ],
    )  # fmt: skip
    def test_urls_are_parsed_like_sqlalchemy(self, url: str, options: dict[str, object]) -> None:
        assert postgres_url(url).options == options
