"""`chie backup` and `chie restore` while other processes keep running."""

import asyncio
import json
import signal
import sqlite3
import subprocess
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import URL
from tests.app.processes import BIN, StdioServer
from tests.backup.commands import chie, ids_in, message, notes, titles
from tests.backup.restorer import MAX_WRITTEN_BYTES
from tests.fakes.pictures import png

from chie.chat.sessions.attachments import AttachmentStore
from chie.chat.sessions.database import Database
from chie.chat.sessions.service import SessionService
from chie.chat.sessions.turns import TurnService
from chie.chat.sessions.upgrade import upgrade
from chie.chat.sessions.usage import UsageStore
from chie.chat.sessions.usage_entry import Limit, UsageEntry, UsageRecord
from chie.documents.reader import ReadFile
from chie.installation.commands import followable
from chie.knowledge.history.history import History

ROOT = Path(__file__).parents[2]


def test_everything_is_restored(home: Path, tmp_path: Path) -> None:
    with notes(home) as service:
        service.save("知恵の輪", tags=["遊び"], source="wiki")
    chie("db", "upgrade")
    (home / "servers.json").write_text('{"x": {"command": "y", "env": {"TOKEN": "z"}}}')
    saved = home / "n8n-backups" / "127.0.0.1_5678" / "wf1" / "20260101T000000000000Z-update.json"
    saved.parent.mkdir(parents=True)
    saved.write_text("{}")
    (home / ".users").write_text("someone")
    (home / "older.zip").write_bytes(b"a backup is not backed up")
    made = chie("backup", str(tmp_path / "out" / "b.zip"))
    assert made.exit_code == 0, made.output
    assert "1 note, 0 conversations, 0 messages. Written and verified." in made.output
    assert "also contains .users, servers.json, workflow backups (1)" in made.output
    assert (tmp_path / "out" / "b.zip").stat().st_mode & 0o777 == 0o600
    before = {path: path.read_bytes() for path in home.rglob("*.json")}
    for path in (*before, *home.glob("chie.db*")):
        path.unlink()
    restored = chie("restore", str(tmp_path / "out" / "b.zip"), "--yes")
    assert restored.exit_code == 0, restored.output
    assert {path: path.read_bytes() for path in home.rglob("*.json")} == before
    with notes(home) as service:
        found = service.search("知恵の輪").hits[0]
        assert (found.tags, found.source) == (["遊び"], "wiki")
    assert "up to date" in chie("db", "upgrade").output
    assert [path.name for path in home.glob(".*")] == [".users"]


@pytest.mark.req("MT-1")
def test_versions_and_trash_are_restored(home: Path, tmp_path: Path) -> None:
    with notes(home) as service:
        old, gone = service.save("接続は 10 本まで").id, service.save("gone").id
        new = service.save("接続は 20 本まで", supersedes=[old]).id
        service.update(old, content="接続は 5 本まで")
        service.delete(gone)
        chie("backup", str(tmp_path / "b.zip"))
        service.delete(new)
        History(service).purge(gone)
        History(service).forget(old)
    assert chie("restore", str(tmp_path / "b.zip"), "--yes").exit_code == 0
    with notes(home) as service:
        assert History(service).version(old, 1).content == "接続は 10 本まで"
        assert [one.id for one in History(service).trash()] == [gone]
        assert service.store.superseding([old]) == {old: [new]}


@pytest.mark.req("AG-4")
def test_attached_files_are_restored(home: Path, tmp_path: Path) -> None:
    url = URL.create("sqlite+aiosqlite", database=str(home / "chie.db"))
    upgrade(url)

    async def attach() -> tuple[str, str]:
        database = Database(url)
        file = ReadFile(name="図.png", data=png(), kind="image", media_type="image/png")
        saved = (await AttachmentStore(database).save(file)).attachment_id
        asked = await TurnService(database, "owner").ask("何？", agent_id="a", attachment_ids=[saved])
        await database.close()
        return saved, asked.session_id

    async def restored(attachment_id: str, session_id: str) -> tuple[bytes, list[str]]:
        database = Database(url)
        conversation = await SessionService(database).conversation(session_id)
        data = await AttachmentStore(database).data(attachment_id)
        await database.close()
        return data, [file.name for file in conversation.messages[0].attachments]

    async def delete(session_id: str) -> None:
        database = Database(url)
        await SessionService(database).delete(session_id)
        await database.close()

    saved, session_id = asyncio.run(attach())
    assert chie("backup", str(tmp_path / "b.zip")).exit_code == 0
    asyncio.run(delete(session_id))
    assert chie("restore", str(tmp_path / "b.zip"), "--yes").exit_code == 0
    assert asyncio.run(restored(saved, session_id)) == (png(), ["図.png"])


@pytest.mark.req("AG-13")
def test_usage_and_limits_are_restored(home: Path, tmp_path: Path) -> None:
    url = URL.create("sqlite+aiosqlite", database=str(home / "chie.db"))
    upgrade(url)
    entry = UsageEntry(
        day="2026-11-16", user_id="anonymous", agent_id="a", model="m", host="h", price="1/1/1/2", output_tokens=5
    )

    async def record() -> None:
        database = Database(url)
        await UsageStore(database).record(UsageRecord(entries=[entry]))
        await UsageStore(database).put_limit(Limit(tokens=9), scope="team", user_id="", by="anonymous")
        await database.close()

    asyncio.run(record())
    assert chie("backup", str(tmp_path / "b.zip")).exit_code == 0
    asyncio.run(record())
    with closing(sqlite3.connect(home / "chie.db")) as database:
        database.execute("DELETE FROM usage_limits")
        database.commit()
    assert chie("restore", str(tmp_path / "b.zip"), "--yes").exit_code == 0
    with closing(sqlite3.connect(home / "chie.db")) as database:
        assert database.execute("SELECT output_tokens, requests FROM model_usage").fetchall() == [(5, 1)]
        assert database.execute("SELECT scope, tokens FROM usage_limits").fetchall() == [("team", 9)]
    shown = chie("usage", "--month", "2026-11", "--all").output
    assert "2026-11-01 to 2026-11-30: $0.00 + unknown, 0 tokens in (0 cached), 5 out, 1 requests" in shown
    assert "m (h): " in shown
    assert "2026-11-16,anonymous,a,m,h" in chie("usage", "--month", "2026-11", "--csv").output
    assert "0 requests" in chie("usage", "--month", "2026-10").output


def test_previous_state_is_backed_up_and_can_be_restored(home: Path, tmp_path: Path) -> None:
    with notes(home) as service:
        service.save("old", title="old")
        chie("backup", str(tmp_path / "b.zip"))
        service.save("new", title="new")
    restored = chie("restore", str(tmp_path / "b.zip"), "--yes")
    assert titles(home) == {"old"}
    last = json.loads((home / "audit.log").read_text().splitlines()[-1])
    assert (last["kind"], last["id"], last["outcome"]) == ("app.restored", "b.zip", "done")
    previous = Path(restored.output.split("Backup of the previous state: ")[1].strip())
    assert chie("restore", str(previous), "--yes").exit_code == 0
    assert titles(home) == {"old", "new"}


def test_process_with_open_notes_sees_the_restored_ones(home: Path, tmp_path: Path) -> None:
    """It caches vectors; neither stale ones nor reused row numbers may be found."""
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


def test_backup_of_another_machine_does_not_mix_with_current_notes(
    home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Both use the same row numbers; only the content differs."""
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


def test_running_server_serves_restored_notes(home: Path, tmp_path: Path) -> None:
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


def test_backup_during_writes_has_everything_saved_before(home: Path, tmp_path: Path) -> None:
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


def test_restore_during_writes_does_not_stop_the_writer(home: Path, tmp_path: Path) -> None:
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


def test_every_save_acknowledged_during_a_restore_is_kept(home: Path, tmp_path: Path) -> None:
    with notes(home) as service:
        service.save("from the backup", title="from the backup")
    chie("backup", str(tmp_path / "b.zip"))
    with closing(sqlite3.connect(home / "chie.db")) as database, database:
        database.execute("CREATE TABLE ballast AS SELECT randomblob(30000000) AS data")
    with writer("1") as first, writer("2") as second:
        assert first.stdout
        assert second.stdout
        saved = {stream.readline().strip() for stream in (first.stdout, second.stdout)}
        assert chie("restore", str(tmp_path / "b.zip"), "--yes").exit_code == 0
        first.kill()
        second.kill()
        saved |= {line.strip() for stream in (first.stdout, second.stdout) for line in stream if line.endswith("\n")}
    (before,) = home.glob("before-restore-*.zip")
    with closing(sqlite3.connect(home / "chie.db")) as database:
        after = {row[0] for row in database.execute("SELECT id FROM notes")}
    assert saved - ids_in(before, tmp_path) - after == set()


def test_killed_restore_leaves_the_database_unchanged(home: Path, tmp_path: Path) -> None:
    with notes(home) as service:
        saved = service.save("restored", title="restored")
        with closing(sqlite3.connect(home / "chie.db")) as database, database:
            database.execute("CREATE TABLE ballast AS SELECT randomblob(8000000) AS data")
        assert chie("backup", str(tmp_path / "b.zip")).exit_code == 0
        service.delete(saved.id)
        service.save("present", title="present")
    command = [str(BIN / "python"), "-m", "tests.backup.restorer", str(tmp_path / "b.zip")]
    assert subprocess.run(command, cwd=ROOT, check=False).returncode == -signal.SIGXFSZ
    assert (home / "chie.db-wal").stat().st_size > MAX_WRITTEN_BYTES // 2  # the new database was partly written
    assert titles(home) == {"present"}
    assert next(home.glob(".restoring-*")).is_dir()
    assert chie("restore", str(tmp_path / "b.zip"), "--yes").exit_code == 0
    assert titles(home) == {"restored"}


def test_damaged_database_is_copied_and_replaced(home: Path, tmp_path: Path) -> None:
    with notes(home) as service:
        service.save("whole", title="whole")
    chie("backup", str(tmp_path / "b.zip"))
    for file in home.glob("chie.db*"):
        file.unlink()
    (home / "chie.db").write_bytes(b"no database at all " * 1000)
    rejected = chie("backup", str(tmp_path / "c.zip"))
    assert rejected.exit_code == 1
    assert "chie restore FILE" in rejected.output
    assert not (tmp_path / "c.zip").exists()
    restored = chie("restore", str(tmp_path / "b.zip"), "--yes")
    assert "restart every running Chie" in restored.output
    assert titles(home) == {"whole"}
    assert next(home.glob("before-restore-*/chie.db")).read_bytes().startswith(b"no database at all")


def test_database_with_a_damaged_page_is_named(home: Path, tmp_path: Path) -> None:
    with notes(home) as service:
        service.save("whole", title="whole")
    with closing(sqlite3.connect(home / "chie.db")) as database:
        size = database.execute("PRAGMA page_size").fetchone()[0]
        page = database.execute("SELECT rootpage FROM sqlite_master WHERE name = 'notes'").fetchone()[0]
    with (home / "chie.db").open("r+b") as file:
        file.seek(size * (page - 1) + 8)
        file.write(b"\xff" * 64)
    result = chie("backup", str(tmp_path / "b.zip"))
    assert result.exit_code == 1
    assert result.output.startswith(f"Error: {home / 'chie.db'} is damaged")
    assert followable("`chie restore FILE`") in result.output


def test_full_disk_is_reported_for_the_target(home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with notes(home) as service:
        service.save("x")

    def with_small_limit(*arguments: Any, **options: Any) -> sqlite3.Connection:
        connection: sqlite3.Connection = connect(*arguments, **options)
        if "uri" not in options:  # the copy is opened by path
            connection.execute("PRAGMA max_page_count = 2")
        return connection

    connect = sqlite3.connect
    monkeypatch.setattr("chie.backup.database.sqlite3.connect", with_small_limit)
    result = chie("backup", str(tmp_path / "out" / "b.zip"))
    assert result.exit_code == 1
    assert result.output.startswith(f"Error: The disk that holds {tmp_path / 'out'} is full.")


def test_unwritable_target_is_reported(home: Path, tmp_path: Path) -> None:
    with notes(home) as service:
        service.save("x")
    (tmp_path / "file").touch()
    result = chie("backup", str(tmp_path / "file" / "b.zip"))
    assert result.exit_code == 1
    expected = message("backup.target_not_writable", path=str(tmp_path / "file"), reason="File exists")
    assert expected in result.output
