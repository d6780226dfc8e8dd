"""The model of a conversation: chosen, remembered, sent with its parameters, and shown on the answer."""

from collections.abc import AsyncIterator, Iterator
from typing import Any

import httpx2
import pytest
from sqlalchemy import URL
from tests.fakes.anthropic_server import AnthropicServer
from tests.fakes.bedrock_converse import ConverseServer
from tests.fakes.bedrock_models import BedrockModels
from tests.fakes.chat import NO_PAGE, serving
from tests.fakes.model_server import Refuse, say
from tests.fakes.openai_server import OpenAIServer
from tests.fakes.sse import parse, texts
from tests.fakes.waiting import until

from chie.app import create_app
from chie.chat.agents.assembly import open_agents
from chie.chat.models import openai_endpoint
from chie.chat.module import ChatModule
from chie.chat.settings import ChatSettings
from chie.settings import load

pytestmark = pytest.mark.req("AG-5")

MODELS = ("gpt-4o", "o3", "/models/日本語.gguf")


@pytest.fixture
def openai(monkeypatch: pytest.MonkeyPatch) -> Iterator[OpenAIServer]:
    with OpenAIServer(models=MODELS) as server:
        monkeypatch.setenv("OPENAI_BASE_URL", server.base_url)
        yield server


@pytest.fixture
def anthropic(monkeypatch: pytest.MonkeyPatch) -> Iterator[AnthropicServer]:
    with AnthropicServer() as server:
        server.models = ("claude-sonnet-5", "claude-haiku-4-5")
        monkeypatch.setenv("ANTHROPIC_BASE_URL", server.address)
        monkeypatch.setenv("ANTHROPIC_API_KEY", "sk-ant-1")
        yield server


@pytest.fixture
def bedrock(monkeypatch: pytest.MonkeyPatch) -> Iterator[ConverseServer]:
    with BedrockModels() as models, ConverseServer() as server:
        monkeypatch.setenv("AWS_ENDPOINT_URL_BEDROCK", models.url)
        monkeypatch.setenv("AWS_ENDPOINT_URL_BEDROCK_RUNTIME", server.address)
        monkeypatch.setenv("AWS_ACCESS_KEY_ID", "AKIDEXAMPLE")
        monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", "a-long-secret")
        monkeypatch.setenv("AWS_EC2_METADATA_DISABLED", "true")
        yield server


@pytest.fixture
async def client(monkeypatch: pytest.MonkeyPatch, openai: OpenAIServer) -> AsyncIterator[httpx2.AsyncClient]:  # noqa: ARG001
    async with opened(monkeypatch, None) as found:
        yield found


def opened(monkeypatch: pytest.MonkeyPatch, url: URL | None) -> Any:
    return _Opened(monkeypatch, url)


class _Opened:
    """The app with its own agents, which read the environment now."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch, url: URL | None) -> None:
        monkeypatch.setattr(openai_endpoint, "CACHE_SECONDS", 0.0)
        app = create_app({}, open_agents(load(ChatSettings), {}), chat=ChatModule(url), page=NO_PAGE)
        self._serving = serving(app)

    async def __aenter__(self) -> httpx2.AsyncClient:
        self._client = httpx2.AsyncClient(base_url=await self._serving.__aenter__(), timeout=60)
        return self._client

    async def __aexit__(self, *_: object) -> None:
        await self._client.aclose()
        await self._serving.__aexit__(None, None, None)


async def ask(client: httpx2.AsyncClient, message: str = "こんにちは", **fields: object) -> httpx2.Response:
    return await client.post("/api/chat/stream", json={"message": message, "agent_id": "default-chat", **fields})


async def conversation(client: httpx2.AsyncClient, session_id: str) -> dict[str, Any]:
    found: dict[str, Any] = (await client.get(f"/api/sessions/{session_id}")).json()
    return found


def sent(request: dict[str, Any], *names: str) -> dict[str, Any]:
    return {name: request[name] for name in names if name in request}


async def test_choice_is_stored_sent_and_shown(
    both: URL, openai: OpenAIServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    openai.script.extend([say("one"), say("two"), say("three"), say("four")])
    async with opened(monkeypatch, both) as client:
        chosen: dict[str, Any] = {
            "model": "own//models/日本語.gguf",
            "parameters": {"temperature": 0.2, "max_tokens": 50},
        }
        first = await ask(client, **chosen)
        session_id, message_id = first.headers["x-chie-session"], first.headers["x-chie-message"]
        stored = await conversation(client, session_id)
        assert (stored["model"], stored["parameters"]) == (chosen["model"], chosen["parameters"])
        assert [message["model"] for message in stored["messages"]] == [None, "/models/日本語.gguf"]

        await ask(client, session_id=session_id)  # the conversation's model answers again
        await client.post(f"/api/chat/{message_id}/regenerate", json={})
        names = ("model", "temperature", "max_tokens")
        assert [sent(request, *names) for request in openai.seen] == [
            {"model": "/models/日本語.gguf", "temperature": 0.2, "max_tokens": 50}
        ] * 3

        await client.post(f"/api/chat/{message_id}/regenerate", json={"model": "own/gpt-4o"})
        assert sent(openai.seen[3], *names) == {"model": "gpt-4o"}
        changed = await conversation(client, session_id)
        assert (changed["model"], changed["parameters"]) == ("own/gpt-4o", {})
        exported = (await client.get(f"/api/sessions/{session_id}/export")).text
        assert "Model: gpt-4o" in exported
        as_json = (await client.get(f"/api/sessions/{session_id}/export", params={"format": "json"})).json()
        assert (as_json["model"], as_json["messages"][-1]["model"]) == ("own/gpt-4o", "gpt-4o")


async def test_title_is_written_by_the_same_model(client: httpx2.AsyncClient, openai: OpenAIServer) -> None:
    openai.script.append(say("一つ"))
    openai.titles.append(say("題"))
    await ask(client, model="own/o3", parameters={"reasoning_effort": "low"})

    async def titled() -> bool:
        return bool(openai.titled)

    await until(titled)
    assert openai.titled[0]["model"] == openai.seen[0]["model"] == "o3"


async def test_null_is_the_agents_own_model(client: httpx2.AsyncClient, openai: OpenAIServer) -> None:
    openai.script.extend([say("one"), say("two")])
    first = await ask(client, model="own/o3")
    session_id = first.headers["x-chie-session"]
    await ask(client, session_id=session_id, model=None)
    assert [request["model"] for request in openai.seen] == ["o3", "gpt-4o"]
    stored = await conversation(client, session_id)
    assert (stored["model"], stored["messages"][-1]["model"]) == (None, "gpt-4o")


async def test_edited_question_is_answered_by_the_given_model(client: httpx2.AsyncClient, openai: OpenAIServer) -> None:
    openai.script.extend([say("one"), say("two")])
    session_id = (await ask(client)).headers["x-chie-session"]
    question = (await conversation(client, session_id))["messages"][0]["message_id"]
    body = {"message": "別の質問", "model": "own/o3", "parameters": {"reasoning_effort": "high", "max_tokens": 9}}
    assert (await client.post(f"/api/chat/{question}/edit", json=body)).status_code == 200
    # a server on this machine knows the limit by its former name only
    assert sent(openai.seen[1], "model", "reasoning_effort", "max_tokens") == {
        "model": "o3",
        "reasoning_effort": "high",
        "max_tokens": 9,
    }


async def test_claude_takes_an_effort_and_a_length(
    anthropic: AnthropicServer, openai: OpenAIServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    anthropic.script.extend([say("はい"), say("yes")])
    async with opened(monkeypatch, None) as client:
        parameters = {"reasoning_effort": "low", "max_tokens": 700}
        answer = await ask(client, model="anthropic/claude-sonnet-5", parameters=parameters)
        assert texts(parse(answer.text)) == "はい"
        await ask(client, model="anthropic/claude-haiku-4-5", parameters=parameters)
    new, old = anthropic.seen
    names = ("model", "max_tokens", "output_config", "thinking", "temperature")
    assert sent(new, *names) == {
        "model": "claude-sonnet-5",
        "max_tokens": 700,
        "output_config": {"effort": "low"},
        "thinking": {"type": "adaptive", "display": "summarized"},
    }
    assert sent(old, *names) == {
        "model": "claude-haiku-4-5",
        "max_tokens": 2_748,
        "thinking": {"type": "enabled", "budget_tokens": 2_048},
    }
    assert openai.seen == []


async def test_bedrock_takes_the_parameters_of_the_family(
    bedrock: ConverseServer,
    openai: OpenAIServer,  # noqa: ARG001
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    bedrock.script.extend([say("はい"), say("yes")])
    async with opened(monkeypatch, None) as client:
        effort = {"reasoning_effort": "medium", "max_tokens": 10}
        await ask(client, model="bedrock/global.anthropic.claude-sonnet-5", parameters=effort)
        await ask(client, model="bedrock/amazon.nova-lite-v1:0", parameters={"temperature": 0.5})
    claude, nova = bedrock.seen
    assert (claude["inferenceConfig"], claude["outputConfig"]) == ({"maxTokens": 10}, {"effort": "medium"})
    thinking = {"type": "adaptive", "display": "summarized"}
    assert claude["additionalModelRequestFields"] == {"thinking": thinking}
    assert nova["inferenceConfig"] == {"temperature": 0.5}
    assert not {"outputConfig", "additionalModelRequestFields"} & nova.keys()


@pytest.mark.parametrize(
    ("fields", "code"),
    [
        ({"model": "own/o3", "parameters": {"temperature": 1}}, "models.parameter_not_taken"),
        ({"model": "own/gpt-4o", "parameters": {"reasoning_effort": "low"}}, "models.parameter_not_taken"),
        ({"model": "own/gpt-9"}, "models.choice_missing"),
        ({"model": "gone/gpt-4o"}, "models.endpoint_missing"),
        ({"agent_id": "notes", "model": "own/gpt-4o"}, "agents.model_fixed"),
    ],
)
async def test_choice_that_cannot_be_used_stores_nothing(
    client: httpx2.AsyncClient, fields: dict[str, Any], code: str
) -> None:
    response = await ask(client, **fields)
    assert (response.status_code in (400, 404), response.json()["code"]) == (True, code)
    assert (await client.get("/api/sessions")).json()["sessions"] == []


async def test_model_that_has_vanished_says_to_choose_another(client: httpx2.AsyncClient, openai: OpenAIServer) -> None:
    openai.script.append(say("one"))
    session_id = (await ask(client, model="own/o3")).headers["x-chie-session"]
    openai.models = ("gpt-4o",)
    response = await ask(client, session_id=session_id)
    assert response.status_code == 404
    assert "Choose another model" in response.json()["detail"]
    assert len((await conversation(client, session_id))["messages"]) == 2


async def test_stored_parameters_that_another_model_does_not_take_are_left_out(
    client: httpx2.AsyncClient, openai: OpenAIServer
) -> None:
    openai.script.extend([say("one"), say("two")])
    session_id = (await ask(client, parameters={"temperature": 0.1})).headers["x-chie-session"]
    openai.models = ("o3",)
    await ask(client, session_id=session_id)
    assert [sent(one, "model", "temperature") for one in openai.seen] == [
        {"model": "gpt-4o", "temperature": 0.1},
        {"model": "gpt-4o", "temperature": 0.1},  # the agent keeps the model it found
    ]


async def test_refused_parameter_is_told_in_words(client: httpx2.AsyncClient, openai: OpenAIServer) -> None:
    openai.script.append(Refuse(400, "Unsupported value: 'temperature' does not support 0.2 with this model."))
    answer = await ask(client, parameters={"temperature": 0.2})
    [error] = [one for one in parse(answer.text) if one.event == "error"]
    assert error.data["code"] == "models.parameter_refused"
    assert "temperature" in error.data["error"]


async def test_agents_say_whether_their_model_can_be_chosen(client: httpx2.AsyncClient) -> None:
    agents = {agent["agent_id"]: agent for agent in (await client.get("/api/agents")).json()["agents"]}
    assert [one["name"] for one in agents["assistant"]["model_parameters"]] == ["temperature", "max_tokens"]
    assert agents["notes"]["model_parameters"] is None
