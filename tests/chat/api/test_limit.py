"""Answers that were cut off: by a limit on tokens or characters, or by the provider's filter."""

from collections.abc import AsyncGenerator, AsyncIterator
from pathlib import Path
from typing import Literal

import pytest
from openai import AsyncOpenAI
from tests.fakes.agents import EndlessAgent, FakeAgent, FakeRegistry, LongAgent, text
from tests.fakes.chat import ChatClient, open_chat, sqlite_url
from tests.fakes.sse import texts

from chie.chat.agents.base import Approve
from chie.chat.events import Done, Event

FINISHES = pytest.mark.parametrize(
    ("agent_id", "finish"), [("limited", "length"), ("filtered", "content_filter")], ids=["limit", "provider"]
)


class LimitedAgent(FakeAgent):
    id = "limited"
    finish: Literal["length", "content_filter"] = "length"

    async def script(self, message: str, approve: Approve | None) -> AsyncGenerator[Event, None]:  # noqa: ARG002
        yield text("長い答えの途中で")
        yield Done(type="done", usage=None, finish=self.finish)


class FilteredAgent(LimitedAgent):
    id = "filtered"
    finish = "content_filter"


@pytest.fixture
async def limited(tmp_path: Path) -> AsyncIterator[ChatClient]:
    async with open_chat(sqlite_url(tmp_path), FakeRegistry(FakeAgent(), LimitedAgent(), FilteredAgent())) as chat:
        yield chat


@FINISHES
async def test_reason_is_in_the_last_event_and_stored(limited: ChatClient, agent_id: str, finish: str) -> None:
    session_id, events = await limited.ask("長く", agent_id=agent_id)
    assert events[-1].data["finish"] == finish
    message = (await limited.messages(session_id))[-1]
    assert (message["status"], message["content"]) == ("complete", "長い答えの途中で")
    assert message["parts"] == [{"type": "message", "content": "長い答えの途中で"}, {"type": "done", "finish": finish}]
    export = await limited.client.get(f"/api/sessions/{session_id}/export", params={"format": "markdown"})
    assert "長い答えの途中で" in export.text


async def test_complete_answer_has_no_reason(limited: ChatClient) -> None:
    session_id, events = await limited.ask("短く", agent_id="scripted")
    assert "finish" not in events[-1].data
    assert (await limited.messages(session_id))[-1]["parts"] == []


async def test_endless_answer_is_cut_at_the_limit(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CHIE_ANSWER_LIMIT", "1000")
    agent = EndlessAgent()
    async with open_chat(sqlite_url(tmp_path), FakeRegistry(agent, LongAgent())) as chat:
        session_id, events = await chat.ask("数えて", agent_id="endless")
        answer = (await chat.messages(session_id))[-1]
        _, short = await chat.ask("10", agent_id="long")
    assert (events[-1].event, events[-1].data["finish"]) == ("done", "length")
    assert (answer["status"], answer["content"]) == ("complete", texts(events))
    assert answer["content"] == "".join(f"{number} " for number in range(1_000))[:1_000]
    assert answer["parts"][-1] == {"type": "done", "finish": "length"}
    assert agent.closed == 1, "the agent was not closed"
    assert "finish" not in short[-1].data


@FINISHES
async def test_openai_clients_get_the_finish_reason(limited: ChatClient, agent_id: str, finish: str) -> None:
    async with AsyncOpenAI(
        base_url=f"{limited.client.base_url}/v1", api_key="any", max_retries=0, timeout=60
    ) as client:
        whole = await client.chat.completions.create(model=agent_id, messages=[{"role": "user", "content": "x"}])
        stream = await client.chat.completions.create(
            model=agent_id, messages=[{"role": "user", "content": "x"}], stream=True
        )
        reasons = [chunk.choices[0].finish_reason async for chunk in stream]
    assert whole.choices[0].finish_reason == finish
    assert reasons[-1] == finish
