"""Connections to real server processes, in both protocol eras: they change, die, or never start."""

import asyncio
import os
import signal
import sys
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import asynccontextmanager
from itertools import pairwise, repeat
from pathlib import Path

import pytest
from pydantic import SecretStr
from tests.fakes.workbench import Witness, create_workbench

from chie.chat.toolbox import connection
from chie.chat.toolbox.connection import Connection, back_off
from chie.chat.toolbox.servers_file import ServerSpec
from chie.chat.toolbox.toolbox import Toolbox
from chie.chat.toolbox.transport import BuiltIn, create_transport
from chie.messages.catalogue import Message

ROOT = Path(__file__).parents[3]
Children = Callable[[], set[int]]


def peer(era: str) -> ServerSpec:
    return ServerSpec(command=sys.executable, args=("-m", "tests.fakes.peer", era), cwd=ROOT)


@asynccontextmanager
async def opened(
    *specs: tuple[str, ServerSpec], seconds: float = 30, pauses: Callable[[], Iterator[float]] = lambda: repeat(0.0)
) -> AsyncIterator[Toolbox]:
    connections = [Connection(name, create_transport(spec), timeout=seconds, pauses=pauses) for name, spec in specs]
    async with Toolbox(connections) as toolbox:
        await toolbox.initialize_servers([name for name, _ in specs])
        yield toolbox


async def until(condition: Callable[[], bool]) -> None:
    async with asyncio.timeout(30):
        while not condition():  # noqa: ASYNC110  nothing signals a change of the list
            await asyncio.sleep(0.01)


def names(toolbox: Toolbox) -> set[str]:
    return {tool["function"]["name"] for tool in toolbox.get_tools()}


@pytest.fixture(params=["modern", "legacy"])
def era(request: pytest.FixtureRequest) -> str:
    return str(request.param)


async def test_changed_tools_are_noticed(era: str) -> None:
    async with opened(("peer", peer(era))) as toolbox:
        assert "grown" not in names(toolbox)
        await toolbox.call_tool("grow", {})
        await until(lambda: "grown" in names(toolbox))


@pytest.mark.req("CH-7")
async def test_server_killed_between_calls_is_reconnected_for_the_next(era: str) -> None:
    async with opened(("peer", peer(era))) as toolbox:
        first = await toolbox.call_tool("whoami", {})
        os.kill(int(first.content), signal.SIGKILL)
        second = await toolbox.call_tool("whoami", {})
        assert (second.is_error, second.content == first.content) == (False, False)


async def test_call_that_may_change_something_is_not_repeated(era: str) -> None:
    async with opened(("peer", peer(era))) as toolbox:
        outcome = await toolbox.call_tool("die", {})
        assert outcome.is_error
        assert (outcome.code, outcome.params) == ("toolbox.connection_lost", {"server": "peer"})
        again = await toolbox.call_tool("whoami", {})
        assert not again.is_error


async def test_repeated_failures_do_not_reset_the_back_off() -> None:
    resets: list[str] = []

    def pauses() -> Iterator[float]:
        resets.append("reset")
        return repeat(0.0)

    async with opened(("peer", peer("modern")), pauses=pauses) as toolbox:
        for _ in range(3):
            assert (await toolbox.call_tool("die", {})).is_error
    assert resets == ["reset"], "only a stable connection resets the back-off"


async def test_single_threaded_server_stays_connected_while_it_works(
    era: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It cannot list its tools before the running one has ended."""
    monkeypatch.setattr(connection, "CHECK_INTERVAL_SECONDS", 0.05)
    async with opened(("peer", peer(era))) as toolbox:
        first = await toolbox.call_tool("whoami", {})
        with monkeypatch.context() as short:
            short.setattr(connection, "LIST_TIMEOUT_SECONDS", 0.05)
            working = asyncio.create_task(toolbox.call_tool("block", {"until": str(tmp_path / "end")}))
            await asyncio.wait({working}, timeout=1)  # many times the limit of a check
        (tmp_path / "end").touch()
        assert (await working).content == "ok"
        assert await toolbox.call_tool("whoami", {}) == first


async def test_server_killed_during_a_call_is_noticed_at_once(era: str, tmp_path: Path) -> None:
    async with opened(("peer", peer(era))) as toolbox:
        pid = int((await toolbox.call_tool("whoami", {})).content)
        working = asyncio.create_task(toolbox.call_tool("block", {"until": str(tmp_path / "end")}))
        await asyncio.sleep(0)
        os.kill(pid, signal.SIGKILL)
        assert (await working).code == "toolbox.connection_lost"


async def test_server_that_never_ends_a_call_is_reconnected(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(connection, "CHECK_INTERVAL_SECONDS", 0.05)
    monkeypatch.setattr(connection, "LIST_TIMEOUT_SECONDS", 1)
    async with opened(("peer", peer("modern")), seconds=1) as toolbox, asyncio.timeout(60):
        first = await toolbox.call_tool("whoami", {})
        stopped = await toolbox.call_tool("block", {"until": str(tmp_path / "never")})
        assert stopped.code == "toolbox.call_timed_out"
        while (again := await toolbox.call_tool("whoami", {})).is_error:
            pass
    assert again.content != first.content


async def test_result_that_violates_its_schema_is_a_failure_and_the_server_stays(era: str) -> None:
    async with opened(("peer", peer(era))) as toolbox:
        first = await toolbox.call_tool("whoami", {})
        outcome = await toolbox.call_tool("lie", {})
        assert (outcome.is_error, outcome.code) == (True, "toolbox.result_invalid")
        assert await toolbox.call_tool("whoami", {}) == first


CARELESS = """
import json, sys
info = {"capabilities": {"tools": {}}, "serverInfo": {"name": "careless", "version": "1"}}
answers = {
    "server/discover": {"supportedVersions": ["2026-07-28"], **info},
    "initialize": {"protocolVersion": "2025-11-25", **info},
    "tools/call": {"content": []},
}
for line in sys.stdin:
    request = json.loads(line)
    if "id" in request:
        name = request.get("params", {}).get("cursor", "first")
        page = {"tools": [{"name": name, "inputSchema": {"type": "object"}}], "nextCursor": "again"}
        result = answers.get(request["method"], page)
        print(json.dumps({"jsonrpc": "2.0", "id": request["id"], "result": result}), flush=True)
"""


async def test_server_that_announces_a_protocol_but_violates_it_is_used_with_the_older_one() -> None:
    """Its results have no `resultType`, and its pages of tools never end."""
    async with opened(("careless", ServerSpec(command=sys.executable, args=("-c", CARELESS)))) as toolbox:
        [state] = toolbox.states()
        assert (state.state, [tool.original for tool in state.tools]) == ("connected", ["first", "again"])
        assert not (await toolbox.call_tool("first", {})).is_error


async def test_silent_program_ends_with_the_toolbox(children: Children) -> None:
    spec = ServerSpec(command=sys.executable, args=("-c", "import time; time.sleep(600)"))
    link = Connection("silent", create_transport(spec))
    async with Toolbox([link]) as toolbox:
        link.start()
        await until(lambda: bool(children()))
        assert [state.state for state in toolbox.states()] == ["connecting"]
    assert children() == set()


async def test_no_process_is_left_when_the_toolbox_closes(era: str) -> None:
    async with opened(("one", peer(era)), ("two", peer(era))) as toolbox:
        pids = [int((await toolbox.call_tool(f"{name}_whoami", {})).content) for name in ("one", "two")]
        assert all(map(is_alive, pids))
    assert not any(map(is_alive, pids))


def is_alive(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    return True


@pytest.mark.req("CH-7")
async def test_published_time_server_works_and_is_reconnected(children: Children) -> None:
    spec = ServerSpec(command=sys.executable, args=("-m", "mcp_server_time"))
    async with opened(("time", spec)) as toolbox:
        outcome = await toolbox.call_tool("get_current_time", {"timezone": "Asia/Tokyo"})
        assert "Asia/Tokyo" in outcome.content
        for pid in children():
            os.kill(pid, signal.SIGKILL)
        outcome = await toolbox.call_tool("convert_time", _conversion())
        assert not outcome.is_error, outcome.content


def _conversion() -> dict[str, str]:
    return {"source_timezone": "UTC", "time": "09:00", "target_timezone": "Asia/Tokyo"}


def processes() -> set[int]:
    return {int(pid) for pid in Path(f"/proc/self/task/{os.getpid()}/children").read_text().split()}


@pytest.fixture
def children() -> Children:
    """Those started since. Earlier tests in this process may have left an app for later ones."""
    before = processes()
    return lambda: processes() - before


async def test_missing_program_is_reported() -> None:
    async with opened(("ghost", ServerSpec(command="no-such-program")), pauses=lambda: repeat(60.0)) as toolbox:
        [state] = toolbox.states()
    assert (state.state, state.tools) == ("failed", ())
    assert state.error == Message("toolbox.program_not_found", command="no-such-program")


async def test_last_output_of_a_program_is_shown_without_secrets() -> None:
    script = "import sys; sys.exit('cannot start: password=hunter2-hunter2 is wrong')"
    spec = ServerSpec(command=sys.executable, args=("-c", script))
    async with opened(("broken", spec), pauses=lambda: repeat(60.0)) as toolbox:
        [state] = toolbox.states()
    assert state.state == "failed"
    assert state.error is not None
    assert state.error.code == "toolbox.program_failed_with_output"
    assert "cannot start" in str(state.error)
    assert "hunter2" not in str(state.error)


async def test_values_of_env_are_masked_in_the_output() -> None:
    """Whatever their names; values too short to be a secret stay."""
    script = 'import os, sys; sys.exit(f\'cannot sign in with {os.environ["PAT"]} ({os.environ["LEVEL"]})\')'
    env = {"PAT": SecretStr("abc-123-xyz\nsecond-line"), "LEVEL": SecretStr("info")}
    spec = ServerSpec(command=sys.executable, args=("-c", script), env=env)
    async with opened(("broken", spec), pauses=lambda: repeat(60.0)) as toolbox:
        [state] = toolbox.states()
    assert state.error is not None
    assert "Its last output: cannot sign in with *** *** (info)" in str(state.error)


async def test_unreachable_url_is_reported() -> None:
    spec = ServerSpec(url="http://me:hunter2@127.0.0.1:9/mcp?token=hunter2")
    async with opened(("away", spec), pauses=lambda: repeat(60.0)) as toolbox:
        [state] = toolbox.states()
    assert state.error == Message("toolbox.server_unreachable", url="http://127.0.0.1:9/mcp", error="ConnectError")


async def test_dead_server_does_not_delay_the_others() -> None:
    dead, alive = ("dead", ServerSpec(command="no-such-program")), ("peer", peer("modern"))
    async with opened(dead, alive, pauses=lambda: repeat(60.0)) as toolbox:
        assert (await toolbox.call_tool("whoami", {})).is_error is False
        assert [state.state for state in toolbox.states()] == ["failed", "connected"]


async def test_program_gets_a_clean_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "sk-secret")
    spec = peer("modern").model_copy(update={"env": {"MY_OWN": SecretStr("1")}})
    async with opened(("peer", spec)) as toolbox:
        seen = set((await toolbox.call_tool("environment", {})).content.split())
    assert "MY_OWN" in seen
    assert "OPENAI_API_KEY" not in seen


async def test_nothing_is_started_before_it_is_needed() -> None:
    async with Toolbox([Connection("peer", create_transport(peer("modern")))]) as toolbox:
        assert [state.state for state in toolbox.states()] == ["idle"]
        assert toolbox.get_tools() == []


def test_pauses_between_attempts_grow() -> None:
    pauses = back_off()
    first = [next(pauses) for _ in range(12)]
    assert first[0] == 0
    assert all(earlier < later for earlier, later in pairwise(first[:7]))
    assert all(48 <= pause <= 72 for pause in first[8:])


async def test_cancellation_at_the_moment_of_a_change_is_not_lost() -> None:
    """Python 3.11's `wait_for` swallows a cancellation that coincides with the result."""
    link = Connection("bench", BuiltIn(create_workbench(Witness())))
    link.start()
    await link.settle(30)
    link._wake.set()
    link._task.cancel()  # type: ignore[union-attr]
    async with asyncio.timeout(30):
        await asyncio.gather(link._task, return_exceptions=True)  # type: ignore[arg-type]
