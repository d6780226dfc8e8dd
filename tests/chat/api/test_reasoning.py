"""Reasoning from the agent to the reader: its own events, kept in the session, exported, and over /v1."""

from typing import Any

import pytest
from openai import AsyncOpenAI
from tests.fakes.chat import ChatClient
from tests.fakes.sse import texts

pytestmark = pytest.mark.req("AG-3")

FIRST, SECOND = "まず条件を確かめる。\nThen compare.", "One is enough."


async def test_reasoning_has_its_own_events_and_is_kept_apart(chat: ChatClient) -> None:
    session_id, events = await chat.ask("いくつ？", agent_id="pensive")
    kinds = [event.event for event in events]
    assert kinds == [*["reasoning"] * 4, "tool_call", "tool_result", *["reasoning"] * 2, "message", "message", "done"]
    assert events[0].data == {"type": "reasoning", "content": "まず"}
    assert texts(events) == "答えは一つです。"
    answer = (await chat.get(f"/api/sessions/{session_id}"))["messages"][1]
    assert answer["content"] == "答えは一つです。"
    assert [(part["type"], part.get("content")) for part in answer["parts"]] == [
        ("reasoning", FIRST),
        ("tool_call", None),
        ("tool_result", "見つかりました"),
        ("reasoning", SECOND),
        ("message", "答えは一つです。"),
    ]
    assert all(part["duration_ms"] >= 0 for part in answer["parts"] if part["type"] == "reasoning")


async def test_reasoning_cut_by_a_limit_is_said_to_be_that(chat: ChatClient) -> None:
    session_id, events = await chat.ask("cut", agent_id="pensive")
    error = next(event for event in events if event.event == "error")
    assert error.data["code"] == "models.reasoning_truncated"
    assert "while it was still thinking" in error.data["error"]
    answer = (await chat.get(f"/api/sessions/{session_id}"))["messages"][1]
    assert (answer["status"], answer["content"]) == ("failed", "")
    assert answer["parts"][0]["content"] == FIRST


async def test_reasoning_is_exported(chat: ChatClient) -> None:
    session_id, _ = await chat.ask("いくつ？", agent_id="pensive")
    markdown = (await chat.client.get(f"/api/sessions/{session_id}/export")).text
    assert "> Reasoning:\n>\n> まず条件を確かめる。\n> Then compare.\n\n> Tool `fetch` returned:" in markdown
    exported = (await chat.client.get(f"/api/sessions/{session_id}/export", params={"format": "json"})).json()
    assert [part["content"] for part in exported["messages"][1]["parts"] if part["type"] == "reasoning"] == [
        FIRST,
        SECOND,
    ]


async def test_answer_limit_ends_endless_reasoning(chat: ChatClient, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(chat.app.state.chat.runs._runner, "_max_characters", 5)
    session_id, events = await chat.ask("いくつ？", agent_id="pensive")
    assert events[-1].data["finish"] == "length"
    [part, cut] = (await chat.get(f"/api/sessions/{session_id}"))["messages"][1]["parts"]
    assert (part["content"], cut["finish"]) == ("まず条件を", "length")


async def test_openai_clients_get_reasoning_content(chat: ChatClient) -> None:
    async with AsyncOpenAI(base_url=f"{chat.client.base_url}/v1", api_key="any", max_retries=0) as client:
        ask: Any = {"model": "pensive", "messages": [{"role": "user", "content": "x"}]}
        whole = await client.chat.completions.create(**ask)
        assert whole.choices[0].message.model_dump()["reasoning_content"] == FIRST + SECOND
        assert whole.choices[0].message.content == "答えは一つです。"
        deltas = [chunk.choices[0].delta async for chunk in await client.chat.completions.create(**ask, stream=True)]
    assert "".join(delta.model_dump().get("reasoning_content") or "" for delta in deltas) == FIRST + SECOND
    assert "".join(delta.content or "" for delta in deltas) == "答えは一つです。"
