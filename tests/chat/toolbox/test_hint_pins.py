"""A server that changes the hints of its tools: a real process, in both protocol eras."""

import asyncio
import json
import sys
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from pathlib import Path

import pytest
from pydantic import SecretStr

from chie.chat.settings import ChatSettings
from chie.chat.toolbox.hint_pins import FILE_NAME, MAX_TOOLS, HintPins
from chie.chat.toolbox.servers_file import ServerSpec
from chie.chat.toolbox.tool import Tool, Toolset
from chie.chat.toolbox.toolbox import Toolbox, create_toolbox
from chie.chat.toolbox.wrappers import ApprovedTools
from chie.files import make_folder
from chie.settings import load

ROOT = Path(__file__).parents[3]


def peer(era: str = "modern", *, claims_to_read: bool = False, always_ask: bool = False) -> ServerSpec:
    env = {"PEER_ERASE": SecretStr("read")} if claims_to_read else {}
    args = ("-m", "tests.fakes.peer", era)
    return ServerSpec(command=sys.executable, args=args, cwd=ROOT, env=env, always_ask=always_ask)


@asynccontextmanager
async def opened(spec: ServerSpec) -> AsyncIterator[Toolbox]:
    async with create_toolbox(load(ChatSettings), {}, {"peer": spec}) as toolbox:
        await toolbox.initialize_servers(["peer"])
        yield toolbox


def needs_approval(toolset: Toolset | Toolbox, name: str = "erase") -> bool:
    tools = (toolset.toolset() if isinstance(toolset, Toolbox) else toolset).tools()
    return next(tool for tool in tools if tool.name == name).needs_approval({})


async def call(toolbox: Toolbox, tool: str) -> None:
    """Waits until the tools have been listed again."""
    before = len(toolbox.get_tools())
    await toolbox.call_tool(tool, {})
    await until(lambda: len(toolbox.get_tools()) > before)


async def until(condition: Callable[[], bool]) -> None:
    async with asyncio.timeout(30):
        while not condition():  # noqa: ASYNC110  nothing signals a change of the list
            await asyncio.sleep(0.01)


@pytest.mark.parametrize("era", ["modern", "legacy"])
async def test_tool_that_turns_read_only_still_asks(era: str) -> None:
    async with opened(peer(era)) as toolbox:
        assert needs_approval(toolbox)
        await call(toolbox, "soften")
        assert needs_approval(toolbox)
        approved = ApprovedTools(toolbox.toolset(), ["peer/erase"])
        assert needs_approval(approved), "another tool was approved"
        await toolbox.accept_changes("peer")
        assert not needs_approval(approved)


async def test_stricter_hints_count_at_once_and_are_kept() -> None:
    async with opened(peer(claims_to_read=True)) as toolbox:
        assert not needs_approval(toolbox)
        await call(toolbox, "harden")
        assert needs_approval(toolbox)
        await call(toolbox, "soften")
        assert needs_approval(toolbox)


async def test_hints_outlast_a_reconnection_and_a_restart(home: Path) -> None:
    async with opened(peer()) as toolbox:
        assert needs_approval(toolbox)
    async with opened(peer(claims_to_read=True)) as toolbox:
        assert needs_approval(toolbox)
        await toolbox.reconnect("peer")
        assert needs_approval(toolbox)
    content = json.loads((home / FILE_NAME).read_text())
    assert content["peer"]["tools"]["erase"] == "destructive"
    assert content["peer"]["tools"]["whoami"] == "read_only"
    del content["peer"]["tools"]["erase"]
    (home / FILE_NAME).write_text(json.dumps(content))
    async with opened(peer(claims_to_read=True)) as toolbox:
        assert not needs_approval(toolbox)


async def test_changed_entry_starts_afresh(home: Path) -> None:
    async with opened(peer()) as toolbox:
        assert needs_approval(toolbox)
    async with opened(peer("legacy", claims_to_read=True)) as toolbox:
        assert not needs_approval(toolbox)
    assert (home / FILE_NAME).stat().st_mode & 0o077 == 0


@pytest.mark.parametrize("content", ["", "[]", "{", '{"peer": 1}', '{"peer": {"entry": "x", "tools": []}}'])
async def test_unusable_file_is_replaced(home: Path, content: str) -> None:
    make_folder(home)
    (home / FILE_NAME).write_text(content)
    async with opened(peer()) as toolbox:
        assert needs_approval(toolbox)
    assert json.loads((home / FILE_NAME).read_text())["peer"]["tools"]["erase"] == "destructive"


async def test_operator_forces_questions_for_a_server() -> None:
    async with opened(peer(always_ask=True)) as toolbox:
        assert needs_approval(toolbox, "whoami")
        assert needs_approval(ApprovedTools(toolbox.toolset(), ["*", "peer/*"]), "whoami")


async def test_endless_new_tools_ask() -> None:
    def tool(number: int) -> Tool:
        name = f"t{number}"
        return Tool(name=name, server="s", original=name, description="", schema={}, read_only=True, destructive=False)

    pins = HintPins("s")
    first = await pins.apply([tool(number) for number in range(MAX_TOOLS)])
    more = await pins.apply([tool(0), tool(MAX_TOOLS)])
    assert not any(one.destructive for one in first)
    assert [one.destructive for one in more] == [False, True]
