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
from chie.chat.toolbox.transport import BuiltIn, create_transport
from chie.chat.toolbox.wrappers import AllowedTools, ApprovedTools, ServerLists, UniqueNames
from chie.errors import NotFoundError
from chie.mcp_kit.approval import destructive_with
from chie.messages.catalogue import Message

NOT_CONFIGURED = Message("toolbox.program_not_found", command="n8n")
ALL = {"echo", "meet", "lines", "fail", "hang", "erase", "unmarked", "add"}


@pytest.fixture
def witness() -> Witness:
    return Witness()


@pytest.fixture
async def toolbox(witness: Witness) -> AsyncIterator[Toolbox]:
    connections = [
        Connection(name, BuiltIn(create_workbench(witness, name)), timeout=30) for name in ("bench", "second")
    ]
    async with Toolbox(connections, unconfigured={"n8n": NOT_CONFIGURED}) as toolbox:
        yield toolbox


@pytest.mark.req("CH-7")
async def test_tools_have_the_format_of_function_calling(toolbox: Toolbox) -> None:
    await toolbox.initialize_servers(["bench"])
    tools = {tool["function"]["name"]: tool for tool in toolbox.get_tools()}
    assert set(tools) == ALL
    echo = tools["echo"]
    assert echo["type"] == "function"
    assert echo["function"]["description"] == "Give the text back."
    assert echo["function"]["parameters"]["properties"]["text"]["type"] == "string"
    assert echo["function"]["parameters"]["required"] == ["text"]


@pytest.mark.req("CH-7")
async def test_builtin_server_is_waited_for_on_a_busy_machine(
    toolbox: Toolbox, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Without its tools a model would invent what is in the notes."""
    monkeypatch.setattr("chie.chat.toolbox.toolbox.SETTLE_TIMEOUT_SECONDS", 0.0)
    await toolbox.initialize_servers(["bench"])
    assert {tool["function"]["name"] for tool in toolbox.get_tools()} == ALL


async def test_connected_servers_are_not_waited_for(toolbox: Toolbox) -> None:
    """Every answer opens its tools. A single await would let other work of the process go before the model."""
    await toolbox.initialize_servers(["bench", "second"])
    opening = toolbox.initialize_servers(["bench", "second"])
    with pytest.raises(StopIteration):
        opening.send(None)


@pytest.mark.req("CH-7")
async def test_tool_is_called_by_name(toolbox: Toolbox) -> None:
    await toolbox.initialize_servers(["bench", "no-such-server"])
    outcome = await toolbox.call_tool("echo", {"text": "日本語"})
    assert (outcome.content, outcome.is_error) == ("echo: 日本語", False)


@pytest.mark.req("CH-7")
async def test_tools_with_the_same_name_get_a_prefix(toolbox: Toolbox) -> None:
    await toolbox.initialize_servers(["bench", "second"])
    names = {tool["function"]["name"] for tool in toolbox.get_tools()}
    assert names == {f"{server}_{tool}" for server in ("bench", "second") for tool in ALL}
    assert (await toolbox.call_tool("second_echo", {"text": "x"})).content == "echo: x"


def test_names_are_unique_even_if_a_prefix_makes_another_tools_name() -> None:
    named = [("a", "x"), ("b", "x"), ("c", "a_x")]
    names = [tool.name for tool in UniqueNames(Fixed(named)).tools()]
    assert len(set(names)) == 3
    assert names[1] == "b_x"


class Fixed(Toolset):
    def __init__(self, named: list[tuple[str, str]]) -> None:
        self.named = named

    def tools(self) -> list[Tool]:
        return [Tool.from_mcp(server, types.Tool(name=name, input_schema={})) for server, name in self.named]

    async def call(self, tool: Tool, arguments: dict[str, Any]) -> Outcome:
        raise NotImplementedError


async def test_unknown_tool_is_not_found(toolbox: Toolbox) -> None:
    with pytest.raises(NotFoundError) as caught:
        await toolbox.call_tool("nonsense", {})
    assert caught.value.code == "toolbox.tool_not_found"


async def test_states_list_every_server(toolbox: Toolbox) -> None:
    await toolbox.initialize_servers(["bench"])
    first, second, unconfigured = [state.details() for state in toolbox.states()]
    assert (first["name"], first["state"], first["transport"]) == ("bench", "connected", "built-in")
    assert (first["error"], first["error_code"], first["error_params"]) == (None, None, None)
    erase = {"name": "erase", "description": "Destroys something.", "destructive": True, "changed": False}
    assert erase in first["tools"]
    assert (second["state"], second["tools"]) == ("idle", [])
    assert (unconfigured["name"], unconfigured["state"]) == ("n8n", "not_configured")
    assert unconfigured["error"] == str(NOT_CONFIGURED)
    assert (unconfigured["error_code"], unconfigured["error_params"]) == (NOT_CONFIGURED.code, {"command": "n8n"})


async def test_slow_call_is_cancelled_and_the_server_stays(witness: Witness) -> None:
    connection = Connection("bench", BuiltIn(create_workbench(witness)), timeout=0.2)
    async with Toolbox([connection]) as toolbox:
        await toolbox.initialize_servers(["bench"])
        outcome = await toolbox.call_tool("hang", {})
        assert (outcome.is_error, outcome.code) == (True, "toolbox.call_timed_out")
        assert outcome.content == "hang did not finish within 0.2 seconds and was cancelled."
        await asyncio.wait_for(witness.cancelled.wait(), 10)
        assert [state.state for state in toolbox.states()] == ["connected"]


async def test_disabled_tool_is_hidden_and_approved_one_needs_no_approval(witness: Witness) -> None:
    connection = Connection("bench", BuiltIn(create_workbench(witness)))
    async with Toolbox([connection], disabled={"bench": ["unm*"]}, approved={"bench": ["erase"]}) as toolbox:
        await toolbox.initialize_servers(["bench"])
        tools = {tool.name: tool for tool in toolbox.toolset().tools()}
        assert "unmarked" not in tools
        assert tools["erase"].destructive is False
        with pytest.raises(NotFoundError):
            await toolbox.call_tool("unmarked", {"what": "x"})


async def test_patterns_select_tools(toolbox: Toolbox) -> None:
    await toolbox.initialize_servers(["bench", "second"])
    some = AllowedTools(toolbox.toolset(), ["bench/e*", "second_add"])
    assert {tool.name for tool in some.tools()} == {"bench_echo", "bench_erase", "second_add"}
    approved = ApprovedTools(some, ["erase"])
    assert [tool.destructive for tool in approved.tools()] == [False, False, False]


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
def test_pattern_with_a_slash_matches_the_real_server(server: str, tool: str, pattern: str, *, meant: bool) -> None:
    [found] = ApprovedTools(Fixed([(server, tool)]), [pattern]).tools()
    assert found.destructive is not meant


@pytest.mark.parametrize(
    ("server", "tool"),
    [("evil", "files/wipe"), ("files[a]", "wipe"), ("filesa", "wipe"), ("files", "a/wipe")],
    ids=["imitated prefix", "pattern in a name", "match of that pattern", "name with a slash"],
)
def test_lists_of_a_server_apply_only_to_that_server(server: str, tool: str) -> None:
    """All other servers have lists too, and names that imitate each other."""
    names = {"files", "files/a", "files[a]", "files?", "*", server}
    others = {name: ["*"] for name in names - {server}}
    toolset = Fixed([(server, tool)])
    assert [tool.destructive for tool in ServerLists(toolset, others, others).tools()] == [True]
    assert [tool.destructive for tool in ServerLists(toolset, {}, {server: ["*"]}).tools()] == [False]
    assert ServerLists(toolset, {server: ["*"]}, {}).tools() == []


def test_an_approval_is_for_one_definition_of_one_server() -> None:
    erase = types.Tool(name="erase", description="Erases.", input_schema={})
    other = types.Tool(name="erase", description="Erases all.", input_schema={})
    same, again = Tool.from_mcp("files", erase), Tool.from_mcp("files", erase.model_copy())
    assert same.approval_key == again.approval_key
    assert (
        len({same.approval_key, Tool.from_mcp("disk", erase).approval_key, Tool.from_mcp("files", other).approval_key})
        == 3
    )


def test_only_builtin_servers_name_their_destructive_arguments() -> None:
    named = types.Tool(name="make", input_schema={}, _meta=destructive_with("live"))
    ours, others = Tool.from_mcp("n8n", named, builtin=True), Tool.from_mcp("files", named)
    calls: list[dict[str, Any]] = [{}, {"live": None}, {"live": False}, {"live": True}, {"live": "no"}, {"live": []}]
    assert [ours.needs_approval(call) for call in calls] == [False, False, False, True, True, False]
    assert all(others.needs_approval(call) for call in calls)


@pytest.mark.parametrize("stateless", [True, False], ids=["stateless", "stateful"])
async def test_http_server_gets_its_headers_and_may_restart(*, stateless: bool) -> None:
    server = McpOverHttp(stateless=stateless)
    spec = ServerSpec(url=server.url, headers={"X-Team": SecretStr("chie")})
    connection = Connection("far", create_transport(spec), timeout=30, pauses=lambda: repeat(0.05))
    async with Toolbox([connection]) as toolbox:
        with server:
            await toolbox.initialize_servers(["far"])
            assert (await toolbox.call_tool("greet", {})).content == "hello, chie"
        down = await toolbox.call_tool("greet", {})
        assert down.is_error
        with server:
            while (outcome := await toolbox.call_tool("greet", {})).is_error:  # noqa: ASYNC110  nothing signals the reconnection
                await asyncio.sleep(0.05)
            assert outcome.content == "hello, chie"


@pytest.mark.parametrize(
    ("name", "beginning"),
    [("ノート検索", "_____"), ("a.b/c", "a_b_c_"), ("x" * 70, "x" * 55 + "_")],
    ids=["Japanese", "punctuation", "too long"],
)
def test_names_that_providers_reject_are_replaced(name: str, beginning: str) -> None:
    replaced = callable_name(name)
    assert replaced.startswith(beginning)
    assert re.fullmatch(r"[A-Za-z0-9_-]{1,64}", replaced)
    assert replaced == callable_name(name)


def test_valid_names_are_unchanged() -> None:
    assert callable_name("search_knowledge-2") == "search_knowledge-2"


def test_replaced_names_are_distinct() -> None:
    assert callable_name("ノート検索") != callable_name("ノート削除")


@pytest.mark.req("CH-14")
async def test_calls_are_logged_without_their_arguments(toolbox: Toolbox, caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.DEBUG, "chie.chat")
    await toolbox.initialize_servers(["bench"])
    await toolbox.call_tool("echo", {"text": "confidential"})
    await toolbox.call_tool("fail", {})
    lines = [(record.levelname, record.getMessage()) for record in caplog.records]
    assert any(level == "INFO" and "tool echo of bench ran in" in line for level, line in lines)
    assert any(level == "WARNING" and "tool fail of bench failed in" in line for level, line in lines)
    assert {level for level, line in lines if "confidential" in line} == {"DEBUG"}


async def test_server_can_be_reconnected(toolbox: Toolbox) -> None:
    """Before its first use, and again while it is connected."""
    for _ in range(2):
        state = await toolbox.reconnect("bench")
        assert (state.state, {tool.original for tool in state.tools}) == ("connected", ALL)
        assert (await toolbox.call_tool("echo", {"text": "日本語"})).content == "echo: 日本語"


async def test_failed_server_is_retried_at_once_on_request() -> None:
    connection = Connection(
        "broken", create_transport(ServerSpec(command="no-such-program-anywhere")), pauses=lambda: repeat(3600.0)
    )
    async with Toolbox([connection]) as toolbox:
        await toolbox.initialize_servers(["broken"])
        assert toolbox.states()[0].state == "failed"
        state = await toolbox.reconnect("broken")
        assert (state.state, bool(state.error)) == ("failed", True)


async def test_only_known_servers_can_be_reconnected(toolbox: Toolbox) -> None:
    for name in ("n8n", "nobody"):
        with pytest.raises(NotFoundError) as caught:
            await toolbox.reconnect(name)
        assert caught.value.code == "toolbox.server_not_found"
