"""knowledge-gateway as a process: on stdio, over HTTP, killed, and several at once."""

import json
import os
import pty
import signal
import sqlite3
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from fastmcp import Client
from tests.app.processes import BIN, StdioServer, http_server
from tests.fakes import patient

ROUNDS = 20


@pytest.mark.parametrize("command", [("knowledge-gateway",), ("chie", "mcp", "knowledge", "--log-level", "debug")])
def test_stdout_of_a_stdio_server_is_json_rpc_and_nothing_else(command: tuple[str, ...]) -> None:
    with StdioServer(*command) as server:
        assert len(server.request("tools/list")["tools"]) == 6
        saved = server.call("save_knowledge", content="知恵は標準出力を汚さない")
        assert saved["isError"] is False
        assert server.call("search_knowledge", query="標準出力")["structuredContent"]["hits"]
        assert server.call("save_knowledge")["isError"] is True
        out, err = server.stop()
    assert out == ""
    assert server.process.returncode == 0
    assert "Traceback" not in err


def test_the_first_interrupt_ends_a_stdio_server_in_order(home: Path) -> None:
    with StdioServer("knowledge-gateway") as server:
        server.call("save_knowledge", content="停止の前に保存する")
        server.process.send_signal(signal.SIGINT)
        assert server.process.wait(timeout=60) == 0
        assert server.process.stderr
        assert server.process.stderr.read() == ""
    assert not (home / "chie.db-wal").exists(), "the store was not closed"


AT_A_TERMINAL = (
    "import fcntl, os, sys, termios; fcntl.ioctl(0, termios.TIOCSCTTY, 0); os.execv(sys.argv[1], sys.argv[1:])"
)


def test_ctrl_c_at_a_terminal_ends_a_stdio_server_in_order() -> None:
    ours, theirs = pty.openpty()
    with subprocess.Popen(
        [sys.executable, "-c", AT_A_TERMINAL, BIN / "chie", "mcp", "knowledge"],
        stdin=theirs,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        start_new_session=True,
    ) as process:
        os.close(theirs)
        assert process.stdout
        assert process.stderr
        try:
            output = process.stderr.readline().decode()
            os.write(ours, b'{"jsonrpc": "2.0", "id": 1, "method": "ping"}\n')
            assert json.loads(process.stdout.readline())["id"] == 1
            os.write(ours, b"\x03")
            assert process.wait(timeout=60) == 0
            assert process.stdout.read() == b""
            assert process.stderr.read() == b""
        finally:
            process.kill()
            os.close(ours)
    assert output == "knowledge-gateway is waiting for an MCP client on stdin (press Ctrl+C to stop)\n"


def test_logs_go_to_a_file_as_json_when_asked(tmp_path: Path) -> None:
    log = tmp_path / "logs" / "chie.log"
    with StdioServer("knowledge-gateway", "--log-level", "info", "--log-file", str(log)) as server:
        server.call("delete_knowledge", id="k-unknown-and-private")
        _, err = server.stop()
    lines = [json.loads(line) for line in log.read_text("utf-8").splitlines()]
    [refused] = [line for line in lines if "knowledge not found" in line["message"]]
    assert refused["level"] == "INFO", "client errors are logged at INFO"
    assert "stack" not in refused
    assert refused["request"] != "-"
    assert "k-unknown-and-private" not in log.read_text("utf-8")
    assert err == ""


@pytest.mark.req("KG-1")
def test_health_over_http_reports_the_reason(home: Path) -> None:
    with http_server("chie", "mcp", "knowledge", "--http") as url:
        answer = patient.get(f"{url}/health")
        assert answer.status_code == 200
        assert answer.json() == {"status": "healthy", "notes": 0, "search": "by meaning and by words"}
    for file in home.glob("chie.db*"):
        file.unlink()
    (home / "chie.db").write_bytes(b"no database" * 1000)
    with http_server("chie", "mcp", "knowledge", "--http") as url:
        answer = patient.get(f"{url}/health")
        assert answer.status_code == 503
        assert answer.json()["status"] == "unhealthy"
        assert "Restore a backup with `chie restore FILE`" in answer.json()["reason"]


@pytest.mark.parametrize("mode", ["auto", "legacy"])
async def test_app_serves_tools_over_http_in_both_protocol_eras(mode: str) -> None:
    with http_server("chie", "serve") as url:
        async with Client(f"{url}/mcp/knowledge", mode=mode) as client:
            await client.call_tool("save_knowledge", {"content": "家の中の最初の部屋"})
            found = await client.call_tool("search_knowledge", {"query": "部屋"})
            assert found.structured_content is not None
            assert len(found.structured_content["hits"]) == 1


def test_no_acknowledged_save_is_lost_when_a_writer_is_killed(home: Path) -> None:
    """Twenty writers, each killed while it writes; every acknowledged note must exist."""
    acknowledged: set[str] = set()
    for turn in range(ROUNDS):
        with subprocess.Popen(
            [BIN / "python", "-m", "tests.knowledge.writer", str(turn)],
            stdout=subprocess.PIPE,
            text=True,
            cwd=Path(__file__).parents[2],
        ) as writer:
            assert writer.stdout
            acknowledged.update(writer.stdout.readline().strip() for _ in range(5 + turn))
            os.kill(writer.pid, signal.SIGKILL)
            acknowledged.update(line.strip() for line in writer.stdout if line.endswith("\n"))
    with sqlite3.connect(home / "chie.db") as database:
        kept = {row[0] for row in database.execute("SELECT id FROM notes")}
        assert database.execute("PRAGMA integrity_check").fetchone() == ("ok",)
        database.execute("INSERT INTO words(words) VALUES ('integrity-check')")  # raises where the index is not whole
        lonely = database.execute(
            "SELECT (SELECT count(*) FROM notes WHERE seq NOT IN (SELECT note FROM passages)),"
            " (SELECT count(*) FROM passages WHERE id NOT IN (SELECT passage FROM vectors)),"
            " (SELECT count(*) FROM passages WHERE id NOT IN (SELECT rowid FROM words)),"
            " (SELECT count(*) FROM words WHERE rowid NOT IN (SELECT id FROM passages))"
        ).fetchone()
    assert len(acknowledged) >= ROUNDS * 5
    assert acknowledged <= kept
    assert lonely == (0, 0, 0, 0)


def test_two_processes_that_save_at_once_lose_nothing() -> None:
    """Like two assistants that start a server each."""

    def save(name: str) -> list[str]:
        with StdioServer("knowledge-gateway") as server:
            answers = [server.call("save_knowledge", content=f"{name} {n}") for n in range(30)]
            return [answer["structuredContent"]["id"] for answer in answers]

    with ThreadPoolExecutor() as pool:
        ids = [note_id for saved in pool.map(save, ["first", "second"]) for note_id in saved]
    with StdioServer("knowledge-gateway") as server:
        listed = server.call("list_knowledge", limit=100)["structuredContent"]["notes"]
        assert {note["id"] for note in listed} == set(ids)
        for name in ("first 7", "second 29"):
            assert server.call("search_knowledge", query=name, limit=1)["structuredContent"]["hits"]


def test_processes_that_start_together_make_one_database(home: Path) -> None:
    def start(_: int) -> str:
        done = subprocess.run([BIN / "chie", "notes", "save", "together"], capture_output=True, text=True, check=False)
        return done.stderr

    with ThreadPoolExecutor(6) as pool:
        assert set(pool.map(start, range(6))) == {""}
    with sqlite3.connect(home / "chie.db") as database:
        assert database.execute("SELECT count(*) FROM notes").fetchone() == (6,)
        assert database.execute("PRAGMA journal_mode").fetchone() == ("wal",)


def test_full_disk_is_reported_and_nothing_is_lost(home: Path) -> None:
    """A limit on file size makes writes fail like a full disk."""
    subprocess.run([BIN / "chie", "notes", "save", "kept"], check=True, capture_output=True)
    size = (home / "chie.db").stat().st_size
    script = (
        "import resource, signal, sys; signal.signal(signal.SIGXFSZ, signal.SIG_IGN);"
        f"resource.setrlimit(resource.RLIMIT_FSIZE, ({size}, {size}));"
        "from chie.cli import main; main(['notes', 'save', 'x ' * 90_000])"
    )
    done = subprocess.run([BIN / "python", "-c", script], capture_output=True, text=True, check=False)
    assert done.returncode == 1
    assert done.stderr.startswith("Error: ")
    assert "space" in done.stderr
    listed = subprocess.run([BIN / "chie", "notes", "list"], check=True, capture_output=True, text=True)
    assert len(listed.stdout.splitlines()) == 1
    assert "kept" in listed.stdout
