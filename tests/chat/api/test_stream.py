"""The stream of events while an agent answers."""

from uuid import UUID

import pytest
from tests.fakes.agents import ANSWER, NO_MODEL, UNREACHABLE, WORDS, GatedAgent
from tests.fakes.chat import ChatClient
from tests.fakes.sse import Sse, asking, parse, texts

from chie.chat.runs import manager
from chie.messages.catalogue import Message


@pytest.mark.req("CH-9")
async def test_answer_is_a_stream_of_numbered_events(chat: ChatClient) -> None:
    response = await chat.client.post("/api/chat/stream", json={"message": "知恵とは"})
    assert response.headers["content-type"] == "text/event-stream; charset=utf-8"
    assert response.headers["cache-control"] == "no-cache"
    assert response.headers["x-accel-buffering"] == "no"
    first, *_ = response.text.split("\n\n")
    assert first == 'id: 1\nevent: message\ndata: {"type": "message", "content": "知恵"}'


@pytest.mark.req("CH-9")
async def test_last_event_has_message_session_and_usage(chat: ChatClient) -> None:
    session_id, events = await chat.ask("知恵とは")
    assert [event.id for event in events] == list(range(1, len(WORDS) + 2))
    assert texts(events) == ANSWER
    message_id = events[-1].data["message_id"]
    assert events[-1] == Sse(
        len(WORDS) + 1,
        "done",
        {
            "message_id": message_id,
            "session_id": session_id,
            "usage": {"input_tokens": 12, "output_tokens": len(WORDS)},
        },
    )
    assert UUID(session_id).version == 4
    assert UUID(message_id).version == 4


@pytest.mark.req("CH-9")
async def test_tool_calls_and_results_are_events(chat: ChatClient) -> None:
    _, events = await chat.ask("look", agent_id="tools")
    assert [event.event for event in events] == [
        "message",
        "tool_call",
        "tool_result",
        "tool_call",
        "tool_result",
        "message",
        "done",
    ]
    assert events[1].data == {
        "type": "tool_call",
        "id": "call-fetch",
        "name": "fetch",
        "arguments": {"url": "http://example.test/", "n": 1},
    }
    duration = events[4].data.pop("duration_ms")
    assert isinstance(duration, int)
    assert duration >= 0
    assert events[4].data == {
        "type": "tool_result",
        "id": "call-broken",
        "name": "broken",
        "content": "the server is gone",
        "is_error": True,
    }


async def test_headers_arrive_before_the_first_event(chat: ChatClient) -> None:
    agent = chat.agent(GatedAgent)
    async with asking(chat.client, "wait", agent_id="gated") as reader:
        assert UUID(reader.session_id).version == 4
        assert UUID(reader.message_id).version == 4
        agent.allow("now")
        assert (await reader.event()).text == "now"
        agent.finish()
        assert [event.event for event in await reader.rest()] == ["done"]


async def test_question_is_stored_before_the_first_event(chat_on_both: ChatClient) -> None:
    agent = chat_on_both.agent(GatedAgent)
    async with asking(chat_on_both.client, "消えないで", agent_id="gated") as reader:
        question, answer = await chat_on_both.messages(reader.session_id)
        assert (question["role"], question["content"]) == ("user", "消えないで")
        assert (answer["role"], answer["status"], answer["content"]) == ("assistant", "streaming", "")
        agent.finish()
        await reader.rest()


@pytest.mark.req("CH-10")
@pytest.mark.parametrize(("message", "part"), [("at once", ""), ("later", "So far so good")])
async def test_failing_model_ends_the_stream_with_error_and_an_empty_done(
    chat: ChatClient, message: str, part: str
) -> None:
    session_id, events = await chat.ask(message, agent_id="failing")
    assert texts(events) == part
    error, done = events[-2:]
    assert (error.event, error.data["type"], error.data["error"]) == ("error", "error", UNREACHABLE)
    assert (done.event, done.data) == ("done", {"message_id": None})
    answer = (await chat.messages(session_id))[-1]
    assert (answer["status"], answer["content"], answer["error"]) == ("failed", part, UNREACHABLE)
    assert (error.data["code"], error.data["params"]) == (NO_MODEL.code, NO_MODEL.params)
    assert (answer["error_code"], answer["error_params"]) == (NO_MODEL.code, NO_MODEL.params)


@pytest.mark.req("CH-10")
async def test_unexpected_error_has_a_request_id_and_no_secret(chat: ChatClient) -> None:
    response = await chat.client.post("/api/chat/stream", json={"message": "bug", "agent_id": "failing"})
    assert "secret inside" not in response.text
    error = parse(response.text)[0]
    request_id = response.headers["x-request-id"]
    assert error.data == {
        "type": "error",
        "error": str(Message("chat.agent_failed", request_id=request_id)),
        "code": "chat.agent_failed",
        "params": {"request_id": request_id},
    }
    assert response.text.endswith('event: done\ndata: {"message_id": null}\n\n')


async def test_invalid_characters_break_neither_the_stream_nor_the_database(chat_on_both: ChatClient) -> None:
    session_id, events = await chat_on_both.ask("odd", agent_id="odd")
    assert texts(events) == "nul\ufffd half? lines\r\n\u2028end"
    answer = (await chat_on_both.messages(session_id))[-1]
    assert answer["content"] == texts(events)
    assert answer["parts"][1]["content"] == "\ufffd?"


async def test_silent_stream_has_a_heartbeat(chat: ChatClient, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(manager, "HEARTBEAT_SECONDS", 0.01)
    async with asking(chat.client, "wait", agent_id="gated") as reader:
        assert await reader.block() == ": still here"
        chat.agent(GatedAgent).finish()
        assert [event.id for event in await reader.rest()] == [1]


async def test_second_question_has_to_wait_for_the_answer(chat: ChatClient) -> None:
    async with asking(chat.client, "first", agent_id="gated") as reader:
        second = await chat.client.post("/api/chat/stream", json={"message": "second", "session_id": reader.session_id})
        assert second.status_code == 409
        assert second.json()["detail"] == str(Message("sessions.answer_in_progress", message_id=reader.message_id))
        chat.agent(GatedAgent).finish()
        await reader.rest()
    _, events = await chat.ask("second", session_id=reader.session_id, agent_id="scripted")
    assert texts(events) == ANSWER
