"""The fix for the knowledge server, by where the notes are stored and by the error."""

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
from chie.doctor.finding import Finding
from chie.doctor.runner import run_checks
from chie.installation.commands import upgrade_chie
from chie.knowledge.store.vector_search.client import CALL_TIMEOUT_SECONDS

NOWHERE = "127.0.0.1:9"


def find(name: str = "knowledge") -> Finding:
    """Run only that check of `chie doctor`."""
    [check] = [check for check in all_checks(8080) if check.name == name]
    [found] = run_checks([check]).findings
    return found


def run(name: str = "knowledge") -> tuple[str, str | None]:
    found = find(name)
    return found.state, found.fix


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


def test_damaged_file_needs_a_backup(home: Path) -> None:
    home.mkdir()
    (home / "chie.db").write_bytes(b"no database at all " * 1000)
    assert run() == ("problem", "chie restore FILE")


def test_file_of_a_newer_version_needs_an_upgrade(home: Path) -> None:
    CliRunner().invoke(main, ["notes", "save", "x"])
    with closing(sqlite3.connect(home / "chie.db")) as database, database:
        database.execute("PRAGMA user_version = 999")
    assert run() == ("problem", upgrade_chie())


def test_folder_in_place_of_the_file_is_inspected_not_restored(home: Path) -> None:
    (home / "chie.db").mkdir(parents=True)
    file = home / "chie.db"
    assert run() == run("database") == ("problem", f'ls -l "{file}" && fuser -v "{file}"')


def test_invalid_setting_is_fixed_in_the_settings(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CHIE_KNOWLEDGE_STORE", "elsewhere")
    for name in ("knowledge", "embedding model"):
        found = find(name)
        assert (found.state, found.fix) == ("problem", '"${EDITOR:-vi}" .env')
        assert "CHIE_KNOWLEDGE_STORE" in str(found.message)


def test_invalid_database_url_is_reported(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CHIE_DATABASE_URL", "mysql://host/name")
    assert run() == ("problem", 'export CHIE_DATABASE_URL="postgresql://user:password@host/name"')
    for name in ("database", "PostgreSQL"):
        assert run(name)[1] == '"${EDITOR:-vi}" .env'


def test_unreachable_postgres_is_pinged(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CHIE_DATABASE_URL", f"postgresql://user:sesame@{NOWHERE}/chie")
    assert run() == ("problem", 'pg_isready --dbname="$CHIE_DATABASE_URL"')


def test_unusable_postgres_needs_its_administrator(monkeypatch: pytest.MonkeyPatch) -> None:
    import psycopg

    servers = run_server()
    try:
        url = new_database(next(servers))
        monkeypatch.setenv("CHIE_DATABASE_URL", url)
        assert find().state == "ok"
        with psycopg.connect(url, autocommit=True) as connection:
            connection.execute("UPDATE knowledge_schema SET version = 999")
            assert run() == ("problem", upgrade_chie())
            connection.execute("UPDATE knowledge_schema SET version = 1")
            connection.execute("ALTER TABLE knowledge_corpus RENAME TO mislaid")
            assert run() == ("problem", 'psql "$CHIE_DATABASE_URL"')
    finally:
        servers.close()  # type: ignore[attr-defined]


def test_existing_collection_is_ok(collection: FakeVectorSearch) -> None:
    assert CliRunner().invoke(main, ["knowledge", "init-collection"]).exit_code == 0
    found = find()
    assert (found.state, found.message.code) == ("ok", "doctor.server_ok")
    assert "notes: 0" in str(found.message)
    assert collection.calls["aggregate_data_objects"] == 1


@pytest.mark.usefixtures("collection")
def test_missing_collection_is_created() -> None:
    assert run() == ("problem", "chie knowledge init-collection")
    assert "Collection" in str(find().message)


@pytest.mark.parametrize(
    ("code", "fix"),
    [
        (grpc.StatusCode.UNAUTHENTICATED, "gcloud auth application-default login"),
        (grpc.StatusCode.PERMISSION_DENIED, "gcloud projects add-iam-policy-binding"),
    ],
)
def test_missing_google_credentials_are_fixed_with_gcloud(collection: FakeVectorSearch, code: Any, fix: str) -> None:
    collection.fail("aggregate_data_objects", code, times=9)
    state, given = run()
    assert state == "problem"
    assert (given or "").startswith(fix)


def test_missing_collection_variable_is_named(collection: FakeVectorSearch, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("VECTOR_SEARCH_COLLECTION")
    found = find()
    assert found.state == "problem"
    assert "VECTOR_SEARCH_COLLECTION" in str(found.message)
    assert "VECTOR_SEARCH_COLLECTION" in (found.fix or "")
    assert not collection.calls


def test_google_timeout_is_shorter_than_the_timeout_of_the_check() -> None:
    """Otherwise the check would hide the reason."""
    [check] = [check for check in all_checks(8080) if check.name == "knowledge"]
    assert check.timeout_seconds > CALL_TIMEOUT_SECONDS
