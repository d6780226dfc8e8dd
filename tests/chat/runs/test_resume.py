"""Readers leave, resume and lag behind, and get every event exactly once."""

import asyncio

import httpx2
import pytest
from tests.fakes.agents import ANSWER, GatedAgent, ToolAgent
from tests.fakes.chat import ChatClient, open_chat
from tests.fakes.sse import Sse, asking, following, parse, texts
from tests.fakes.waiting import until

from chie.chat.runs import run as run_module


async def test_resumed_stream_misses_and_repeats_nothing(chat_on_both: ChatClient) -> None:
    agent = chat_on_both.agent(GatedAgent)
    async with asking(chat_on_both.client, "long", agent_id="gated") as reader:
        agent.allow("one ", "two ", "三")
        seen = await reader.take(3)
    agent.allow("four ")
    async with following(chat_on_both.client, reader.message_id, seen[-1].id) as back:
        assert back.session_id == reader.session_id
        agent.allow("five ")
        seen += await back.take(2)
        agent.finish()
        seen += await back.rest()
    assert [event.id for event in seen] == [1, 2, 3, 4, 5, 6]
    assert texts(seen) == "one two 三four five "
    assert seen[-1].event == "done"


async def test_answer_continues_without_readers(chat_on_both: ChatClient) -> None:
    agent = chat_on_both.agent(GatedAgent)
    async with asking(chat_on_both.client, "long", agent_id="gated") as reader:
        agent.allow("one ")
        await reader.event()
    agent.allow("two")
    agent.finish()
    async with following(chat_on_both.client, reader.message_id) as back:
        events = await back.rest()
    assert (texts(events), events[-1].event) == ("one two", "done")
    assert (await chat_on_both.messages(reader.session_id))[-1]["content"] == "one two"


@pytest.mark.parametrize("last", range(8))
async def test_finished_answer_can_be_read_from_any_event(chat: ChatClient, last: int) -> None:
    _, events = await chat.ask("look", agent_id=ToolAgent.id)
    response = await chat.client.get(
        f"/api/chat/stream/{events[-1].data['message_id']}", headers={"Last-Event-ID": str(last)}
    )
    assert response.status_code == (200 if last < len(events) else 204)
    assert parse(response.text) == events[last:]


async def test_last_event_may_be_in_the_url(chat: ChatClient) -> None:
    _, events = await chat.ask("hello")
    response = await chat.client.get(f"/api/chat/stream/{events[-1].data['message_id']}", params={"after": 8})
    assert parse(response.text) == events[8:]


async def test_all_readers_get_the_same_events(chat: ChatClient) -> None:
    agent = chat.agent(GatedAgent)

    async def follow(message_id: str) -> list[Sse]:
        async with following(chat.client, message_id) as reader:
            return await reader.rest()

    async with asking(chat.client, "all", agent_id="gated") as reader:
        others = [asyncio.create_task(follow(reader.message_id)) for _ in range(5)]
        agent.allow("a", "b")
        first = await reader.take(2)
        agent.finish()
        whole = first + await reader.rest()
    assert await asyncio.gather(*others) == [whole] * 5


async def test_reader_that_lags_behind_reads_from_the_database(
    chat_on_both: ChatClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The window is small, so most of the answer leaves memory while it is generated."""
    monkeypatch.setattr(run_module, "WINDOW", 10)
    agent, kept = chat_on_both.agent(GatedAgent), chat_on_both.app.state.chat.runs
    words = [f"{number} " for number in range(500)]
    async with asking(chat_on_both.client, "much", agent_id="gated") as reader:
        agent.allow(*words)
        await reader.take(500)
        run = kept._runs[reader.message_id]

        async def trimmed() -> bool:
            return bool(run.base >= 450)

        await until(trimmed)
        assert len(run._window) <= 50
        async with following(chat_on_both.client, reader.message_id, 3) as late:
            agent.finish()
            events = await late.rest()
        await reader.rest()
    assert [event.id for event in events] == list(range(4, 502))
    assert texts(events) == "".join(words[3:])


async def test_client_that_never_reads_does_not_block_the_answer(chat: ChatClient) -> None:
    """Its socket is full long before the end. The answer continues, and the reader keeps only an offset."""
    host, port = chat.client.base_url.host, chat.client.base_url.port
    _, writer = await asyncio.open_connection(host, port, limit=1_024)
    body = b'{"message": "60000", "agent_id": "long"}'
    head = f"POST /api/chat/stream HTTP/1.1\r\nHost: {host}:{port}\r\nContent-Type: application/json\r\n"
    writer.write(head.encode() + f"Content-Length: {len(body)}\r\n\r\n".encode() + body)

    async def answered() -> bool:
        sessions = (await chat.get("/api/sessions"))["sessions"]
        return bool(sessions and (await chat.messages(sessions[0]["session_id"]))[-1]["status"] == "complete")

    await until(answered)
    writer.transport.abort()
    message = (await chat.messages((await chat.get("/api/sessions"))["sessions"][0]["session_id"]))[-1]
    assert message["last_event_id"] == 60_001
    async with following(chat.client, message["message_id"], 59_000) as back:
        assert [event.id for event in await back.rest()] == list(range(59_001, 60_002))


async def test_stop_ends_the_answer_and_keeps_the_part(chat_on_both: ChatClient) -> None:
    agent = chat_on_both.agent(GatedAgent)
    async with asking(chat_on_both.client, "long", agent_id="gated") as reader:
        agent.allow("the ", "part")
        await reader.take(2)
        stopped = await chat_on_both.client.post(f"/api/chat/{reader.message_id}/stop")
        assert stopped.json() == {"message_id": reader.message_id, "status": "stopped"}
        (last,) = await reader.rest()
    assert (last.event, last.data["message_id"], last.data["usage"]) == ("done", reader.message_id, None)
    assert agent.closed == 1
    answer = (await chat_on_both.messages(reader.session_id))[-1]
    assert (answer["status"], answer["content"], answer["error"]) == ("stopped", "the part", None)
    again = await chat_on_both.client.post(f"/api/chat/{reader.message_id}/stop")
    assert again.json()["status"] == "stopped"


async def test_another_process_streams_the_answer_as_it_is_saved(chat_on_both: ChatClient) -> None:
    """Two apps on one database; the run belongs to the first."""
    agent = chat_on_both.agent(GatedAgent)
    async with open_chat(chat_on_both.url) as second, asking(chat_on_both.client, "x", agent_id="gated") as reader:
        agent.allow("here ")
        await reader.event()
        async with following(second.client, reader.message_id) as there:
            assert (await there.event()).text == "here "
            agent.allow("and there")
            agent.finish()
            events = await there.rest()
        await reader.rest()
    assert ([event.id for event in events], texts(events)) == ([2, 3], "and there")


async def test_shutdown_keeps_the_part_and_stores_the_reason(chat_on_both: ChatClient) -> None:
    async with open_chat(chat_on_both.url) as closing:
        agent = closing.agent(GatedAgent)
        async with asking(closing.client, "long", agent_id="gated") as reader:
            agent.allow("so far")
            await reader.event()
    answer = (await chat_on_both.messages(reader.session_id))[-1]
    assert (answer["status"], answer["content"]) == ("interrupted", "so far")
    assert answer["error_code"] == "chat.interrupted_by_shutdown"
    async with following(chat_on_both.client, reader.message_id, 1) as back:
        assert [(event.id, event.event) for event in await back.rest()] == [(2, "error"), (3, "done")]


async def test_shutdown_ends_running_and_later_answers_with_an_error(chat: ChatClient) -> None:
    agent = chat.agent(GatedAgent)
    async with asking(chat.client, "long", agent_id="gated") as reader:
        agent.allow("so far")
        await reader.event()
        chat.app.state.chat.runs.interrupt()
        error, last = await reader.rest()
    assert (error.data["code"], last.event) == ("chat.interrupted_by_shutdown", "done")
    session_id, late = await chat.ask("later", agent_id="gated")
    assert [event.data.get("code") for event in late] == ["chat.interrupted_by_shutdown", None]
    assert (await chat.messages(session_id))[-1]["status"] == "interrupted"


async def test_64_concurrent_sessions_are_stored(chat_on_both: ChatClient) -> None:
    limits = httpx2.Limits(max_connections=64)
    async with httpx2.AsyncClient(base_url=chat_on_both.client.base_url, limits=limits, timeout=60) as crowd:

        async def ask(number: int) -> str:
            response = await crowd.post("/api/chat/stream", json={"message": f"質問 {number}"})
            assert texts(parse(response.text)) == ANSWER
            return str(response.headers["x-chie-session"])

        ids = await asyncio.gather(*(ask(number) for number in range(64)))
    page = await chat_on_both.get("/api/sessions", limit=200)
    assert {session["session_id"]: session["title"] for session in page["sessions"]} == {
        session_id: f"質問 {number}" for number, session_id in enumerate(ids)
    }
    for session_id in ids:
        assert [message["status"] for message in await chat_on_both.messages(session_id)] == ["complete", "complete"]
