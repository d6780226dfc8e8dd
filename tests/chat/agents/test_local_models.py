"""LM Studio and Ollama are used as soon as they respond, without configuration and without a restart."""

from collections.abc import AsyncIterator
from contextlib import ExitStack
from typing import Any

import httpx2
import pytest
from tests.fakes.chat import NO_PAGE, serving
from tests.fakes.model_server import say
from tests.fakes.openai_server import OpenAIServer
from tests.fakes.sse import parse, texts

from chie.app import create_app
from chie.chat.agents.assembly import open_agents
from chie.chat.models import openai_endpoint
from chie.chat.settings import ChatSettings
from chie.settings import load
from chie.setup import endpoints, local_servers


@pytest.fixture
def lm_studio() -> OpenAIServer:
    return stopped(OpenAIServer(say("from LM Studio"), models=("gemma-3",)))


@pytest.fixture
def ollama() -> OpenAIServer:
    return stopped(OpenAIServer(say("Ollama から"), say("again"), models=("nomic-embed-text", "qwen3:8b")))


def stopped(server: OpenAIServer) -> OpenAIServer:
    """With a port of its own, at which nothing responds yet."""
    with server:
        return server


@pytest.fixture
async def client(
    monkeypatch: pytest.MonkeyPatch, lm_studio: OpenAIServer, ollama: OpenAIServer
) -> AsyncIterator[httpx2.AsyncClient]:
    monkeypatch.setattr(openai_endpoint, "CACHE_SECONDS", 0.0)
    monkeypatch.setattr(openai_endpoint, "ERROR_CACHE_SECONDS", 0.0)
    monkeypatch.setattr(local_servers, "LM_STUDIO", lm_studio.base_url)
    monkeypatch.setattr(local_servers, "OLLAMA", ollama.base_url)
    app = create_app({}, open_agents(load(ChatSettings), {}), page=NO_PAGE)
    async with serving(app) as address, httpx2.AsyncClient(base_url=address, timeout=60) as client:
        yield client


async def default_chat(client: httpx2.AsyncClient) -> dict[str, Any]:
    answer = (await client.get("/api/agents")).json()
    return next(agent for agent in answer["agents"] if agent["agent_id"] == "default-chat")


async def states(client: httpx2.AsyncClient) -> dict[str, str]:
    answer = (await client.get("/api/setup")).json()
    return {endpoint["id"]: endpoint["state"] for endpoint in answer["endpoints"]}


async def ask(client: httpx2.AsyncClient, **fields: str) -> str:
    return texts(parse((await client.post("/api/chat/stream", json={"message": "こんにちは", **fields})).text))


@pytest.mark.req("CH-2")
async def test_ollama_that_starts_later_answers_at_once(client: httpx2.AsyncClient, ollama: OpenAIServer) -> None:
    before = await default_chat(client)
    assert (before["available"], before["reason_code"]) == (False, "models.no_local_server")
    assert ollama.base_url in before["reason"]
    assert (await states(client))["ollama"] == "missing"
    with ollama:
        assert (await states(client))["ollama"] == "found"
        now = await default_chat(client)
        assert (now["available"], now["model"]) == (True, "qwen3:8b")
        assert await ask(client) == "Ollama から"
    assert ollama.seen[0]["model"] == "qwen3:8b"


async def test_answer_needs_no_list_of_agents_before(client: httpx2.AsyncClient, ollama: OpenAIServer) -> None:
    with ollama:
        assert await ask(client, agent_id="default-chat") == "Ollama から"


async def test_server_that_stops_is_replaced_by_the_other(
    client: httpx2.AsyncClient, lm_studio: OpenAIServer, ollama: OpenAIServer
) -> None:
    with ollama, ExitStack() as first:
        first.enter_context(lm_studio)
        assert await ask(client, agent_id="default-chat") == "from LM Studio"
        first.close()
        assert await ask(client, agent_id="default-chat") == "Ollama から"
        assert (await default_chat(client))["model"] == "qwen3:8b"
    assert (lm_studio.seen[0]["model"], ollama.seen[0]["model"]) == ("gemma-3", "qwen3:8b")


async def test_server_without_a_chat_model_gives_way_to_one_that_has_some(
    client: httpx2.AsyncClient, lm_studio: OpenAIServer, ollama: OpenAIServer
) -> None:
    lm_studio.models = ("text-embedding-nomic",)
    with lm_studio, ollama:
        assert (await default_chat(client))["model"] == "qwen3:8b"
    with lm_studio:
        assert (await default_chat(client))["reason_code"] == "models.no_chat_model"


async def test_ollama_is_found_without_the_sdk(
    client: httpx2.AsyncClient, ollama: OpenAIServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(endpoints, "find_spec", lambda _: None)
    with ollama:
        answer = (await client.get("/api/setup")).json()
    (found,) = [endpoint for endpoint in answer["endpoints"] if endpoint["id"] == "ollama"]
    assert (found["state"], found["models"]) == ("found", [])
    assert "openai" in found["install"]


async def test_another_host_can_be_searched(
    monkeypatch: pytest.MonkeyPatch, lm_studio: OpenAIServer, ollama: OpenAIServer
) -> None:
    """In a container, the machine outside has the servers: the compose file names it."""
    monkeypatch.setenv("CHIE_MODEL_HOST", "localhost")
    monkeypatch.setattr(local_servers, "LM_STUDIO", lm_studio.base_url)
    monkeypatch.setattr(local_servers, "OLLAMA", ollama.base_url)
    app = create_app({}, open_agents(load(ChatSettings), {}), page=NO_PAGE)
    with ollama:
        async with serving(app) as address, httpx2.AsyncClient(base_url=address, timeout=60) as client:
            assert (await default_chat(client))["available"] is True
            found = (await client.get("/api/setup")).json()["endpoints"]
            assert await ask(client, agent_id="default-chat") == "Ollama から"
    addresses = {endpoint["id"]: endpoint["address"] for endpoint in found if endpoint["state"] == "found"}
    assert addresses == {"ollama": ollama.base_url.replace("127.0.0.1", "localhost")}
