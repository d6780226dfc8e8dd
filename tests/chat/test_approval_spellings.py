"""However a model spells an argument, what the tool would really do decides whether the call waits for the user.

The servers themselves say what a call does: each is called directly first, and what it has changed then is compared
with what the chat asks about.
"""

import json
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from itertools import product
from pathlib import Path
from typing import Any

import httpx2
import pytest
from fastmcp import Client
from pydantic import SecretStr
from pydantic.alias_generators import to_camel, to_pascal
from tests.fakes.chat import NO_PAGE, serving, sqlite_url
from tests.fakes.model_server import Use, say, use
from tests.fakes.n8n import KEY, FakeN8n
from tests.fakes.n8n_mcp import TOKEN
from tests.fakes.openai_server import OpenAIServer
from tests.fakes.sse import asking
from tests.n8n.caller import node, order_flow
from tests.n8n.failing import failing, parameters

from chie.app import create_app
from chie.chat.agents.assembly import open_agents
from chie.chat.module import ChatModule
from chie.chat.settings import ChatSettings
from chie.chat.toolbox.tool import Outcome
from chie.chat.toolbox.toolbox import Toolbox
from chie.knowledge.server import create_server as create_knowledge
from chie.mcp_kit.approval import DESTRUCTIVE_ARGUMENTS_META
from chie.mcp_kit.server import Server
from chie.messages.catalogue import Message
from chie.n8n.server import create_server
from chie.n8n.settings import N8nSettings
from chie.settings import load

pytestmark = pytest.mark.req("AG-9")
Json = dict[str, Any]

REJECTED = str(Message("agents.call_rejected"))
CODE = "n8n-nodes-base.code"
REAL = "本番 Code"
YES = (True, "true", "TRUE", "True", "yes", "YES", "on", "t", "y", "1", 1, 1.0)
NO = (False, "false", "no", "off", "0", 0, None)
NEITHER: tuple[Any, ...] = ("maybe", 2, "", " ", [], {}, [True], {"value": True})


@pytest.fixture
def fake() -> Iterator[FakeN8n]:
    with FakeN8n() as server:
        yield server


@pytest.fixture
def servers(fake: FakeN8n, tmp_path: Path) -> dict[str, Server]:
    settings = N8nSettings(
        url=fake.url, api_key=SecretStr(KEY), mcp_token=SecretStr(TOKEN), home=tmp_path / "n8n", file_roots=[tmp_path]
    )
    return {"knowledge": create_knowledge(), "n8n": create_server(settings)}


def spellings(name: str) -> list[str]:
    """Names that a model might use; which of them a tool accepts is for the tool to say."""
    snake = name if "_" in name else "".join(f"_{one.lower()}" if one.isupper() else one for one in name)
    forms = (name, snake, to_camel(snake), to_pascal(snake), snake.replace("_", "-"), snake.replace("_", ""))
    return list(dict.fromkeys([*forms, *(form.upper() for form in forms), f" {name}", f"{name}\u200b"]))


def values(name: str, old_note: str) -> list[Any]:
    if name == "active":
        return [*YES, *NO, *NEITHER]
    chosen = [REAL] if name == "run_for_real" else [old_note]
    others: tuple[Any, ...] = (chosen[0], {"0": chosen[0]}, [chosen], [None], [], "[]", None, "null", True)
    return [chosen, json.dumps(chosen), f" {json.dumps(chosen)} ", *others]


async def destructive_arguments(servers: dict[str, Server]) -> list[tuple[str, str, str]]:
    """Server, tool and argument."""
    return [
        (server, tool.name, name)
        for server, mcp in servers.items()
        for tool in await mcp.list_tools()
        for name in (tool.meta or {}).get(DESTRUCTIVE_ARGUMENTS_META, ())
    ]


class Effects:
    """Calls of tools that only add, and whether one has done more than that."""

    def __init__(self, servers: dict[str, Server], fake: FakeN8n) -> None:
        self._servers = servers
        self._fake = fake
        self.workflow = failing(fake, node(REAL, CODE, parameters={"fail": "x"}))

    async def old_note(self) -> str:
        return str((await self._call("knowledge", "save_knowledge", {"content": "古い / old"}))[0]["id"])

    def arguments(self, tool: str) -> Json:
        if tool == "rehearse_change":
            return {"id": self.workflow, "patch": parameters(REAL)}
        return order_flow() if tool == "create_workflow" else {"content": "新しい / new"}

    async def of(self, server: str, tool: str, arguments: Json, old_note: str) -> bool | None:
        """None if the tool rejects the arguments."""
        self._fake.runner.ran.clear()
        result, failed = await self._call(server, tool, arguments)
        if failed:
            return None
        if tool == "save_knowledge":
            old, _ = await self._call("knowledge", "get_knowledge", {"id": old_note})
            await self._call("knowledge", "delete_knowledge", {"id": result["id"]})
            return bool(old.get("superseded_by"))
        if tool == "create_workflow":
            return bool(self._fake.workflows.pop(result["id"])["active"])
        return REAL in self._fake.runner.ran

    async def _call(self, server: str, tool: str, arguments: Json) -> tuple[Json, bool]:
        async with Client(self._servers[server]) as client:
            result = await client.call_tool_mcp(tool, arguments)
        found = result.structured_content or json.loads(getattr(result.content[0], "text", "null"))
        return found, bool(result.is_error)


@asynccontextmanager
async def toolbox_of(servers: dict[str, Server]) -> AsyncIterator[Toolbox]:
    async with open_agents(load(ChatSettings), servers) as agents:
        await agents.toolbox.initialize_servers(servers)
        yield agents.toolbox


async def test_every_accepted_spelling_of_every_destructive_argument_asks(
    servers: dict[str, Server], fake: FakeN8n
) -> None:
    effects = Effects(servers, fake)
    old_note = await effects.old_note()
    accepted: dict[str, int] = {}
    async with toolbox_of(servers) as toolbox:
        toolset = toolbox.toolset()
        tools = {tool.original: tool for tool in toolset.tools()}
        for server, name, argument in await destructive_arguments(servers):
            assert argument in tools[name].schema["properties"], "the chat looks for the name of the schema"
            for spelling, value in product(spellings(argument), values(argument, old_note)):
                arguments = {**effects.arguments(name), spelling: value}
                effect = await effects.of(server, name, arguments, old_note)
                found = await toolset.normalized(tools[name], arguments)
                if effect is None:
                    assert isinstance(found, Outcome), (name, spelling, value)
                    assert found.code
                    continue
                assert not isinstance(found, Outcome), (name, spelling, value)
                assert tools[name].needs_approval(found) is effect, (name, spelling, value)
                assert await toolset.normalized(tools[name], found) == found
                assert await effects.of(server, name, found, old_note) is effect, "the call that is sent is the same"
                accepted[name] = accepted.get(name, 0) + effect
    assert accepted.keys() == {"create_workflow", "rehearse_change", "save_knowledge"}
    assert all(accepted.values()), accepted


WRAPPED = ("arguments", "args", "input", "params", "parameters", "kwargs")


@pytest.mark.parametrize("as_text", [False, True])
async def test_arguments_inside_other_arguments_are_rejected(
    servers: dict[str, Server], fake: FakeN8n, as_text: bool
) -> None:
    effects = Effects(servers, fake)
    old_note = await effects.old_note()
    async with toolbox_of(servers) as toolbox:
        toolset = toolbox.toolset()
        tools = {tool.original: tool for tool in toolset.tools()}
        for server, name, argument in await destructive_arguments(servers):
            inner: Json = {argument: values(argument, old_note)[0]}
            for wrapper in WRAPPED:
                value = json.dumps(inner) if as_text else inner
                for arguments in ({wrapper: value}, {**effects.arguments(name), wrapper: value}):
                    assert isinstance(await toolset.normalized(tools[name], arguments), Outcome)
                    assert await effects.of(server, name, arguments, old_note) is None


@pytest.mark.parametrize("pair", [("run_for_real", "runForReal"), ("runForReal", "run_for_real")])
async def test_an_argument_in_two_spellings_is_rejected(
    servers: dict[str, Server], fake: FakeN8n, pair: tuple[str, str]
) -> None:
    effects = Effects(servers, fake)
    async with toolbox_of(servers) as toolbox:
        toolset = toolbox.toolset()
        [tool] = [one for one in toolset.tools() if one.original == "rehearse_change"]
        arguments = {**effects.arguments(tool.original), pair[0]: [], pair[1]: [REAL]}
        assert isinstance(await toolset.normalized(tool, arguments), Outcome)
        assert await effects.of("n8n", tool.original, arguments, "") is None


@pytest.fixture
def model() -> Iterator[OpenAIServer]:
    with OpenAIServer() as server:
        yield server


@pytest.fixture
async def chat(
    servers: dict[str, Server], model: OpenAIServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> AsyncIterator[httpx2.AsyncClient]:
    monkeypatch.setenv("OPENAI_BASE_URL", model.base_url)
    agents = open_agents(load(ChatSettings), servers)
    app = create_app(servers, agents, chat=ChatModule(sqlite_url(tmp_path)), page=NO_PAGE)
    async with serving(app) as address, httpx2.AsyncClient(base_url=address, timeout=60) as client:
        yield client


def rehearsal(effects: Effects) -> Json:
    return {**effects.arguments("rehearse_change"), "runForReal": json.dumps([REAL])}


@pytest.mark.parametrize("api", ["chat/completions", "responses"])
@pytest.mark.parametrize("tool", ["rehearse_change", "save_knowledge"])
async def test_where_nobody_can_be_asked_the_call_is_rejected(
    chat: httpx2.AsyncClient, servers: dict[str, Server], model: OpenAIServer, fake: FakeN8n, api: str, tool: str
) -> None:
    effects = Effects(servers, fake)
    old_note = await effects.old_note()
    saving = {"content": "新しい", "supersedes": [old_note]}
    arguments = rehearsal(effects) if tool == "rehearse_change" else saving
    model.script.extend([use(Use(tool, json.dumps(arguments))), say("終わりました")])
    asked = {"input": "直して"} if api == "responses" else {"messages": [{"role": "user", "content": "直して"}]}
    answer = await chat.post(f"/v1/{api}", json={"model": "assistant", **asked})
    assert answer.status_code == 200, answer.text
    [(_, result)] = model.results(model.seen[-1])
    assert result == REJECTED
    assert fake.runner.ran == []
    assert [note["id"] for note in (await chat.get("/api/knowledge")).json()["notes"]] == [old_note]


@pytest.mark.parametrize("approved", [True, False])
async def test_the_page_asks_about_what_the_tool_would_read(
    chat: httpx2.AsyncClient, servers: dict[str, Server], model: OpenAIServer, fake: FakeN8n, approved: bool
) -> None:
    model.script.extend([use(Use("rehearse_change", json.dumps(rehearsal(Effects(servers, fake))), "c1")), say("done")])
    async with asking(chat, "直して", agent_id="assistant") as reader:
        call, told = await reader.take(2)
        assert (call.data["approval"], call.data["arguments"]["run_for_real"]) == ("required", [REAL])
        assert [note["code"] for note in told.data["preview"]["notes"]] == ["n8n.preview_runs_for_real"]
        assert fake.runner.ran == []
        path = f"/api/chat/{reader.message_id}/approve"
        await chat.post(path, json={"id": call.data["id"], "approved": approved})
        await reader.rest()
    assert fake.runner.ran == ([REAL] if approved else [])


async def test_a_view_asks_too(chat: httpx2.AsyncClient, servers: dict[str, Server], fake: FakeN8n) -> None:
    arguments = rehearsal(Effects(servers, fake))
    body = {"tool": "rehearse_change", "arguments": arguments}
    refused = await chat.post("/api/mcp/servers/n8n/view/call", json=body)
    assert (refused.status_code, refused.json()["code"]) == (409, "toolbox.view_call_needs_approval")
    assert fake.runner.ran == []
    wrong = await chat.post("/api/mcp/servers/n8n/view/call", json={**body, "arguments": {**arguments, "args": {}}})
    assert wrong.json()["isError"] is True
    done = await chat.post("/api/mcp/servers/n8n/view/call", json={**body, "approved": True})
    assert (done.status_code, fake.runner.ran) == (200, [REAL])


async def test_saving_a_note_that_replaces_others_names_them(chat: httpx2.AsyncClient, model: OpenAIServer) -> None:
    old = (await chat.post("/api/knowledge", json={"content": "上限は 10", "title": "接続数"})).json()["id"]
    arguments = {"content": "上限は 20", "supersedes": [old], "title": None}
    model.script.extend([use(Use("save_knowledge", json.dumps(arguments), "c1")), say("done")])
    async with asking(chat, "直して", agent_id="assistant") as reader:
        call, told = await reader.take(2)
        assert call.data["approval"] == "required"
        preview = told.data["preview"]
        assert ([one["after"] for one in preview["changes"]], preview["danger"]) == (["接続数"], "change")
        await chat.post(f"/api/chat/{reader.message_id}/approve", json={"id": call.data["id"], "approved": False})
        await reader.rest()
    assert [note["id"] for note in (await chat.get("/api/knowledge")).json()["notes"]] == [old]
    model.script.extend([use(Use("save_knowledge", json.dumps({"content": "別の話"}), "c2")), say("done")])
    async with asking(chat, "保存して", agent_id="assistant") as reader:
        assert [event.event for event in await reader.rest()] == ["tool_call", "tool_result", "message", "done"]
