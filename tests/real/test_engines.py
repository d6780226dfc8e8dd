"""Agents on a real engine: llama.cpp with a small model."""

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import httpx2
import pytest
from openai import OpenAI
from tests.app.processes import http_server
from tests.real import engines

if TYPE_CHECKING:
    import subprocess

pytestmark = [pytest.mark.real, pytest.mark.timeout(900)]

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
