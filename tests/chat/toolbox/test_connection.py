"""Connections to real server processes, in both protocol eras: they change, they die, they never come up."""

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
from chie.chat.toolbox.tool import Outcome
from chie.chat.toolbox.toolbox import Toolbox
from chie.chat.toolbox.transport import BuiltIn, way_to

ROOT = Path(__file__).parents[3]


def peer(era: str) -> ServerSpec:
    return ServerSpec(command=sys.executable, args=("-m", "tests.fakes.peer", era), cwd=ROOT)


@asynccontextmanager
async def opened(
    *specs: tuple[str, ServerSpec], seconds: float = 30, waits: Callable[[], Iterator[float]] = lambda: repeat(0.0)
) -> AsyncIterator[Toolbox]:
    connections = [Connection(name, way_to(spec), seconds=seconds, waits=waits) for name, spec in specs]
    async with Toolbox(connections) as toolbox:
        await toolbox.initialize_servers([name for name, _ in specs])
        yield toolbox


async def until(condition: Callable[[], bool]) -> None:
    async with asyncio.timeout(30):
        while not condition():  # noqa: ASYNC110  the list is not ours to be told of
            await asyncio.sleep(0.01)


def names(toolbox: Toolbox) -> set[str]:
    return {tool["function"]["name"] for tool in toolbox.get_tools()}


@pytest.fixture(params=["modern", "legacy"])
def era(request: pytest.FixtureRequest) -> str:
    return str(request.param)


async def test_a_server_that_changes_its_tools_is_heard(era: str) -> None:
    async with opened(("peer", peer(era))) as toolbox:
        assert "grown" not in names(toolbox)
        await toolbox.call_tool("grow", {})
        await until(lambda: "grown" in names(toolbox))


@pytest.mark.req("CH-7")
async def test_a_server_killed_between_calls_is_back_for_the_next(era: str) -> None:
    async with opened(("peer", peer(era))) as toolbox:
        first = await toolbox.call_tool("whoami", {})
        os.kill(int(first.content), signal.SIGKILL)
        second = await toolbox.call_tool("whoami", {})
        assert (second.is_error, second.content == first.content) == (False, False)


async def test_a_server_that_dies_under_a_change_is_not_asked_twice(era: str) -> None:
    async with opened(("peer", peer(era))) as toolbox:
        outcome = await toolbox.call_tool("die", {})
        assert outcome.is_error
        assert "went away while the tool ran, which may or may not have done its work" in outcome.content
        again = await toolbox.call_tool("whoami", {})
        assert not again.is_error


async def test_a_server_that_dies_again_and_again_is_not_stormed() -> None:
    begun: list[str] = []

    def waits() -> Iterator[float]:
        begun.append("from the start")
        return repeat(0.0)

    async with opened(("peer", peer("modern")), waits=waits) as toolbox:
        for _ in range(3):
            assert (await toolbox.call_tool("die", {})).is_error
    assert begun == ["from the start"], "only a server that stayed up for a while is tried at once again"


async def test_a_server_that_does_one_thing_at_a_time_is_not_given_up_while_it_works(
    era: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It cannot say which tools it has before the one that runs has ended."""
    monkeypatch.setattr(connection, "CHECK_SECONDS", 0.05)
    async with opened(("peer", peer(era))) as toolbox:
        first = await toolbox.call_tool("whoami", {})
        with monkeypatch.context() as hasty:
            hasty.setattr(connection, "REQUEST_SECONDS", 0.05)
            working = asyncio.create_task(toolbox.call_tool("block", {"until": str(tmp_path / "end")}))
            await asyncio.wait({working}, timeout=1)  # many times what a check may take
        (tmp_path / "end").touch()
        assert await working == Outcome("ok")
        assert await toolbox.call_tool("whoami", {}) == first


async def test_a_server_killed_at_work_is_noticed_at_once(era: str, tmp_path: Path) -> None:
    async with opened(("peer", peer(era))) as toolbox:
        pid = int((await toolbox.call_tool("whoami", {})).content)
        working = asyncio.create_task(toolbox.call_tool("block", {"until": str(tmp_path / "end")}))
        await asyncio.sleep(0)
        os.kill(pid, signal.SIGKILL)
        assert "went away while the tool ran" in (await working).content


async def test_a_server_that_never_ends_a_call_is_given_up_however_many_call_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(connection, "CHECK_SECONDS", 0.05)
    monkeypatch.setattr(connection, "REQUEST_SECONDS", 1)
    async with opened(("peer", peer("modern")), seconds=1) as toolbox, asyncio.timeout(60):
        first = await toolbox.call_tool("whoami", {})
        stopped = await toolbox.call_tool("block", {"until": str(tmp_path / "never")})
        assert "gave no answer within 1 seconds" in stopped.content
        while (again := await toolbox.call_tool("whoami", {})).is_error:
            pass
    assert again.content != first.content


async def test_a_result_against_its_own_schema_is_a_failure_and_the_server_stays(era: str) -> None:
    async with opened(("peer", peer(era))) as toolbox:
        first = await toolbox.call_tool("whoami", {})
        outcome = await toolbox.call_tool("lie", {})
        assert (outcome.is_error, "schema does not allow" in outcome.content) == (True, True)
        assert await toolbox.call_tool("whoami", {}) == first


async def test_a_program_that_says_nothing_ends_with_the_toolbox() -> None:
    spec = ServerSpec(command=sys.executable, args=("-c", "import time; time.sleep(600)"))
    link = Connection("mute", way_to(spec))
    async with Toolbox([link]) as toolbox:
        link.start()
        await until(lambda: bool(children()))
        assert [state.state for state in toolbox.states()] == ["connecting"]
    assert children() == []


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
async def test_the_time_server_of_the_registry_works_and_comes_back() -> None:
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


def children() -> list[int]:
    return [int(pid) for pid in Path(f"/proc/self/task/{os.getpid()}/children").read_text().split()]


async def test_a_program_that_does_not_exist_is_named() -> None:
    async with opened(("ghost", ServerSpec(command="no-such-program")), waits=lambda: repeat(60.0)) as toolbox:
        [state] = toolbox.states()
    assert (state.state, state.tools) == ("failed", ())
    assert state.error == (
        "The program no-such-program was not found. Install it, or correct `command` in servers.json."
    )


async def test_the_last_words_of_a_program_are_shown_without_its_secrets() -> None:
    script = "import sys; sys.exit('cannot start: password=hunter2-hunter2 is wrong')"
    spec = ServerSpec(command=sys.executable, args=("-c", script))
    async with opened(("broken", spec), waits=lambda: repeat(60.0)) as toolbox:
        [state] = toolbox.states()
    assert state.state == "failed"
    assert state.error is not None
    assert "cannot start" in state.error
    assert "hunter2" not in state.error


async def test_what_a_program_was_given_is_not_among_its_last_words() -> None:
    """Whatever its name is; what is too short to be a secret stays."""
    script = 'import os, sys; sys.exit(f\'cannot sign in with {os.environ["PAT"]} ({os.environ["LEVEL"]})\')'
    env = {"PAT": SecretStr("abc-123-xyz\nsecond-line"), "LEVEL": SecretStr("info")}
    spec = ServerSpec(command=sys.executable, args=("-c", script), env=env)
    async with opened(("broken", spec), waits=lambda: repeat(60.0)) as toolbox:
        [state] = toolbox.states()
    assert state.error is not None
    assert "Its last words: cannot sign in with *** *** (info)" in state.error


async def test_an_address_where_nobody_answers_is_named() -> None:
    spec = ServerSpec(url="http://me:hunter2@127.0.0.1:9/mcp?token=hunter2")
    async with opened(("away", spec), waits=lambda: repeat(60.0)) as toolbox:
        [state] = toolbox.states()
    assert state.error is not None
    assert "No MCP server answers at http://127.0.0.1:9/mcp (ConnectError)" in state.error
    assert "servers.json" in state.error


async def test_a_dead_server_does_not_hold_up_the_living() -> None:
    dead, living = ("dead", ServerSpec(command="no-such-program")), ("peer", peer("modern"))
    async with opened(dead, living, waits=lambda: repeat(60.0)) as toolbox:
        assert (await toolbox.call_tool("whoami", {})).is_error is False
        assert [state.state for state in toolbox.states()] == ["failed", "connected"]


async def test_a_program_gets_no_more_of_our_environment_than_it_needs(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "sk-secret")
    spec = peer("modern").model_copy(update={"env": {"MY_OWN": SecretStr("1")}})
    async with opened(("peer", spec)) as toolbox:
        seen = set((await toolbox.call_tool("environment", {})).content.split())
    assert "MY_OWN" in seen
    assert "OPENAI_API_KEY" not in seen


async def test_nothing_is_started_before_it_is_asked_for() -> None:
    async with Toolbox([Connection("peer", way_to(peer("modern")))]) as toolbox:
        assert [state.state for state in toolbox.states()] == ["idle"]
        assert toolbox.get_tools() == []


def test_attempts_follow_each_other_more_and_more_slowly() -> None:
    waits = back_off()
    first = [next(waits) for _ in range(12)]
    assert first[0] == 0
    assert all(earlier < later for earlier, later in pairwise(first[:7]))
    assert all(48 <= wait <= 72 for wait in first[8:])


async def test_closing_at_the_very_moment_of_a_change_is_heard() -> None:
    """Python 3.11's `wait_for` takes a cancellation for an answer if both come at once."""
    link = Connection("bench", BuiltIn(create_workbench(Witness())))
    link.start()
    await link.settle(30)
    link._wake.set()
    link._task.cancel()  # type: ignore[union-attr]
    async with asyncio.timeout(30):
        await asyncio.gather(link._task, return_exceptions=True)  # type: ignore[arg-type]
