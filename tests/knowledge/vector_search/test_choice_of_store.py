"""Variables of Vector Search without `CHIE_KNOWLEDGE_STORE`: an error at start, never a local database unnoticed."""

import os
import subprocess
import sys
from pathlib import Path

import pytest
from click.testing import CliRunner
from starlette.testclient import TestClient

from chie.app import create_app
from chie.cli import main
from chie.errors import ConfigurationError
from chie.knowledge.server import create_server
from chie.servers import load_servers

OWN = ("VECTOR_SEARCH_LOCATION", "VECTOR_SEARCH_COLLECTION")
GENERAL = ("GOOGLE_CLOUD_PROJECT", "GOOGLE_API_KEY", "GOOGLE_APPLICATION_CREDENTIALS", "GEMINI_API_KEY")


@pytest.fixture(autouse=True)
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("CHIE_HOME", str(tmp_path))
    return tmp_path


@pytest.mark.req("KG-9")
@pytest.mark.parametrize("name", OWN)
def test_variables_of_a_collection_need_the_choice_of_the_store(
    name: str, home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(name, "notes")
    with pytest.raises(ConfigurationError) as caught:
        create_server()
    assert (caught.value.code, caught.value.reason.params) == ("vector_search.not_chosen", {"names": [name]})
    saved = CliRunner().invoke(main, ["notes", "save", "nginx: raise worker_connections"])
    assert saved.exit_code == 1
    assert "CHIE_KNOWLEDGE_STORE" in saved.stderr
    assert not list(home.glob("*.db"))


@pytest.mark.req("KG-9")
def test_process_ends_with_the_error(home: Path) -> None:
    env = {**os.environ, "VECTOR_SEARCH_COLLECTION": "notes"}
    command = [str(Path(sys.executable).parent / "chie"), "mcp", "knowledge"]
    done = subprocess.run(
        command, env=env, stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=60, check=False
    )
    assert done.returncode == 1
    assert "VECTOR_SEARCH_COLLECTION" in done.stderr
    assert not list(home.glob("*.db"))


@pytest.mark.req("KG-9")
def test_app_names_the_error(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("VECTOR_SEARCH_COLLECTION", "notes")
    with TestClient(create_app(load_servers()), base_url="http://127.0.0.1") as app:
        assert app.post("/mcp/knowledge", json={}).json()["code"] == "vector_search.not_chosen"


def test_variables_of_other_google_services_have_no_effect(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in GENERAL:
        monkeypatch.setenv(name, "another program's")
    create_server()
    assert CliRunner().invoke(main, ["notes", "save", "a note"]).exit_code == 0
    assert list(home.glob("*.db"))


def test_database_can_be_chosen_in_spite_of_them(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("VECTOR_SEARCH_COLLECTION", "another-program")
    monkeypatch.setenv("CHIE_KNOWLEDGE_STORE", "database")
    assert CliRunner().invoke(main, ["notes", "save", "a note"]).exit_code == 0
    assert list(home.glob("*.db"))
