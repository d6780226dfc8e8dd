"""A model that calls n8n's tools through the chat: whatever runs something or makes it live waits for the user."""

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
from tests.fakes.sse import asking
from tests.n8n.caller import order_flow

from chie.app import create_app
from chie.chat.agents.assembly import open_agents
from chie.chat.module import ChatModule
from chie.chat.settings import ChatSettings
from chie.messages.catalogue import Message
from chie.n8n.server import create_server
from chie.n8n.settings import N8nSettings
from chie.settings import load

ASSISTANT = "assistant"
REJECTED = str(Message("agents.call_rejected"))
ALLOW_LIST = {"CHIE_APPROVED_TOOLS": "n8n/create_workflow"}


@pytest.fixture
def model() -> Iterator[OpenAIServer]:
    with OpenAIServer() as server:
        yield server


@pytest.fixture
def variables() -> dict[str, str]:
    return {}


@pytest.fixture
async def chat(
    fake: FakeN8n, model: OpenAIServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, variables: dict[str, str]
) -> AsyncIterator[httpx2.AsyncClient]:
    for name, value in {"OPENAI_BASE_URL": model.base_url, **variables}.items():
        monkeypatch.setenv(name, value)
    server = create_server(N8nSettings(url=fake.url, api_key=SecretStr(KEY), file_roots=[tmp_path]))
    agents = open_agents(load(ChatSettings), {"n8n": server})
    app = create_app({"n8n": server}, agents, chat=ChatModule(sqlite_url(tmp_path)), page=NO_PAGE)
    async with serving(app) as address, httpx2.AsyncClient(base_url=address, timeout=60) as client:
        yield client


async def complete(chat: httpx2.AsyncClient, model: OpenAIServer, tool: str, arguments: dict[str, Any]) -> str:
    """The result of a call over `/v1`, where nobody can be asked."""
    model.script.extend([use(Use(tool, json.dumps(arguments))), say("終わりました")])
    body = {"model": ASSISTANT, "messages": [{"role": "user", "content": "注文 flow を作って"}]}
    answer = await chat.post("/v1/chat/completions", json=body)
    assert answer.status_code == 200, answer.text
    [(_, result)] = model.results(model.seen[-1])
    return result


@pytest.mark.parametrize("active", [True, "true", "yes", 1], ids=repr)
async def test_publishing_creation_is_rejected_where_nobody_is_asked(
    chat: httpx2.AsyncClient, model: OpenAIServer, fake: FakeN8n, active: object
) -> None:
    assert await complete(chat, model, "create_workflow", {**order_flow(), "active": active}) == REJECTED
    assert fake.workflows == {}


@pytest.mark.parametrize("rest", [{}, {"active": None}, {"active": False}], ids=repr)
async def test_unpublished_creation_needs_no_approval(
    chat: httpx2.AsyncClient, model: OpenAIServer, fake: FakeN8n, rest: dict[str, Any]
) -> None:
    result = await complete(chat, model, "create_workflow", {**order_flow(), **rest})
    assert json.loads(result)["active"] is False
    assert [workflow["active"] for workflow in fake.workflows.values()] == [False]


async def test_creation_from_a_file_never_publishes(
    chat: httpx2.AsyncClient, model: OpenAIServer, fake: FakeN8n, tmp_path: Path
) -> None:
    file = tmp_path / "注文.json"
    file.write_text(json.dumps({**order_flow(), "active": True}), encoding="utf-8")
    await complete(chat, model, "create_workflow_from_file", {"filePath": str(file)})
    assert [workflow["active"] for workflow in fake.workflows.values()] == [False]


async def test_retry_is_rejected_where_nobody_is_asked(
    chat: httpx2.AsyncClient, model: OpenAIServer, fake: FakeN8n
) -> None:
    failed = fake.add_execution(workflowId="wf", status="error")
    assert await complete(chat, model, "retry_execution", {"id": str(failed["id"])}) == REJECTED
    assert len(fake.executions) == 1


@pytest.mark.parametrize("approved", [True, False])
async def test_publishing_creation_waits_for_the_user(
    chat: httpx2.AsyncClient, model: OpenAIServer, fake: FakeN8n, approved: bool
) -> None:
    arguments = {**order_flow(), "active": True}
    model.script.extend([use(Use("create_workflow", json.dumps(arguments), "c1")), say("done")])
    async with asking(chat, "publish it", agent_id=ASSISTANT) as reader:
        call = await reader.event()
        assert (call.data["approval"], call.data["arguments"]["active"], fake.workflows) == ("required", True, {})
        path = f"/api/chat/{reader.message_id}/approve"
        await chat.post(path, json={"id": call.data["id"], "approved": approved})
        await reader.rest()
    assert [workflow["active"] for workflow in fake.workflows.values()] == ([True] if approved else [])


@pytest.mark.parametrize("variables", [ALLOW_LIST])
async def test_allow_list_covers_every_argument(chat: httpx2.AsyncClient, model: OpenAIServer, fake: FakeN8n) -> None:
    await complete(chat, model, "create_workflow", {**order_flow(), "active": True})
    assert [workflow["active"] for workflow in fake.workflows.values()] == [True]
