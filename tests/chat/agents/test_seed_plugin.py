"""A plug-in written with the seed's signatures alone, loaded through its entry point and used over HTTP."""

import json
import sys
from collections.abc import AsyncIterator
from pathlib import Path

import httpx2
import pytest
from tests.fakes.chat import NO_PAGE, serving
from tests.fakes.sse import Sse, parse

from chie.app import create_app
from chie.chat.agents.assembly import open_agents
from chie.chat.settings import ChatSettings
from chie.settings import load

SOURCE = """
import json
from typing import Any, AsyncGenerator, Dict, List

from chie.chat.agents.base import BaseAgent


class WeatherAgent(BaseAgent):
    @property
    def agent_id(self) -> str:
        return "weather"

    @property
    def name(self) -> str:
        return "天気"

    @property
    def description(self) -> str:
        return "Tells the weather."

    async def stream_chat(
        self, message: str, history: List[Dict], session_id: str
    ) -> AsyncGenerator[Dict[str, Any], None]:
        if message == "history":
            yield {"type": "message", "content": json.dumps(history)}
            yield {"type": "done"}
            return
        if message == "error":
            yield {"type": "error", "error": "観測所が応答しません。"}
        yield {"type": "message", "content": f"{len(history)}: {message}"}
        for city in ("東京", "Osaka"):
            yield {"type": "tool_call", "name": "forecast", "arguments": {"city": city}}
            yield {"type": "tool_result", "name": "forecast", "content": {"city": city, "sky": "晴れ"}}
        yield {"type": "done", "usage": {"input_tokens": 40, "output_tokens": 2, "models": ["gpt-4o"]}}

    def get_agent_info(self) -> Dict[str, Any]:
        return {
            "agent_id": self.agent_id,
            "name": self.name,
            "description": self.description,
            "supports_mcp": self.supports_mcp(),
        }

    def supports_mcp(self) -> bool:
        return False
"""


@pytest.fixture
async def client(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[httpx2.AsyncClient]:
    site = tmp_path / "site"
    info = site / "weather-1.dist-info"
    info.mkdir(parents=True)
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: weather\nVersion: 1\n", encoding="utf-8")
    (info / "entry_points.txt").write_text("[chie.agents]\nweather = weather_agent:WeatherAgent\n", encoding="utf-8")
    (site / "weather_agent.py").write_text(SOURCE, encoding="utf-8")
    monkeypatch.syspath_prepend(site)
    monkeypatch.delitem(sys.modules, "weather_agent", raising=False)
    monkeypatch.setenv("OPENAI_BASE_URL", "http://127.0.0.1:9/v1")
    app = create_app({}, open_agents(load(ChatSettings), {}), page=NO_PAGE)
    async with serving(app) as address, httpx2.AsyncClient(base_url=address, timeout=60) as client:
        yield client


async def ask(client: httpx2.AsyncClient, message: str, session: str | None = None) -> tuple[str, list[Sse]]:
    body = {"message": message, "agent_id": "weather", "session_id": session}
    answer = await client.post("/api/chat/stream", json=body)
    assert answer.status_code == 200, answer.text
    return answer.headers["x-chie-session"], parse(answer.text)


@pytest.mark.req("CH-1", "CH-5", "CH-6")
async def test_agent_is_listed_with_the_names_of_the_seed(client: httpx2.AsyncClient) -> None:
    agents = (await client.get("/api/agents")).json()["agents"]
    (weather,) = [agent for agent in agents if agent["agent_id"] == "weather"]
    assert {name: weather[name] for name in ("name", "description", "supports_mcp", "available", "reason")} == {
        "name": "天気",
        "description": "Tells the weather.",
        "supports_mcp": False,
        "available": True,
        "reason": None,
    }
    assert {frozenset(agent) for agent in agents} == {frozenset(weather)}
    assert "weather" in [model["id"] for model in (await client.get("/v1/models")).json()["data"]]


@pytest.mark.req("CH-1", "CH-5", "CH-9")
async def test_agent_answers_with_its_own_events(client: httpx2.AsyncClient) -> None:
    session, _ = await ask(client, "hello")
    _, events = await ask(client, "今日の天気は？", session)
    assert [event.event for event in events] == ["message", *["tool_call", "tool_result"] * 2, "done"]
    assert events[0].data == {"type": "message", "content": "2: 今日の天気は？"}
    calls = [event.data["id"] for event in events if event.event == "tool_call"]
    results = [event.data for event in events if event.event == "tool_result"]
    assert len(set(calls)) == 2
    assert [result["id"] for result in results] == calls
    assert results[0]["content"] == '{"city": "東京", "sky": "晴れ"}'
    assert not any(result["is_error"] for result in results)
    completion = {"model": "weather", "messages": [{"role": "user", "content": "hi"}]}
    answer = (await client.post("/v1/chat/completions", json=completion)).json()
    assert answer["choices"][0]["message"]["content"] == "0: hi"


@pytest.mark.req("CH-1", "CH-10")
async def test_error_event_of_an_agent_ends_the_answer(client: httpx2.AsyncClient) -> None:
    _, events = await ask(client, "error")
    assert [event.event for event in events] == ["error", "done"]
    assert events[0].data["error"] == "The agent reported an error: 観測所が応答しません。"
    assert (events[0].data["code"], events[1].data) == ("agents.reported_error", {"message_id": None})


@pytest.mark.req("AG-1")
async def test_history_is_a_list_of_dicts_with_the_calls_and_results_of_earlier_turns(
    client: httpx2.AsyncClient,
) -> None:
    session, events = await ask(client, "明日は？")
    calls = [event.data["id"] for event in events if event.event == "tool_call"]
    _, (told, *_) = await ask(client, "history", session)
    question, answer = json.loads(told.data["content"])
    assert question == {"role": "user", "content": "明日は？"}
    assert (answer["role"], answer["content"]) == ("assistant", "0: 明日は？")
    kinds = [part["type"] for part in answer["parts"]]
    assert kinds == ["message", *["tool_call", "tool_result"] * 2]
    made = [part for part in answer["parts"] if part["type"] == "tool_call"]
    assert [(call["id"], call["name"], call["arguments"]) for call in made] == [
        (calls[0], "forecast", {"city": "東京"}),
        (calls[1], "forecast", {"city": "Osaka"}),
    ]
    results = [part for part in answer["parts"] if part["type"] == "tool_result"]
    assert [result["id"] for result in results] == calls
    assert json.loads(results[0]["content"]) == {"city": "東京", "sky": "晴れ"}
    assert all(result["is_error"] is False for result in results)


@pytest.mark.req("AG-13")
async def test_usage_of_an_agent_counts_at_the_price_of_the_model_that_it_names(client: httpx2.AsyncClient) -> None:
    session, events = await ask(client, "明日は？")
    assert events[-1].data["usage"] == {
        "input_tokens": 40,
        "output_tokens": 2,
        "models": ["gpt-4o"],
        "cost": (40 * 2.5 + 2 * 10) / 1_000_000,
    }
    report = (await client.get("/api/usage")).json()
    assert [(model["name"], model["input_tokens"]) for model in report["models"]] == [("gpt-4o", 40)]
    assert (await client.get(f"/api/sessions/{session}")).json()["messages"][1]["usage"]["models"] == ["gpt-4o"]
