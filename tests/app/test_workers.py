"""`chie serve --workers 2` with real processes: one port, replaced when they die, stopped together."""

import asyncio
import os
import signal
import socket
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path

import httpx2
import pytest
from fastmcp import Client
from tests.app.processes import BIN
from tests.fakes.waiting import until

from chie.chat.sessions.upgrade import HEAD

NO_KEEPALIVE = httpx2.Limits(max_keepalive_connections=0)  # each request may reach either worker


@contextmanager
def serving(*options: str, log: Path) -> Iterator[tuple[str, "subprocess.Popen[str]"]]:
    """Its first line of output, and the process; the rest goes to the log."""
    with log.open("w", encoding="utf-8") as errors:
        process = subprocess.Popen(
            [BIN / "chie", "serve", "--workers", "2", "--log-level", "info", *options],
            stdout=subprocess.PIPE,
            stderr=errors,
            text=True,
            encoding="utf-8",
        )
    assert process.stdout
    with process.stdout:
        try:
            yield process.stdout.readline(), process
        finally:
            process.kill()
            process.wait()


def workers_of(process: "subprocess.Popen[str]") -> set[int]:
    try:
        children = Path(f"/proc/{process.pid}/task/{process.pid}/children").read_text(encoding="ascii")
    except OSError:
        return set()
    return {int(number) for number in children.split()}


def lives(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    stat = Path(f"/proc/{pid}/stat")
    return stat.exists() and stat.read_text(encoding="ascii").rpartition(")")[2].split()[0] != "Z"


async def gone(pids: set[int]) -> bool:
    return not any(map(lives, pids))


async def replaced(process: "subprocess.Popen[str]", before: set[int]) -> bool:
    return len(workers_of(process) - before) == 1


pytestmark = pytest.mark.skipif(not Path("/proc/self/task").is_dir(), reason="child processes are read from /proc")


async def test_two_workers_share_a_port_and_are_replaced_and_stopped_together(tmp_path: Path) -> None:
    log = tmp_path / "log"
    with serving("--port", "0", log=log) as (line, process):
        assert line.startswith("Chie is running at http://127.0.0.1:")
        address, before = line.split()[4], workers_of(process)
        assert len(before) == 2
        async with httpx2.AsyncClient(base_url=address, timeout=60, limits=NO_KEEPALIVE) as client:
            await _use_notes(address)
            os.kill(min(before), signal.SIGKILL)
            await until(partial(replaced, process, before))
            codes = [(await client.get("/health")).status_code for _ in range(6)]
            assert codes == [200] * 6
        now = workers_of(process)
        process.send_signal(signal.SIGTERM)
        assert process.wait(timeout=60) == 0
        assert process.stdout is not None
        assert process.stdout.read() == ""
        assert await gone(now)
    logged = log.read_text(encoding="utf-8")
    assert f"worker {min(before)} exited (SIGKILL); starting another" in logged
    assert logged.count(f"upgraded the database of conversations to schema {HEAD}") == 1


async def _use_notes(address: str) -> None:
    """MCP is stateless here, so any worker may answer; every client has its own connections."""

    async def save(number: int) -> None:
        async with Client(f"{address}/mcp/knowledge") as client:
            await client.call_tool("save_knowledge", {"content": f"手順 {number}: restart worker {number}"})

    await asyncio.gather(*(save(number) for number in range(6)))
    for _ in range(4):
        async with Client(f"{address}/mcp/knowledge") as client:
            found = await client.call_tool("search_knowledge", {"query": "restart worker", "limit": 10})
            assert found.structured_content is not None
            assert len(found.structured_content["hits"]) == 6


async def test_workers_stop_when_their_supervisor_is_killed(tmp_path: Path) -> None:
    with serving("--port", "0", log=tmp_path / "log") as (_, process):
        workers = workers_of(process)
        process.kill()
        await until(partial(gone, workers))
    assert len(workers) == 2


def test_configuration_error_is_printed_once_and_stops_all(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CHIE_DATABASE_URL", "mysql://nowhere")
    with serving("--port", "0", log=tmp_path / "log") as (line, process):
        assert (line, process.wait(timeout=60)) == ("", 1)
    logged = (tmp_path / "log").read_text(encoding="utf-8")
    assert logged.count("Error: `CHIE_DATABASE_URL` is not a database URL that Chie supports.") == 1
    assert "Traceback" not in logged


def test_port_in_use_is_an_error_despite_reuse_port(tmp_path: Path) -> None:
    with socket.create_server(("127.0.0.1", 0), reuse_port=True) as taken:
        port = taken.getsockname()[1]
        with serving("--port", str(port), log=tmp_path / "log") as (line, process):
            assert (line, process.wait(timeout=60)) == ("", 1)
    assert f"Error: Cannot listen on 127.0.0.1 port {port}" in (tmp_path / "log").read_text(encoding="utf-8")
