"""Damaged, unsafe, newer and older archives are verified before anything is changed."""

import hashlib
import json
import resource
import sqlite3
import subprocess
import zipfile
from contextlib import closing
from pathlib import Path

import pytest
from tests.app.processes import BIN
from tests.backup.commands import change_manifest, chie, downgrade, message, notes, titles

from chie.backup.archive import MAX_MANIFEST_BYTES
from chie.installation.commands import followable


def damage(archive: Path, offset: int) -> None:
    data = bytearray(archive.read_bytes())
    data[offset] ^= 0xFF
    archive.write_bytes(bytes(data))


def test_damaged_archive_is_rejected_before_anything_is_changed(home: Path, tmp_path: Path) -> None:
    with notes(home) as service:
        service.save("here " * 500, title="here")
    archive = tmp_path / "b.zip"
    chie("backup", str(archive))
    intact = archive.read_bytes()
    state = {path: path.read_bytes() for path in home.iterdir()}
    for offset in range(40, len(intact), max(1, len(intact) // 12)):
        archive.write_bytes(intact)
        damage(archive, offset)
        result = chie("restore", str(archive), "--yes")
        if result.exit_code == 0:  # a byte without meaning, such as a timestamp
            state = {path: path.read_bytes() for path in home.iterdir()}
            continue
        assert "othing was changed" in result.output or "newer version of Chie" in result.output, result.output
        assert "Traceback" not in result.output
    archive.write_bytes(intact[: len(intact) // 2])
    assert message("backup.archive_invalid", path=str(archive)) in chie("restore", str(archive), "--yes").output
    missing = str(tmp_path / "nowhere.zip")
    assert followable(message("backup.archive_missing", path=missing)) in chie("restore", missing, "--yes").output
    assert {path: path.read_bytes() for path in home.iterdir() if path in state} == state


def test_existing_file_at_the_temporary_path_is_not_written_to(home: Path, tmp_path: Path) -> None:
    with notes(home) as service:
        service.save("here")
    archive, victim = tmp_path / "b.zip", tmp_path / "victim"
    victim.write_text("mine")
    (tmp_path / "b.zip.partial").symlink_to(victim)
    assert chie("backup", str(archive)).exit_code == 0
    assert victim.read_text() == "mine"
    (tmp_path / "c.zip.partial").touch()
    (tmp_path / "c.zip.partial").chmod(0o666)
    assert chie("backup", str(tmp_path / "c.zip")).exit_code == 0
    assert (tmp_path / "c.zip").stat().st_mode & 0o777 == 0o600


def test_archive_cannot_write_outside_the_home(home: Path, tmp_path: Path) -> None:
    with notes(home) as service:
        service.save("here")
    archive = tmp_path / "b.zip"
    chie("backup", str(archive))
    item = {"sha256": "0" * 64, "size": 0}
    for name in ("home/../../evil", "/etc/evil", "home/", "databases/..", "evil"):
        change_manifest(archive, items={name: item})
        assert (
            message("backup.archive_unsafe", path=str(archive), count=1)
            in chie("restore", str(archive), "--yes").output
        )
    change_manifest(archive, format=99, items={})
    assert f"{archive} was written by a newer version of Chie" in chie("restore", str(archive), "--yes").output


@pytest.mark.parametrize("statement", ["PRAGMA user_version = 999", "UPDATE alembic_version SET version_num = '9999'"])
def test_newer_schema_is_rejected(home: Path, tmp_path: Path, statement: str) -> None:
    with notes(home) as service:
        service.save("here", title="here")
    chie("db", "upgrade")
    with closing(sqlite3.connect(home / "chie.db")) as database, database:
        database.execute(statement)
    assert chie("backup", str(tmp_path / "b.zip")).exit_code == 0
    result = chie("restore", str(tmp_path / "b.zip"), "--yes")
    assert result.exit_code == 1
    assert "The backup was written by a newer version of Chie" in result.output
    assert not list(home.glob("before-restore-*"))


def test_older_schema_is_upgraded_before_it_is_installed(home: Path, tmp_path: Path) -> None:
    with notes(home) as service:
        service.save("from long ago", title="old")
    downgrade(home / "chie.db")
    chie("backup", str(tmp_path / "b.zip"))
    for file in home.glob("chie.db*"):
        file.unlink()
    with notes(home) as service:
        service.save("now", title="now")
        chie("restore", str(tmp_path / "b.zip"), "--yes")
        assert service.search("long ago").hits[0].title == "old"


def test_confirmation_needs_a_terminal(home: Path, tmp_path: Path) -> None:
    archive = str(tmp_path / "b.zip")
    assert message("backup.nothing_to_back_up", home=str(home)) in chie("backup", archive).output
    with notes(home) as service:
        service.save("x", title="x")
        chie("backup", str(tmp_path / "b.zip"))
        service.save("y", title="y")
    assert message("backup.file_exists", path=archive) in chie("backup", archive).output
    assert message("backup.confirmation_required") in chie("restore", archive).output
    assert titles(home) == {"x", "y"}
    assert not list(home.glob(".restoring-*"))
    assert chie("backup", str(tmp_path / "b.zip"), "--yes").exit_code == 0


def _limit_written_files() -> None:
    resource.setrlimit(resource.RLIMIT_FSIZE, (1_000_000, 1_000_000))


@pytest.mark.parametrize("compression", [zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED, zipfile.ZIP_LZMA])
def test_member_larger_than_declared_is_rejected_before_it_is_unpacked(
    home: Path, tmp_path: Path, compression: int
) -> None:
    """Writing as much as a megabyte of it would fail with another error."""
    archive = tmp_path / "b.zip"
    item = {"sha256": hashlib.sha256(b"12345").hexdigest(), "size": 5}
    with zipfile.ZipFile(archive, "w", compression) as out:
        out.writestr("home/servers.json", bytes(8_000_000))
        out.writestr("manifest.json", json.dumps({"format": 1, "items": {"home/servers.json": item}}))
    result = _restore_with_limit(archive)
    assert result.returncode == 1
    assert message("backup.archive_invalid", path=str(archive)) in result.stderr
    assert list(home.iterdir()) == []


def test_huge_manifest_and_other_compressions_are_rejected(home: Path, tmp_path: Path) -> None:
    archive = tmp_path / "b.zip"
    with zipfile.ZipFile(archive, "w", zipfile.ZIP_DEFLATED) as out:
        out.writestr("manifest.json", b" " * MAX_MANIFEST_BYTES + b'{"format": 1}')
    assert message("backup.archive_invalid", path=str(archive)) in chie("restore", str(archive), "--yes").output
    with zipfile.ZipFile(archive, "w", zipfile.ZIP_BZIP2) as out:
        out.writestr("manifest.json", '{"format": 1}')
    assert message("backup.archive_invalid", path=str(archive)) in chie("restore", str(archive), "--yes").output
    assert list(home.iterdir()) == []


def _restore_with_limit(archive: Path) -> "subprocess.CompletedProcess[str]":
    return subprocess.run(
        [BIN / "chie", "restore", str(archive), "--yes"],
        preexec_fn=_limit_written_files,
        capture_output=True,
        text=True,
        check=False,
    )
