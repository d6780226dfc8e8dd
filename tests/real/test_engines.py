"""Agents on real engines: llama.cpp with a small model, and the LiteLLM proxy in front of scripted models."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import httpx2
import pytest
from openai import APIError, AuthenticationError, InternalServerError, OpenAI, RateLimitError
from tests.app.processes import http_server
from tests.fakes.model_server import Stall, Use, say, use
from tests.fakes.openai_server import OpenAIServer
from tests.real import engines

if TYPE_CHECKING:
    import subprocess

pytestmark = [pytest.mark.real, pytest.mark.timeout(900)]

KEY = "sk-proxy-1234"
LONG = "Write a very long story about a fox, with every detail of every day of its life."


def ask(client: httpx2.Client, message: str, **fields: Any) -> tuple[str, str]:
    """The ids of the session and of the answer, once it has ended."""
    response = client.post("/api/chat/stream", json={"message": message, **fields})
    assert response.status_code == 200, response.text
    return response.headers["x-chie-session"], response.headers["x-chie-message"]


def answer(client: httpx2.Client, session_id: str, message_id: str) -> dict[str, Any]:
    messages = client.get(f"/api/sessions/{session_id}").json()["messages"]
    return next(message for message in messages if message["message_id"] == message_id)


class TestLlama:
    @pytest.fixture
    def engine(self) -> "Iterator[tuple[str, subprocess.Popen[bytes]]]":
        with engines.llama() as started:
            yield started

    @pytest.fixture
    def client(
        self, engine: "tuple[str, subprocess.Popen[bytes]]", monkeypatch: pytest.MonkeyPatch
    ) -> Iterator[httpx2.Client]:
        monkeypatch.setenv("OPENAI_BASE_URL", engine[0])
        monkeypatch.setenv("CHIE_TITLES", "false")
        with http_server("chie", "serve") as url, httpx2.Client(base_url=url, timeout=300) as client:
            yield client

    @pytest.mark.req("AG-14")
    def test_parameters_reach_the_engine(self, client: httpx2.Client) -> None:
        sdk = OpenAI(base_url=f"{client.base_url}/v1", api_key="any", max_retries=0, timeout=300)
        same = [
            sdk.chat.completions.create(
                model="default-chat",
                messages=[{"role": "system", "content": "You are brief."}, {"role": "user", "content": "Say hello."}],
                temperature=0,
                seed=7,
                max_tokens=8,
            )
            for _ in range(2)
        ]
        assert same[0].choices[0].message.content == same[1].choices[0].message.content
        assert {one.choices[0].finish_reason for one in same} <= {"length", "stop"}
        assert all(one.usage and 0 < one.usage.completion_tokens <= 8 for one in same)
        stream = sdk.chat.completions.create(
            model="default-chat", messages=[{"role": "user", "content": LONG}], max_tokens=40, stream=True
        )
        pieces = [chunk.choices[0].delta.content for chunk in stream if chunk.choices]
        assert len(list(filter(None, pieces))) > 5, "the text arrives piece by piece"

    def test_stop_reaches_the_engine(self, client: httpx2.Client) -> None:
        body = {"message": LONG, "agent_id": "default-chat"}
        with client.stream("POST", "/api/chat/stream", json=body) as response:
            message_id, session_id = response.headers["x-chie-message"], response.headers["x-chie-session"]
            next(line for line in response.iter_lines() if line.startswith("event: message"))
            assert client.post(f"/api/chat/{message_id}/stop").is_success
        stopped = answer(client, session_id, message_id)
        assert stopped["status"] == "stopped"
        # The engine has one slot: it answers only because the story has ended there, too.
        again = answer(client, *ask(client, "Say hi.", session_id=session_id))
        assert again["status"] == "complete", again

    def test_engine_that_dies_leaves_what_there_is(
        self, client: httpx2.Client, engine: "tuple[str, subprocess.Popen[bytes]]"
    ) -> None:
        body = {"message": LONG, "agent_id": "default-chat"}
        with client.stream("POST", "/api/chat/stream", json=body) as response:
            message_id, session_id = response.headers["x-chie-message"], response.headers["x-chie-session"]
            lines = response.iter_lines()
            next(line for line in lines if line.startswith("event: message"))
            engine[1].kill()
            assert "event: error" in list(lines)
        failed = answer(client, session_id, message_id)
        assert (failed["status"], failed["error_code"]) == ("failed", "models.connection_broken")
        assert failed["content"].strip()

    @pytest.mark.req("AG-2")
    def test_conversation_outgrows_the_context(self, client: httpx2.Client) -> None:
        session = None
        for number in range(6):
            told = f"Fact {number}: " + "the river is wide and the bridge is old. " * 20
            fields: dict[str, Any] = {"session_id": session} if session else {}
            session, message_id = ask(client, f"{told} Answer with one word.", agent_id="default-chat", **fields)
            assert answer(client, session, message_id)["status"] == "complete", answer(client, session, message_id)
        assert session
        assert answer(client, *ask(client, "Say hi.", session_id=session))["status"] == "complete"


class TestLiteLLM:
    @pytest.fixture
    def upstream(self) -> Iterator[OpenAIServer]:
        with OpenAIServer() as server:
            yield server

    @pytest.fixture
    def sdk(self, upstream: OpenAIServer, home: Path, tmp_path: Path) -> Iterator[OpenAI]:
        mocks = {
            "fine": "Hello from 知恵",
            "limited": "litellm.RateLimitError",
            "failing": "litellm.InternalServerError",
        }
        models = [
            {"model_name": name, "litellm_params": {"model": "openai/x", "api_key": "k", "mock_response": answer}}
            for name, answer in mocks.items()
        ]
        passed = {"model": "openai/x", "api_key": "k", "api_base": upstream.base_url}
        config = {
            "model_list": [*models, {"model_name": "passed", "litellm_params": passed}],
            "litellm_settings": {"num_retries": 0},
            "router_settings": {"num_retries": 0, "disable_cooldowns": True},
            "general_settings": {"master_key": KEY},
        }
        (tmp_path / "litellm.yaml").write_text(json.dumps(config), encoding="utf-8")
        with engines.litellm(tmp_path / "litellm.yaml") as url:
            agents = [
                {"id": name, "kind": "default", "name": name, "model": name, "base_url": url, "api_key": KEY}
                for name in (*mocks, "passed")
            ]
            agents.append({**agents[0], "id": "locked", "api_key": "sk-wrong"})
            home.mkdir(exist_ok=True)
            (home / "agents.json").write_text(json.dumps(agents), encoding="utf-8")
            with http_server("chie", "serve") as address:
                yield OpenAI(base_url=f"{address}/v1", api_key="any", max_retries=0, timeout=120)

    @pytest.mark.req("AG-6", "AG-14")
    def test_answers_errors_and_calls(self, sdk: OpenAI, upstream: OpenAIServer) -> None:
        def create(model: str, **fields: Any) -> Any:
            return sdk.chat.completions.create(
                model=model, messages=[{"role": "user", "content": "こんにちは"}], **fields
            )

        assert create("fine").choices[0].message.content == "Hello from 知恵"
        chunks = [chunk.choices[0].delta.content or "" for chunk in create("fine", stream=True) if chunk.choices]
        assert "".join(chunks) == "Hello from 知恵"
        for stream in (False, True):
            with pytest.raises(AuthenticationError, match=r"agents\.json"):
                create("locked", stream=stream)
            with pytest.raises(RateLimitError):
                create("limited", stream=stream)
            with pytest.raises(InternalServerError):
                create("failing", stream=stream)
        tool = {"type": "function", "function": {"name": "look", "parameters": {"type": "object", "properties": {}}}}
        upstream.script.append(use(Use("look", '{"at": "空"}', "c1")))
        called = create("passed", tools=[tool], temperature=0.5)
        assert called.choices[0].finish_reason == "tool_calls"
        assert json.loads(called.choices[0].message.tool_calls[0].function.arguments) == {"at": "空"}
        assert upstream.seen[0]["temperature"] == 0.5
        upstream.script.append(say("fine"))
        assert create("passed").choices[0].message.content == "fine"

    @pytest.mark.req("AG-6")
    def test_error_in_the_middle_of_a_stream(self, sdk: OpenAI, upstream: OpenAIServer) -> None:
        upstream.script.append(Stall("So far"))
        stream = sdk.chat.completions.create(model="passed", messages=[{"role": "user", "content": "x"}], stream=True)
        texts: list[str] = []

        def read() -> None:
            for chunk in stream:
                texts.extend(choice.delta.content or "" for choice in chunk.choices)
                if "".join(texts) == "So far":
                    upstream.disconnect()

        with pytest.raises(APIError, match=r"connection|reported an error"):
            read()
        assert "".join(texts) == "So far"
