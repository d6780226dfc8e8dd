"""What mends the knowledge room, by where the notes are and by what failed there."""

import sqlite3
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import grpc
import pytest
from click.testing import CliRunner
from tests.fakes.postgres import new_database, run_server
from tests.fakes.vector_search import FakeVectorSearch, vector_search

from chie.cli import main
from chie.doctor.cli import all_checks
from chie.doctor.finding import examine
from chie.knowledge.store.vector_search.client import CALL_TIMEOUT_SECONDS

NOWHERE = "127.0.0.1:9"


def look(name: str = "knowledge") -> tuple[str, str | None, str]:
    """That check alone, as `chie doctor` has it."""
    [check] = [check for check in all_checks(8080) if check.name == name]
    [found] = examine([check]).findings
    return found.state, found.fix, found.says


@pytest.fixture
def collection(monkeypatch: pytest.MonkeyPatch) -> Iterator[FakeVectorSearch]:
    with vector_search() as service:
        for name, value in {
            "CHIE_KNOWLEDGE_STORE": "vector-search",
            "GOOGLE_CLOUD_PROJECT": "p",
            "VECTOR_SEARCH_LOCATION": "l",
            "VECTOR_SEARCH_COLLECTION": "notes",
            "CHIE_VECTOR_SEARCH_EMULATOR": service.address,
        }.items():
            monkeypatch.setenv(name, value)
        yield service


def test_a_damaged_file_wants_a_backup(home: Path) -> None:
    home.mkdir()
    (home / "chie.db").write_bytes(b"no database at all " * 1000)
    assert look()[:2] == ("problem", "chie restore FILE")


def test_a_file_of_a_newer_chie_wants_that_one(home: Path) -> None:
    CliRunner().invoke(main, ["notes", "save", "x"])
    with closing(sqlite3.connect(home / "chie.db")) as database, database:
        database.execute("PRAGMA user_version = 999")
    assert look()[:2] == ("problem", "pip install --upgrade chie")


def test_a_file_that_is_no_file_is_looked_at_not_restored(home: Path) -> None:
    (home / "chie.db").mkdir(parents=True)
    file = home / "chie.db"
    assert look()[:2] == look("database")[:2] == ("problem", f'ls -l "{file}" && fuser -v "{file}"')


def test_a_wrong_setting_is_mended_where_settings_are(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CHIE_KNOWLEDGE_STORE", "elsewhere")
    for name in ("knowledge", "embedding model"):
        state, fix, says = look(name)
        assert (state, fix) == ("problem", '"${EDITOR:-vi}" .env')
        assert "CHIE_KNOWLEDGE_STORE" in says


def test_a_wrong_address_of_a_database_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CHIE_DATABASE_URL", "mysql://host/name")
    assert look()[:2] == ("problem", 'export CHIE_DATABASE_URL="postgresql://user:password@host/name"')
    for name in ("database", "PostgreSQL"):
        assert look(name)[1] == '"${EDITOR:-vi}" .env'


def test_postgresql_that_is_away_is_looked_for(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CHIE_DATABASE_URL", f"postgresql://user:sesame@{NOWHERE}/chie")
    assert look()[:2] == ("problem", 'pg_isready --dbname="$CHIE_DATABASE_URL"')


def test_postgresql_that_answers_and_does_not_serve_wants_its_administrator(monkeypatch: pytest.MonkeyPatch) -> None:
    import psycopg

    servers = run_server()
    try:
        url = new_database(next(servers))
        monkeypatch.setenv("CHIE_DATABASE_URL", url)
        assert look()[0] == "ok"
        with psycopg.connect(url, autocommit=True) as connection:
            connection.execute("UPDATE knowledge_schema SET version = 999")
            assert look()[:2] == ("problem", "pip install --upgrade chie")
            connection.execute("UPDATE knowledge_schema SET version = 1")
            connection.execute("ALTER TABLE knowledge_corpus RENAME TO mislaid")
            assert look()[:2] == ("problem", 'psql "$CHIE_DATABASE_URL"')
    finally:
        servers.close()  # type: ignore[attr-defined]


def test_a_collection_that_is_there_is_well(collection: FakeVectorSearch) -> None:
    assert CliRunner().invoke(main, ["knowledge", "init-collection"]).exit_code == 0
    state, _, says = look()
    assert (state, says) == ("ok", "notes 0, search by meaning and by words.")
    assert collection.calls["aggregate_data_objects"] == 1


@pytest.mark.usefixtures("collection")
def test_a_collection_that_is_not_there_is_founded() -> None:
    state, fix, says = look()
    assert (state, fix) == ("problem", "chie knowledge init-collection")
    assert "there is no Collection" in says


@pytest.mark.parametrize(
    ("code", "fix"),
    [
        (grpc.StatusCode.UNAUTHENTICATED, "gcloud auth application-default login"),
        (grpc.StatusCode.PERMISSION_DENIED, "gcloud projects add-iam-policy-binding"),
    ],
)
def test_google_that_refuses_us_is_asked_for_a_way_in(collection: FakeVectorSearch, code: Any, fix: str) -> None:
    collection.fail("aggregate_data_objects", code, times=9)
    state, given, _ = look()
    assert state == "problem"
    assert (given or "").startswith(fix)


def test_a_collection_that_is_not_named_wants_its_variables(
    collection: FakeVectorSearch, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("VECTOR_SEARCH_COLLECTION")
    state, fix, says = look()
    assert state == "problem"
    assert "VECTOR_SEARCH_COLLECTION" in says
    assert "VECTOR_SEARCH_COLLECTION" in (fix or "")
    assert not collection.calls


def test_a_call_to_google_may_end_before_the_check_does() -> None:
    """Or nobody would ever read why it failed."""
    [check] = [check for check in all_checks(8080) if check.name == "knowledge"]
    assert check.seconds > CALL_TIMEOUT_SECONDS
