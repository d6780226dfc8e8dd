"""What a restore writes is readable by its owner alone, whatever the umask and the permissions in the archive."""

import os
from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.backup.commands import change_manifest, chie, notes

CONTENT = '{"秘密": "secret"}'


@pytest.fixture(autouse=True)
def _open_umask() -> Iterator[None]:
    before = os.umask(0o000)
    yield
    os.umask(before)


@pytest.fixture
def archive(home: Path, tmp_path: Path) -> Path:
    """Of files that anybody can read."""
    with notes(home) as service:
        service.save("知恵", title="wisdom")
    saved = home / "n8n-backups" / "host" / "wf1" / "update.json"
    saved.parent.mkdir(parents=True)
    for file in (saved, home / "servers.json"):
        file.write_text(CONTENT)
    return _backed_up(tmp_path / "new" / "b.zip")


def _backed_up(archive: Path) -> Path:
    made = chie("backup", str(archive))
    assert made.exit_code == 0, made.output
    return archive


def open_to_others(folder: Path) -> list[str]:
    """Files and folders that anybody but their owner may use."""
    return [str(path.relative_to(folder)) for path in folder.rglob("*") if path.stat().st_mode & 0o077]


def test_restored_files_and_folders_are_private(archive: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    new = tmp_path / "elsewhere" / "home"
    monkeypatch.setenv("CHIE_HOME", str(new))
    restored = chie("restore", str(archive), "--yes")
    assert restored.exit_code == 0, restored.output
    assert (new / "n8n-backups" / "host" / "wf1" / "update.json").read_text() == CONTENT
    assert (new / "chie.db").exists()
    assert open_to_others(tmp_path / "elsewhere") == []
    assert open_to_others(tmp_path / "new") == []


def test_permissions_in_an_older_archive_are_ignored(home: Path, archive: Path) -> None:
    from chie.backup.archive import verify

    items = {name: item.model_dump() | {"mode": 0o666} for name, item in verify(archive).items.items()}
    change_manifest(archive, items=items)
    (home / "servers.json").unlink()
    assert chie("restore", str(archive), "--yes").exit_code == 0
    assert (home / "servers.json").stat().st_mode & 0o777 == 0o600


def test_safety_copies_are_private(home: Path, archive: Path) -> None:
    assert chie("restore", str(archive), "--yes").exit_code == 0
    (copy,) = home.glob("before-restore-*.zip")
    assert copy.stat().st_mode & 0o777 == 0o600
    copy.unlink()
    for file in home.glob("chie.db*"):
        file.unlink()
    (home / "chie.db").write_bytes(b"damaged " * 1000)
    for file in home.rglob("*.json"):
        file.chmod(0o666)
    assert chie("restore", str(archive), "--yes").exit_code == 0
    (folder,) = home.glob("before-restore-*")
    assert folder.stat().st_mode & 0o777 == 0o700
    assert (folder / "n8n-backups" / "host" / "wf1" / "update.json").read_text() == CONTENT
    assert open_to_others(folder) == []
    assert (home / "chie.db").stat().st_mode & 0o777 == 0o600
