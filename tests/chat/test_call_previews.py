"""A call that waits for approval says in words what it would do, to the user who is asked and in the history."""

import asyncio
import json
from collections.abc import AsyncIterator, Iterator
from pathlib import Path
from typing import Any

import httpx2
import pytest
from pydantic import SecretStr
from tests.fakes.chat import NO_PAGE, serving, sqlite_url
from tests.fakes.model_server import Use, say, use
from tests.fakes.n8n import KEY, FakeN8n
from tests.fakes.openai_server import OpenAIServer
from tests.fakes.sse import asking, following
from tests.n8n.caller import order_flow

from chie.app import create_app
from chie.chat.agents.assembly import open_agents
from chie.chat.module import ChatModule
from chie.chat.settings import ChatSettings
from chie.knowledge.server import create_server as create_knowledge
from chie.messages.catalogue import Message
from chie.n8n import change_preview
from chie.n8n.server import create_server
from chie.n8n.settings import N8nSettings
from chie.settings import load

pytestmark = pytest.mark.req("AG-9")
TITLE = "3月5日の障害 / Outage of 5 March"
Json = dict[str, Any]


@pytest.fixture
def fake() -> Iterator[FakeN8n]:
    with FakeN8n() as server:
        yield server


@pytest.fixture
def model() -> Iterator[OpenAIServer]:
    with OpenAIServer() as server:
        yield server


@pytest.fixture
async def chat(
    fake: FakeN8n, model: OpenAIServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> AsyncIterator[httpx2.AsyncClient]:
    monkeypatch.setenv("OPENAI_BASE_URL", model.base_url)
    servers = {
        "knowledge": create_knowledge(),
        "n8n": create_server(N8nSettings(url=fake.url, api_key=SecretStr(KEY), file_roots=[tmp_path])),
    }
    agents = open_agents(load(ChatSettings), servers)
    app = create_app(servers, agents, chat=ChatModule(sqlite_url(tmp_path)), page=NO_PAGE)
    async with serving(app) as address, httpx2.AsyncClient(base_url=address, timeout=60) as client:
        yield client


async def save(chat: httpx2.AsyncClient, **fields: object) -> str:
    saved = await chat.post(
        "/api/knowledge", json={"title": TITLE, "content": "原因は DNS。\nFixed by hand.", **fields}
    )
    assert saved.status_code in (200, 201), saved.text
    return str(saved.json()["id"])


async def previewed(
    chat: httpx2.AsyncClient, model: OpenAIServer, tool: str, arguments: Json, *, approved: bool = False
) -> Json:
    """The preview, which the stream, a second reader and the stored answer must agree about."""
    model.script.extend([use(Use(tool, json.dumps(arguments), "c1")), say("終わりました")])
    async with asking(chat, "片付けて", agent_id="assistant") as reader:
        call, told = await reader.take(2)
        assert (call.event, call.data["approval"]) == ("tool_call", "required")
        assert (told.event, told.data["id"]) == ("tool_preview", call.data["id"])
        async with following(chat, reader.message_id) as other:
            assert [event.data for event in await other.take(2)] == [call.data, told.data]
        body = {"id": call.data["id"], "approved": approved}
        await chat.post(f"/api/chat/{reader.message_id}/approve", json=body)
        await reader.rest()
    session = (await chat.get(f"/api/sessions/{reader.session_id}")).json()
    stored = session["messages"][-1]["parts"][0]
    assert stored["preview"] == told.data["preview"]
    preview: Json = told.data["preview"]
    assert preview["text"] == str(_message(preview))
    return preview


def _message(preview: Json) -> Message:
    return Message(preview["code"], **{key: _param(value) for key, value in preview["params"].items()})


def _param(value: Any) -> Any:
    return _message(value) if isinstance(value, dict) else value


async def test_deleting_a_note_names_it(chat: httpx2.AsyncClient, model: OpenAIServer) -> None:
    note = await save(chat)
    preview = await previewed(chat, model, "delete_knowledge", {"id": note}, approved=True)
    assert preview["text"] == f"Delete the note “{TITLE}”"
    assert _message(preview).text("ja") == f"メモ「{TITLE}」を削除"
    assert preview["danger"] == "delete"
    assert [note["code"] for note in preview["notes"]] == ["knowledge.preview_trash"]
    assert (await chat.get(f"/api/knowledge/{note}")).status_code == 404


async def test_changing_a_note_shows_what_changes(chat: httpx2.AsyncClient, model: OpenAIServer) -> None:
    note = await save(chat, tags=["dns"])
    arguments = {"id": note, "content": "原因は DNS。\nFixed by a script.", "tags": ["dns", "障害"], "private": True}
    preview = await previewed(chat, model, "update_knowledge", arguments)
    assert (preview["text"], preview["danger"]) == (f"Change the note “{TITLE}”", "change")
    assert [(one["code"], one["before"], one["after"]) for one in preview["changes"]] == [
        ("knowledge.preview_content", "原因は DNS。\nFixed by hand.", "原因は DNS。\nFixed by a script."),
        ("knowledge.preview_tags", "dns", "dns\n障害"),
        ("knowledge.preview_private", None, None),
    ]


async def test_a_long_note_is_shown_around_what_changes(chat: httpx2.AsyncClient, model: OpenAIServer) -> None:
    lines = [f"{number} 行目の内容です" for number in range(3_000)]
    note = await save(chat, content="\n".join(lines))
    lines[1_500] = "ここだけ違う"
    preview = await previewed(chat, model, "update_knowledge", {"id": note, "content": "\n".join(lines)})
    [change] = preview["changes"]
    assert change["after"].split("\n") == ["…", *lines[1_497:1_504], "…"]
    assert len(json.dumps(preview)) < 5_000


@pytest.mark.parametrize("name", ["請求書 Invoices", "a\u202eb\nDelete nothing " + "x" * 400], ids=["plain", "hostile"])
async def test_changing_a_workflow_shows_its_name_and_fields(
    chat: httpx2.AsyncClient, model: OpenAIServer, fake: FakeN8n, name: str
) -> None:
    workflow = fake.add_workflow(**{**order_flow(), "name": name}, active=True)
    first = workflow["nodes"][0]["name"]
    operations = [
        {"op": "setField", "node": first, "path": "parameters.path", "value": "注文-2"},
        {
            "op": "addNode",
            "node": {"name": "記録", "type": "n8n-nodes-base.noOp", "position": [0, 0], "parameters": {}},
        },
    ]
    preview = await previewed(chat, model, "patch_workflow", {"id": workflow["id"], "operations": operations})
    shown = preview["params"]["name"]
    assert (len(shown) <= 120, "\n" in shown, "\u202e" in shown) == (True, False, False)
    assert preview["text"] == f"Change the workflow “{shown}”: node “{first}” changed, node “記録” added"
    assert preview["danger"] == "change"
    assert [note["code"] for note in preview["notes"]] == ["n8n.preview_live"]
    field = preview["changes"][0]
    assert (field["text"], field["after"]) == (f"“{first}” · parameters.path", "注文-2")
    assert fake.workflows[workflow["id"]]["nodes"] == workflow["nodes"], "nothing was changed"


async def test_updating_deleting_publishing_and_restoring(
    chat: httpx2.AsyncClient, model: OpenAIServer, fake: FakeN8n
) -> None:
    workflow = fake.add_workflow(**order_flow())
    name = workflow["name"]

    async def told(tool: str, **arguments: object) -> tuple[str, str]:
        preview = await previewed(chat, model, tool, {"id": workflow["id"], **arguments})
        return preview["text"], preview["danger"]

    renamed = ("Change the workflow “" + name + "”: renamed to “請求”", "change")
    assert await told("update_workflow", name="請求") == renamed
    assert await told("delete_workflow") == (f"Delete the workflow “{name}” and its executions", "delete")
    assert await told("publish_workflow") == (f"Publish the workflow “{name}”", "change")
    await previewed(chat, model, "update_workflow", {"id": workflow["id"], "name": "請求"}, approved=True)
    [backup] = (await chat.get(f"/api/n8n/workflows/{workflow['id']}/backups")).json()["backups"]
    preview = await previewed(chat, model, "restore_workflow", {"backup": backup["backup"]})
    assert preview["text"] == f"Restore an earlier version of the workflow “請求”: renamed to “{name}”"
    assert preview["moment"] == backup["time"]


async def test_a_slow_n8n_delays_nothing(
    chat: httpx2.AsyncClient, model: OpenAIServer, fake: FakeN8n, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked = asyncio.Event()

    async def never(*_: object) -> None:
        asked.set()
        await asyncio.Event().wait()

    workflow = fake.add_workflow(**order_flow())
    monkeypatch.setattr(change_preview, "read_workflow", never)
    model.script.extend([use(Use("delete_workflow", json.dumps({"id": workflow["id"]}), "c1")), say("done")])
    async with asking(chat, "消して", agent_id="assistant") as reader:
        call = await reader.event()
        assert call.data["preview"]["text"] == "Run “Delete Workflow” of the MCP server n8n"
        assert call.data["preview"]["danger"] == "delete"
        await asked.wait()
        await chat.post(f"/api/chat/{reader.message_id}/approve", json={"id": call.data["id"], "approved": True})
        assert [event.event for event in await reader.rest()] == ["tool_result", "message", "done"]
    assert fake.workflows == {}


async def test_a_workflow_that_cannot_be_read_is_named_by_its_id(chat: httpx2.AsyncClient, model: OpenAIServer) -> None:
    preview = await previewed(chat, model, "delete_workflow", {"id": "gone"})
    assert preview["text"] == "Delete the workflow “gone” and its executions"
    assert "n8n.preview_unread" in [note["code"] for note in preview["notes"]]
