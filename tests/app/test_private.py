"""Whatever makes the home or the database first, nobody else on the machine can read them."""

import os
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest
from click.testing import CliRunner
from tests.fakes.embedders import HashingEmbedder

from chie.cli import main
from chie.database.url import SqliteUrl
from chie.files import make_folder
from chie.knowledge.settings import open_store

pytestmark = pytest.mark.skipif(os.name != "posix", reason="rights are told by modes only on POSIX")


@pytest.fixture(autouse=True)
def usual_umask() -> Iterator[None]:
    before = os.umask(0o022)
    yield
    os.umask(before)


def mode(path: Path) -> int:
    return path.stat().st_mode & 0o777


@pytest.mark.parametrize("command", [("notes", "list"), ("db", "upgrade")])
def test_a_new_home_and_its_database_are_their_owners_alone(home: Path, command: tuple[str, ...]) -> None:
    assert CliRunner().invoke(main, command).exit_code == 0
    assert (mode(home), mode(home / "chie.db")) == (0o700, 0o600)


@pytest.mark.parametrize("command", [("users", "add", "aki"), ("connect", "cursor", "--yes"), ("notes", "list")])
def test_whatever_makes_the_home_makes_it_private(
    home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, command: tuple[str, ...]
) -> None:
    monkeypatch.setenv("HOME", str(tmp_path / "user"))
    assert CliRunner().invoke(main, command).exit_code == 0
    assert mode(home) == 0o700


def test_the_log_of_the_database_is_as_private(home: Path) -> None:
    with closing(open_store(SqliteUrl(home / "chie.db"), HashingEmbedder())) as store:
        assert store.count(viewer="aki") == 0
        assert {file.name: mode(file) for file in home.iterdir()} == dict.fromkeys(
            ("chie.db", "chie.db-wal", "chie.db-shm"), 0o600
        )


def test_what_is_there_keeps_its_rights(home: Path) -> None:
    home.mkdir(mode=0o755)
    (home / "chie.db").touch(mode=0o640)
    assert CliRunner().invoke(main, ["notes", "list"]).exit_code == 0
    assert (mode(home), mode(home / "chie.db")) == (0o755, 0o640)


def test_folders_above_are_made_too(tmp_path: Path) -> None:
    make_folder(tmp_path / "home" / "n8n-backups" / "place")
    assert mode(tmp_path / "home") == mode(tmp_path / "home" / "n8n-backups") == 0o700
