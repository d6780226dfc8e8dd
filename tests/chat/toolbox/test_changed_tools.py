"""A tool whose description, schema or hints have changed since it was approved asks again, over stdio and HTTP."""

import asyncio
import json
from pathlib import Path

import pytest
from tests.chat.toolbox.test_hint_pins import call, needs_approval, peer, until
from tests.contract.agent import settings as settings  # noqa: PLC0414
from tests.fakes.mcp_over_http import McpOverHttp
from tests.fakes.model_server import Use, say, use
from tests.fakes.openai_server import OpenAIServer

from chie.chat.agents.builtin import build_openai
from chie.chat.agents.dependencies import AgentDependencies
from chie.chat.agents.profile import Profile
from chie.chat.events import Event, ToolCall
from chie.chat.settings import ChatSettings
from chie.chat.toolbox.hint_pins import FILE_NAME
from chie.chat.toolbox.servers_file import ServerSpec
from chie.chat.toolbox.toolbox import Toolbox, create_toolbox
from chie.messages.catalogue import Message
from chie.settings import load


def toolbox_of(spec: ServerSpec) -> Toolbox:
    approving = spec.model_copy(update={"approved_tools": ("erase",)})
    return create_toolbox(load(ChatSettings), {}, {"peer": approving})


def has_changed(toolbox: Toolbox) -> bool:
    (state,) = toolbox.states()
    return any(tool["name"] == "erase" and tool["changed"] for tool in state.details()["tools"])


@pytest.mark.parametrize("era", ["modern", "legacy"])
@pytest.mark.parametrize("change", ["reword", "reshape", "harden"])
async def test_changed_tool_loses_the_operators_approval_until_it_is_accepted(change: str, era: str) -> None:
    spec = peer(era, claims_to_read=change == "harden")
    async with toolbox_of(spec) as toolbox:
        await toolbox.initialize_servers(["peer"])
        assert not needs_approval(toolbox)
        await call(toolbox, change)
        assert needs_approval(toolbox)
        assert has_changed(toolbox)
    async with toolbox_of(spec) as restarted, toolbox_of(spec) as worker:
        await restarted.initialize_servers(["peer"])
        await worker.initialize_servers(["peer"])
        assert not has_changed(restarted), "it is as it was approved"
        await call(restarted, change)
        await call(worker, change)
        assert needs_approval(restarted)
        await restarted.accept_changes("peer")
        assert not needs_approval(restarted)
        await call(worker, "grow")
        assert not needs_approval(worker), "the other process has read the file again"


async def test_changed_tool_over_http_asks_again(home: Path) -> None:
    far = McpOverHttp(stateless=True)
    async with toolbox_of(ServerSpec(url=far.url)) as toolbox:
        with far:
            await toolbox.initialize_servers(["peer"])
            assert not needs_approval(toolbox)
        far.erase_description = "何もかも消します。"
        with far:
            await toolbox.reconnect("peer")
            assert needs_approval(toolbox)
            content = json.loads((home / FILE_NAME).read_text())
            del content["peer"]["definitions"]["erase"]
            (home / FILE_NAME).write_text(json.dumps(content))
            await toolbox.reconnect("peer")
            assert not needs_approval(toolbox), "the operator has accepted it in the file"


async def test_file_of_an_earlier_version_has_no_definitions(home: Path) -> None:
    async with toolbox_of(peer()) as toolbox:
        await toolbox.initialize_servers(["peer"])
    content = json.loads((home / FILE_NAME).read_text())
    del content["peer"]["definitions"]
    (home / FILE_NAME).write_text(json.dumps(content))
    async with toolbox_of(peer()) as toolbox:
        await toolbox.initialize_servers(["peer"])
        assert not needs_approval(toolbox)
        await call(toolbox, "reword")
        assert needs_approval(toolbox)


async def test_tool_that_changes_while_its_call_waits_does_not_run(settings: ChatSettings) -> None:
    async with create_toolbox(settings, {}, {"peer": peer()}) as toolbox:
        await toolbox.initialize_servers(["peer"])

        async def approve(_: ToolCall) -> bool:
            await call(toolbox, "reword")
            await until(lambda: has_changed(toolbox))
            return True

        events = await answer_of(toolbox, settings, approve)
    asked = next(event for event in events if event["type"] == "tool_call")
    result = next(event for event in events if event["type"] == "tool_result")
    assert len(asked["definition"]) == 16
    assert (result["content"], result["code"]) == (str(Message("agents.tool_changed")), "agents.tool_changed")


async def test_call_of_a_changed_tool_says_so(settings: ChatSettings) -> None:
    async with toolbox_of(peer()) as toolbox:
        await toolbox.initialize_servers(["peer"])
        before = {tool.name: tool.approval_key for tool in toolbox.toolset().tools()}
        await call(toolbox, "reword")
        asked: list[ToolCall] = []

        async def approve(call: ToolCall) -> bool:
            asked.append(call)
            return True

        events = await answer_of(toolbox, settings, approve)
    assert asked[0]["changed"] is True
    assert asked[0]["definition"] != before["erase"]
    assert [event["is_error"] for event in events if event["type"] == "tool_result"] == [False]


async def test_permission_is_not_remembered_for_a_server_that_always_asks(settings: ChatSettings) -> None:
    async with toolbox_of(peer(always_ask=True)) as toolbox:
        await toolbox.initialize_servers(["peer"])
        asked: list[ToolCall] = []

        async def approve(call: ToolCall) -> bool:
            asked.append(call)
            return True

        await answer_of(toolbox, settings, approve)
    assert [call["approval"] for call in asked] == ["required"]
    assert "definition" not in asked[0]


async def answer_of(toolbox: Toolbox, settings: ChatSettings, approve: object) -> list[Event]:
    with OpenAIServer(use(Use("erase")), say("Done.")) as model:
        profile = Profile(id="openai", base_url=model.base_url, model="some-model")
        agent = build_openai(profile, AgentDependencies(settings, toolbox, ["peer"]))
        try:
            async with asyncio.timeout(60):
                return [event async for event in agent.stream_chat("erase it", (), "s", approve=approve)]  # type: ignore[arg-type]
        finally:
            await agent.close()
