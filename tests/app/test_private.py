"""The home folder and the database are readable by their owner alone, whichever command creates them."""

import os
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest
from click.testing import CliRunner
from tests.fakes.embedders import HashingEmbedder

from chie.cli import main
from chie.database.url import SqliteUrl
from chie.files import make_folder, replacing
from chie.knowledge.settings import open_store
from chie.knowledge.viewer import Viewer

pytestmark = pytest.mark.skipif(os.name != "posix", reason="permissions are modes only on POSIX")


@pytest.fixture(autouse=True)
def usual_umask() -> Iterator[None]:
    before = os.umask(0o022)
    yield
    os.umask(before)


def mode(path: Path) -> int:
    return path.stat().st_mode & 0o777


@pytest.mark.parametrize("command", [("notes", "list"), ("db", "upgrade")])
def test_new_home_and_database_are_private(home: Path, command: tuple[str, ...]) -> None:
    assert CliRunner().invoke(main, command).exit_code == 0
    assert (mode(home), mode(home / "chie.db")) == (0o700, 0o600)


@pytest.mark.parametrize("command", [("users", "add", "aki"), ("connect", "cursor", "--yes"), ("notes", "list")])
def test_every_command_creates_a_private_home(
    home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, command: tuple[str, ...]
) -> None:
    monkeypatch.setenv("HOME", str(tmp_path / "user"))
    assert CliRunner().invoke(main, command).exit_code == 0
    assert mode(home) == 0o700


def test_wal_of_the_database_is_private(home: Path) -> None:
    with closing(open_store(SqliteUrl(home / "chie.db"), HashingEmbedder())) as store:
        assert store.count(viewer=Viewer("aki")) == 0
        assert {file.name: mode(file) for file in home.iterdir()} == dict.fromkeys(
            ("chie.db", "chie.db-wal", "chie.db-shm"), 0o600
        )


def test_existing_permissions_are_kept(home: Path) -> None:
    home.mkdir(mode=0o755)
    (home / "chie.db").touch(mode=0o640)
    assert CliRunner().invoke(main, ["notes", "list"]).exit_code == 0
    assert (mode(home), mode(home / "chie.db")) == (0o755, 0o640)


def test_parent_folders_are_private_too(tmp_path: Path) -> None:
    make_folder(tmp_path / "home" / "n8n-backups" / "workflow")
    assert mode(tmp_path / "home") == mode(tmp_path / "home" / "n8n-backups") == 0o700


def test_replacing_writes_all_or_nothing(tmp_path: Path) -> None:
    file = tmp_path / "file"
    with replacing(file) as draft:
        draft.write_text("first")
    with pytest.raises(TypeError), replacing(file) as draft:
        draft.write_text(b"second")  # type: ignore[arg-type]
    assert (file.read_text(), mode(file), [path.name for path in tmp_path.iterdir()]) == ("first", 0o600, ["file"])
    with replacing(file, private=False) as draft:
        draft.write_text("third")
    assert (file.read_text(), mode(file)) == ("third", 0o644)
