"""Unexpected errors in background tasks: they are logged, the task goes on, and no reader waits for ever."""

import asyncio
from collections.abc import AsyncGenerator
from datetime import timedelta
from typing import Any, cast

import pytest
from sqlalchemy import URL
from tests.fakes.agents import ANSWER, EchoAgent, FakeAgent, FakeRegistry, GatedAgent, done, text
from tests.fakes.chat import ChatClient, open_chat
from tests.fakes.sse import asking, following, texts
from tests.fakes.waiting import until

from chie import background
from chie.chat.agents.base import Approve
from chie.chat.api import openai_compat
from chie.chat.events import Event, SummaryText, Usage
from chie.chat.runs import lease_keeper
from chie.chat.runs.recovery import Recovery
from chie.chat.runs.run import Run
from chie.chat.sessions.answers import AnswerStore, SaveResult
from chie.chat.sessions.entities import EventChunk


class BrokenAgent(FakeAgent):
    """As a plug-in may: ends with a usage that is none, or sends a summary that JSON does not have."""

    id = "broken"

    async def script(self, message: str, approve: Approve | None) -> AsyncGenerator[Event, None]:  # noqa: ARG002
        yield text("途中まで")
        if message == "usage":
            yield done(cast("Usage", "many"))
        yield SummaryText(type="summary", questions=cast("int", object()))
        yield done()


class LeakingAgent(FakeAgent):
    """Its library cancels what it was called from."""

    id = "leaking"

    async def script(self, message: str, approve: Approve | None) -> AsyncGenerator[Event, None]:  # noqa: ARG002
        yield text("途中まで")
        raise asyncio.CancelledError


@pytest.fixture(autouse=True)
def _short_pauses(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(background, "PAUSES", (0.01,))
    monkeypatch.setattr(lease_keeper, "RENEW_INTERVAL", timedelta(seconds=0.01))


@pytest.mark.parametrize("question", ["usage", "summary"])
async def test_broken_agent_ends_its_answer_with_an_error(both: URL, question: str) -> None:
    async with open_chat(both, FakeRegistry(BrokenAgent(), EchoAgent())) as chat:
        session, events = await chat.ask(question)
        assert [event.event for event in events[-2:]] == ["error", "done"]
        assert events[-2].data["code"] == "chat.agent_failed"
        answer = (await chat.messages(session))[-1]
        assert (answer["status"], answer["error_code"]) == ("failed", "chat.agent_failed")
        _, after = await chat.ask("weiter", session_id=session, agent_id="echo")
        assert texts(after) == "weiter"


async def test_agent_that_cancels_itself_ends_its_answer_with_an_error(
    both: URL, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(openai_compat, "HEARTBEAT_SECONDS", 0.05)
    async with open_chat(both, FakeRegistry(LeakingAgent())) as chat:
        _, events = await chat.ask("one")
        assert [event.event for event in events[-2:]] == ["error", "done"]
        assert events[-2].data["code"] == "chat.agent_failed"
        body = {"model": "leaking", "stream": True, "messages": [{"role": "user", "content": "one"}]}
        streamed = await chat.client.post("/v1/chat/completions", json=body)
        assert "途中まで" in streamed.text
        assert "chat.agent_failed" in streamed.text


async def test_events_that_cannot_be_saved_end_their_answer_alone(
    chat_on_both: ChatClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A second app reads both answers as they are saved."""
    real = AnswerStore.save

    async def save(self: AnswerStore, chunks: list[EventChunk], **options: bool) -> SaveResult:
        if any("poison" in str(chunk.items) for chunk in chunks):
            raise RuntimeError("not to be saved")
        return await real(self, chunks, **options)

    monkeypatch.setattr(AnswerStore, "save", save)
    agent = chat_on_both.agent(GatedAgent)
    async with (
        open_chat(chat_on_both.url) as other,
        asking(chat_on_both.client, "count", agent_id="endless") as good,
        following(other.client, good.message_id, 0) as remote,
        asking(chat_on_both.client, "one", agent_id="gated") as bad,
    ):
        await remote.take(5)
        agent.allow("poison")
        events = await bad.rest()
        assert [event.event for event in events[-2:]] == ["error", "done"]
        assert events[-2].data["code"] == "chat.agent_failed"
        await remote.take(5)
        await other.client.post(f"/api/chat/{good.message_id}/stop")
        await good.rest()
    assert (await chat_on_both.messages(bad.session_id))[-1]["status"] == "failed"
    assert (await chat_on_both.messages(good.session_id))[-1]["status"] == "stopped"


async def test_end_that_cannot_be_saved_keeps_what_was_saved(
    chat_on_both: ChatClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def finish(*_: object, **__: object) -> None:
        raise RuntimeError("not to be saved")

    monkeypatch.setattr(chat_on_both.app.state.chat.answers, "finish", finish)
    async with asking(chat_on_both.client, "one", agent_id="gated") as reader:
        agent = chat_on_both.agent(GatedAgent)
        agent.allow("保存済み")
        await reader.event()

        async def saved() -> bool:
            return bool((await chat_on_both.messages(reader.session_id))[-1]["content"])

        await until(saved)
        agent.finish()
        events = await reader.rest()
    assert [event.event for event in events] == ["error", "done"]
    answer = (await chat_on_both.messages(reader.session_id))[-1]
    assert (answer["status"], answer["content"]) == ("failed", "保存済み")
    assert answer["error_code"] == events[0].data["code"] == "chat.agent_failed"


async def test_leases_are_renewed_after_an_unexpected_error(
    both: URL, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    calls: list[int] = []

    async def recover(_: Recovery, __: timedelta) -> int:
        calls.append(1)
        raise RuntimeError("out of order")

    async def renew(_: AnswerStore, __: object) -> set[str]:
        calls.append(2)
        raise RuntimeError("out of order")

    monkeypatch.setattr(Recovery, "recover", recover)
    monkeypatch.setattr(AnswerStore, "renew_leases", renew)
    async with open_chat(both) as chat:
        _, events = await chat.ask("one")
        assert texts(events) == ANSWER

        async def repeated() -> bool:
            return calls.count(2) > 2

        await until(repeated)
        monkeypatch.undo()
        monkeypatch.setattr(lease_keeper, "RENEW_INTERVAL", timedelta(seconds=0.01))
        monkeypatch.setattr(background, "PAUSES", (0.01,))
    assert calls[0] == 1, "the app has started although it could not recover"
    assert "chat-lease-keeper failed unexpectedly" in caplog.text


async def test_command_that_raises_is_answered_and_the_next_one_is_carried_out(
    chat_on_both: ChatClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    real = Run.decide

    def decide(self: Run, call_id: str, **options: Any) -> None:
        if call_id == "bug":
            raise RuntimeError("secret inside")
        real(self, call_id, **options)

    monkeypatch.setattr(Run, "decide", decide)
    async with (
        open_chat(chat_on_both.url) as other,
        asking(chat_on_both.client, "tidy up", agent_id="cautious") as reader,
    ):
        call = (await reader.event()).data["id"]
        path = f"/api/chat/{reader.message_id}/approve"
        failed = await other.client.post(path, json={"id": "bug"})
        assert (failed.status_code, failed.json()["code"]) == (500, "chat.command_failed")
        assert "secret" not in failed.text
        assert (await other.client.post(path, json={"id": call})).status_code == 200
        assert texts(await reader.rest()) == "Done."
