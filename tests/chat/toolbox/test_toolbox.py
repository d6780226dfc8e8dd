"""The toolbox over servers in this process and over HTTP."""

import asyncio
import logging
import re
from collections.abc import AsyncIterator
from itertools import repeat
from typing import Any

import mcp_types as types
import pytest
from pydantic import SecretStr
from tests.fakes.mcp_over_http import McpOverHttp
from tests.fakes.workbench import Witness, create_workbench

from chie.chat.toolbox.connection import Connection
from chie.chat.toolbox.servers_file import ServerSpec
from chie.chat.toolbox.tool import Outcome, Tool, Toolset, callable_name
from chie.chat.toolbox.toolbox import Toolbox
from chie.chat.toolbox.transport import BuiltIn, way_to
from chie.chat.toolbox.wrappers import Allowed, Approved, Distinct, OwnLists
from chie.errors import NotFoundError

ALL = {"echo", "meet", "lines", "fail", "hang", "erase", "unmarked", "add"}


@pytest.fixture
def witness() -> Witness:
    return Witness()


@pytest.fixture
async def toolbox(witness: Witness) -> AsyncIterator[Toolbox]:
    connections = [
        Connection(name, BuiltIn(create_workbench(witness, name)), seconds=30) for name in ("bench", "second")
    ]
    async with Toolbox(connections, closed={"n8n": "Set N8N_URL."}) as toolbox:
        yield toolbox


@pytest.mark.req("CH-7")
async def test_tools_come_in_the_form_of_function_calling(toolbox: Toolbox) -> None:
    await toolbox.initialize_servers(["bench"])
    tools = {tool["function"]["name"]: tool for tool in toolbox.get_tools()}
    assert set(tools) == ALL
    echo = tools["echo"]
    assert echo["type"] == "function"
    assert echo["function"]["description"] == "Give the text back."
    assert echo["function"]["parameters"]["properties"]["text"]["type"] == "string"
    assert echo["function"]["parameters"]["required"] == ["text"]


@pytest.mark.req("CH-7")
async def test_a_tool_is_called_by_name(toolbox: Toolbox) -> None:
    await toolbox.initialize_servers(["bench", "no-such-server"])
    outcome = await toolbox.call_tool("echo", {"text": "日本語"})
    assert (outcome.content, outcome.is_error) == ("echo: 日本語", False)


@pytest.mark.req("CH-7")
async def test_servers_with_tools_of_one_name_keep_them_apart(toolbox: Toolbox) -> None:
    await toolbox.initialize_servers(["bench", "second"])
    names = {tool["function"]["name"] for tool in toolbox.get_tools()}
    assert names == {f"{server}_{tool}" for server in ("bench", "second") for tool in ALL}
    assert (await toolbox.call_tool("second_echo", {"text": "x"})).content == "echo: x"


def test_names_stay_apart_even_where_a_prefix_makes_another_tools_name() -> None:
    named = [("a", "x"), ("b", "x"), ("c", "a_x")]
    names = [tool.name for tool in Distinct(Fixed(named)).tools()]
    assert len(set(names)) == 3
    assert names[1] == "b_x"


class Fixed(Toolset):
    def __init__(self, named: list[tuple[str, str]]) -> None:
        self.named = named

    def tools(self) -> list[Tool]:
        return [Tool.from_mcp(server, types.Tool(name=name, input_schema={})) for server, name in self.named]

    async def call(self, tool: Tool, arguments: dict[str, Any]) -> Outcome:
        raise NotImplementedError


async def test_an_unknown_tool_is_not_found(toolbox: Toolbox) -> None:
    with pytest.raises(NotFoundError, match="get_tools lists those there are"):
        await toolbox.call_tool("nonsense", {})


async def test_states_show_every_server(toolbox: Toolbox) -> None:
    await toolbox.initialize_servers(["bench"])
    first, second, closed = [state.details() for state in toolbox.states()]
    assert (first["name"], first["state"], first["error"], first["transport"]) == (
        "bench",
        "connected",
        None,
        "built-in",
    )
    assert {"name": "erase", "description": "Destroys something.", "destructive": True} in first["tools"]
    assert (second["state"], second["tools"]) == ("idle", [])
    assert (closed["name"], closed["state"], closed["error"]) == ("n8n", "not_configured", "Set N8N_URL.")


async def test_a_call_that_takes_too_long_is_stopped_and_the_server_stays(witness: Witness) -> None:
    connection = Connection("bench", BuiltIn(create_workbench(witness)), seconds=0.2)
    async with Toolbox([connection]) as toolbox:
        await toolbox.initialize_servers(["bench"])
        outcome = await toolbox.call_tool("hang", {})
        assert (outcome.is_error, outcome.content) == (True, "hang gave no answer within 0.2 seconds and was stopped.")
        await asyncio.wait_for(witness.cancelled.wait(), 10)
        assert [state.state for state in toolbox.states()] == ["connected"]


async def test_a_disabled_tool_is_not_there_and_an_approved_one_is_not_asked_for(witness: Witness) -> None:
    connection = Connection("bench", BuiltIn(create_workbench(witness)))
    async with Toolbox([connection], disabled={"bench": ["unm*"]}, approved={"bench": ["erase"]}) as toolbox:
        await toolbox.initialize_servers(["bench"])
        tools = {tool.name: tool for tool in toolbox.toolset().tools()}
        assert "unmarked" not in tools
        assert tools["erase"].destructive is False
        with pytest.raises(NotFoundError):
            await toolbox.call_tool("unmarked", {"what": "x"})


async def test_patterns_choose_tools(toolbox: Toolbox) -> None:
    await toolbox.initialize_servers(["bench", "second"])
    some = Allowed(toolbox.toolset(), ["bench/e*", "second_add"])
    assert {tool.name for tool in some.tools()} == {"bench_echo", "bench_erase", "second_add"}
    waived = Approved(some, ["erase"])
    assert [tool.destructive for tool in waived.tools()] == [False, False, False]


@pytest.mark.parametrize(
    ("server", "tool", "pattern", "meant"),
    [
        ("evil", "files/wipe", "files/*", False),
        ("evil", "files/wipe", "*/files/wipe", True),
        ("files", "wipe", "files/*", True),
        ("files", "a/b", "files/*", True),
        ("files2", "x/wipe", "files*/wipe", False),
        ("github.com/some/server", "wipe", "github.com/some/server/w*", True),
        ("evil", "files/wipe", "wipe", False),
        ("evil", "wipe", "wipe", True),
    ],
)
def test_a_pattern_with_a_slash_goes_by_the_server_whatever_it_calls_its_tools(
    server: str, tool: str, pattern: str, *, meant: bool
) -> None:
    [found] = Approved(Fixed([(server, tool)]), [pattern]).tools()
    assert found.destructive is not meant


@pytest.mark.parametrize(
    ("server", "tool"),
    [("evil", "files/wipe"), ("files[a]", "wipe"), ("filesa", "wipe"), ("files", "a/wipe")],
    ids=["another's name in a tool's", "signs of a pattern", "what they would match", "a name with a slash"],
)
def test_a_list_beside_a_server_is_for_that_server_alone(server: str, tool: str) -> None:
    """Every other of these servers has such a list, and each is named as if it were another."""
    names = {"files", "files/a", "files[a]", "files?", "*", server}
    others = {name: ["*"] for name in names - {server}}
    toolset = Fixed([(server, tool)])
    assert [tool.destructive for tool in OwnLists(toolset, others, others).tools()] == [True]
    assert [tool.destructive for tool in OwnLists(toolset, {}, {server: ["*"]}).tools()] == [False]
    assert OwnLists(toolset, {server: ["*"]}, {}).tools() == []


@pytest.mark.parametrize("stateless", [True, False], ids=["stateless", "stateful"])
async def test_a_server_over_http_gets_its_headers_and_may_be_restarted(*, stateless: bool) -> None:
    server = McpOverHttp(stateless=stateless)
    spec = ServerSpec(url=server.url, headers={"X-Team": SecretStr("chie")})
    connection = Connection("far", way_to(spec), seconds=30, waits=lambda: repeat(0.05))
    async with Toolbox([connection]) as toolbox:
        with server:
            await toolbox.initialize_servers(["far"])
            assert (await toolbox.call_tool("greet", {})).content == "hello, chie"
        down = await toolbox.call_tool("greet", {})
        assert down.is_error
        with server:
            while (outcome := await toolbox.call_tool("greet", {})).is_error:  # noqa: ASYNC110  it is far away
                await asyncio.sleep(0.05)
            assert outcome.content == "hello, chie"


@pytest.mark.parametrize(
    ("name", "beginning"),
    [("ノート検索", "_____"), ("a.b/c", "a_b_c_"), ("x" * 70, "x" * 55 + "_")],
    ids=["Japanese", "punctuation", "too long"],
)
def test_names_that_models_servers_refuse_are_made_fit(name: str, beginning: str) -> None:
    made = callable_name(name)
    assert made.startswith(beginning)
    assert re.fullmatch(r"[A-Za-z0-9_-]{1,64}", made)
    assert made == callable_name(name)


def test_other_names_stay_as_they_are() -> None:
    assert callable_name("search_knowledge-2") == "search_knowledge-2"


def test_names_made_fit_stay_distinct() -> None:
    assert callable_name("ノート検索") != callable_name("ノート削除")


@pytest.mark.req("CH-14")
async def test_tool_runs_are_logged_without_their_arguments(toolbox: Toolbox, caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.DEBUG, "chie.chat")
    await toolbox.initialize_servers(["bench"])
    await toolbox.call_tool("echo", {"text": "confidential"})
    await toolbox.call_tool("fail", {})
    lines = [(record.levelname, record.getMessage()) for record in caplog.records]
    assert any(level == "INFO" and "tool echo of bench ran in" in line for level, line in lines)
    assert any(level == "WARNING" and "tool fail of bench failed in" in line for level, line in lines)
    assert {level for level, line in lines if "confidential" in line} == {"DEBUG"}


async def test_a_server_can_be_left_and_gone_back_to(toolbox: Toolbox) -> None:
    """Before anybody used it, and again while it is connected."""
    for _ in range(2):
        state = await toolbox.reconnect("bench")
        assert (state.state, {tool.original for tool in state.tools}) == ("connected", ALL)
        assert (await toolbox.call_tool("echo", {"text": "日本語"})).content == "echo: 日本語"


async def test_a_server_that_failed_is_tried_at_once_when_somebody_asks() -> None:
    connection = Connection("ill", way_to(ServerSpec(command="no-such-program-anywhere")), waits=lambda: repeat(3600.0))
    async with Toolbox([connection]) as toolbox:
        await toolbox.initialize_servers(["ill"])
        assert toolbox.states()[0].state == "failed"
        state = await toolbox.reconnect("ill")
        assert (state.state, bool(state.error)) == ("failed", True)


async def test_only_servers_that_there_are_can_be_reconnected(toolbox: Toolbox) -> None:
    for name in ("n8n", "nobody"):
        with pytest.raises(NotFoundError, match="GET /api/mcp/servers"):
            await toolbox.reconnect(name)
