"""Which agent answers a question that names none, which one the page selects, and what its tools cost."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import httpx2
import pytest
from tests.fakes.chat import NO_PAGE, serving, sqlite_url
from tests.fakes.model_server import say
from tests.fakes.openai_server import OpenAIServer
from tests.fakes.waiting import until
from tests.fakes.workbench import Witness, create_workbench

from chie.app import create_app
from chie.chat.agents.assembly import open_agents
from chie.chat.module import ChatModule
from chie.chat.settings import ChatSettings
from chie.settings import load


@asynccontextmanager
async def opened(folder: Path) -> AsyncIterator[httpx2.AsyncClient]:
    agents = open_agents(load(ChatSettings), {"knowledge": create_workbench(Witness(), "knowledge")})
    app = create_app({}, agents, chat=ChatModule(sqlite_url(folder)), page=NO_PAGE)
    async with serving(app) as address, httpx2.AsyncClient(base_url=address, timeout=60) as client:
        yield client


@pytest.mark.req("CH-2-2", "CH-6")
async def test_question_without_an_agent_goes_to_default_chat_and_sends_no_tools(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("CHIE_TITLES", "0")
    with OpenAIServer(say("はい"), say("yes")) as model:
        monkeypatch.setenv("OPENAI_BASE_URL", model.base_url)
        async with opened(tmp_path) as client:
            asked = await client.post("/api/chat/stream", json={"message": "手順は？"})
            session = (await client.get(f"/api/sessions/{asked.headers['x-chie-session']}")).json()
            await client.post("/api/chat/stream", json={"message": "and?", "agent_id": "assistant"})
    assert (session["current_agent_id"], session["messages"][1]["content"]) == ("default-chat", "はい")
    plain, with_tools = model.seen
    assert "tools" not in plain
    assert with_tools["tools"]


async def test_page_learns_what_the_tools_of_each_agent_cost(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with OpenAIServer() as model:
        monkeypatch.setenv("OPENAI_BASE_URL", model.base_url)
        async with opened(tmp_path) as client:

            async def known() -> bool:
                found = (await client.get("/api/agents")).json()
                tokens = {agent["agent_id"]: agent["tool_tokens"] for agent in found["agents"]}
                assert (found["default_id"], found["preselected_id"]) == ("default-chat", "assistant")
                assert tokens["default-chat"] is None
                return tokens["assistant"] is not None and 100 < tokens["assistant"] < 5_000

            await until(known)  # the server is connected meanwhile


@pytest.mark.parametrize(("chosen", "selected"), [("notes", "notes"), ("unknown", "default-chat")])
async def test_operator_chooses_the_agent_of_the_page(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, chosen: str, selected: str
) -> None:
    monkeypatch.setenv("CHIE_PAGE_AGENT", chosen)
    with OpenAIServer() as model:
        monkeypatch.setenv("OPENAI_BASE_URL", model.base_url)
        async with opened(tmp_path) as client:
            assert (await client.get("/api/agents")).json()["preselected_id"] == selected
