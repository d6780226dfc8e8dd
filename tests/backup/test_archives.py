"""Archives that are damaged, strange, newer or older: looked through before anything is touched."""

import sqlite3
from contextlib import closing
from pathlib import Path

import pytest
from tests.backup.commands import chie, made_older, notes, rewritten, titles

ROOT = Path(__file__).parents[2]
OTHER_DISK = Path("/dev/shm")  # noqa: S108 - in memory, where the tests' own folder is not


def damage(archive: Path, offset: int) -> None:
    data = bytearray(archive.read_bytes())
    data[offset] ^= 0xFF
    archive.write_bytes(bytes(data))


def test_a_damaged_archive_is_refused_before_anything_is_touched(home: Path, tmp_path: Path) -> None:
    with notes(home) as service:
        service.save("here " * 500, title="here")
    archive = tmp_path / "b.zip"
    chie("backup", str(archive))
    whole = archive.read_bytes()
    state = {path: path.read_bytes() for path in home.iterdir()}
    for offset in range(40, len(whole), max(1, len(whole) // 12)):
        archive.write_bytes(whole)
        damage(archive, offset)
        result = chie("restore", str(archive), "--yes")
        if result.exit_code == 0:  # a byte that says nothing, such as a time of day
            state = {path: path.read_bytes() for path in home.iterdir()}
            continue
        assert "Nothing was changed" in result.output or "newer Chie" in result.output, result.output
        assert "Traceback" not in result.output
    archive.write_bytes(whole[: len(whole) // 2])
    assert "is not a backup of Chie's, or it is damaged" in chie("restore", str(archive), "--yes").output
    assert "does not exist" in chie("restore", str(tmp_path / "nowhere.zip"), "--yes").output
    assert {path: path.read_bytes() for path in home.iterdir() if path in state} == state


def test_what_lies_where_an_archive_is_written_is_not_written_to(home: Path, tmp_path: Path) -> None:
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


def test_an_archive_cannot_write_outside_the_home(home: Path, tmp_path: Path) -> None:
    with notes(home) as service:
        service.save("here")
    archive = tmp_path / "b.zip"
    chie("backup", str(archive))
    item = {"sha256": "0" * 64, "size": 0}
    for name in ("home/../../evil", "/etc/evil", "home/", "databases/..", "evil"):
        rewritten(archive, items={name: item})
        assert "outside its folders" in chie("restore", str(archive), "--yes").output
    rewritten(archive, format=99, items={})
    assert "was written by a newer Chie" in chie("restore", str(archive), "--yes").output


@pytest.mark.parametrize("statement", ["PRAGMA user_version = 999", "UPDATE alembic_version SET version_num = '9999'"])
def test_a_newer_schema_is_refused(home: Path, tmp_path: Path, statement: str) -> None:
    with notes(home) as service:
        service.save("here", title="here")
    chie("db", "upgrade")
    with closing(sqlite3.connect(home / "chie.db")) as database, database:
        database.execute(statement)
    assert chie("backup", str(tmp_path / "b.zip")).exit_code == 0
    result = chie("restore", str(tmp_path / "b.zip"), "--yes")
    assert result.exit_code == 1
    assert "was written by a newer Chie" in result.output
    assert not list(home.glob("before-restore-*"))


def test_an_older_schema_is_brought_up_before_it_is_put_in_place(home: Path, tmp_path: Path) -> None:
    with notes(home) as service:
        service.save("from long ago", title="old")
    made_older(home / "chie.db")
    chie("backup", str(tmp_path / "b.zip"))
    for file in home.glob("chie.db*"):
        file.unlink()
    with notes(home) as service:
        service.save("now", title="now")
        chie("restore", str(tmp_path / "b.zip"), "--yes")
        assert service.search("long ago").hits[0].title == "old"


def test_nobody_is_asked_where_nobody_can_answer(home: Path, tmp_path: Path) -> None:
    nothing = chie("backup", str(tmp_path / "b.zip"))
    assert "there is nothing in" in nothing.output
    with notes(home) as service:
        service.save("x", title="x")
        chie("backup", str(tmp_path / "b.zip"))
        service.save("y", title="y")
    assert "is there already" in chie("backup", str(tmp_path / "b.zip")).output
    assert "Add --yes" in chie("restore", str(tmp_path / "b.zip")).output
    assert titles(home) == {"x", "y"}
    assert not list(home.glob(".restoring-*"))
    assert chie("backup", str(tmp_path / "b.zip"), "--yes").exit_code == 0
