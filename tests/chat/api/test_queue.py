"""Messages that wait for the answer before them: sent once, in order, and only after a complete answer."""

import asyncio
from typing import Any
from uuid import uuid4

import httpx2
import pytest
from sqlalchemy import URL
from tests.fakes.agents import EchoAgent, FakeRegistry, GatedAgent
from tests.fakes.chat import ChatClient, open_chat
from tests.fakes.sse import asking
from tests.fakes.waiting import until

pytestmark = pytest.mark.req("AG-12")


async def put(chat: ChatClient, session: str, text: str, message_id: str = "", **fields: object) -> httpx2.Response:
    path = f"/api/sessions/{session}/queue/{message_id or uuid4()}"
    return await chat.client.put(path, json={"message": text, **fields})


async def conversation(chat: ChatClient, session: str) -> dict[str, Any]:
    found: dict[str, Any] = await chat.get(f"/api/sessions/{session}")
    return found


async def waiting(chat: ChatClient, session: str) -> list[str]:
    return [one["content"] for one in (await conversation(chat, session))["queue"]]


async def asked(chat: ChatClient, session: str) -> list[str]:
    return [one["content"] for one in await chat.messages(session) if one["role"] == "user"]


async def all_answered(chat: ChatClient, session: str, questions: int) -> None:
    async def ended() -> bool:
        found = await conversation(chat, session)
        answers = [one for one in found["messages"] if one["role"] == "assistant"]
        return len(answers) == questions and all(one["status"] != "streaming" for one in answers)

    await until(ended)


async def test_queued_messages_are_sent_in_order_when_answers_are_complete(chat_on_both: ChatClient) -> None:
    chat = chat_on_both
    agent = chat.agent(GatedAgent)
    async with asking(chat.client, "最初", agent_id="gated") as first:
        session = first.session_id
        for text in ("次の質問", "and a third"):
            queued = await put(chat, session, text, agent_id="echo")
            assert queued.status_code == 200, queued.text
            assert (queued.json()["status"], queued.json()["parent_id"]) == ("streaming", first.message_id)
        assert await waiting(chat, session) == ["次の質問", "and a third"]
        agent.finish()
        await first.rest()
    await all_answered(chat, session, 3)
    messages = await chat.messages(session)
    assert [one["content"] for one in messages] == ["最初", "", "次の質問", "次の質問", "and a third", "and a third"]
    assert [one["parent_id"] for one in messages[1:]] == [one["message_id"] for one in messages[:-1]]
    assert await waiting(chat, session) == []
    assert [turn["content"] for turn in chat.agent(EchoAgent).requests[-1][1]][-2:] == ["次の質問", "次の質問"]


async def test_repeated_request_queues_and_sends_once(chat_on_both: ChatClient) -> None:
    chat, message_id = chat_on_both, str(uuid4())
    async with asking(chat.client, "one", agent_id="gated") as first:
        session = first.session_id
        tries = await asyncio.gather(*(put(chat, session, "two", message_id, agent_id="echo") for _ in range(4)))
        assert {one.status_code for one in tries} == {200}
        assert await waiting(chat, session) == ["two"]
        chat.agent(GatedAgent).finish()
        await first.rest()
    await all_answered(chat, session, 2)
    late = await put(chat, session, "two", message_id)
    assert (late.status_code, late.json()["code"]) == (409, "queue.already_sent")
    assert await asked(chat, session) == ["one", "two"]
    assert (await chat.messages(session))[2]["message_id"] == message_id


async def test_two_tabs_and_the_server_send_it_once(both: URL) -> None:
    """The server sends it when the answer ends; two pages ask for it at the same time, each at its own process."""
    async with open_chat(both) as one, open_chat(both) as two:
        for _ in range(5):
            message_id = str(uuid4())
            async with asking(one.client, "first", agent_id="gated") as first:
                session = first.session_id
                await put(one, session, "second", message_id, agent_id="echo")
                one.agent(GatedAgent).finish()
                await first.rest()
            path = f"/api/sessions/{session}/queue/{message_id}/send"
            sent = await asyncio.gather(*(tab.client.post(path) for tab in (one, two, one, two)))
            assert sum(answer.status_code == 200 for answer in sent) <= 1
            assert {answer.status_code for answer in sent} <= {200, 404}
            await all_answered(one, session, 2)
            assert await asked(two, session) == ["first", "second"]


async def test_message_queued_while_the_answer_ends_is_sent(chat_on_both: ChatClient) -> None:
    """Either the end of the answer sees it, or it sees the end."""
    chat = chat_on_both
    for _ in range(8):
        async with asking(chat.client, "first", agent_id="gated") as first:
            chat.agent(GatedAgent).finish()
            queued, _ = await asyncio.gather(put(chat, first.session_id, "second", agent_id="echo"), first.rest())
        assert queued.status_code == 200, queued.text
        await all_answered(chat, first.session_id, 2)
        assert await asked(chat, first.session_id) == ["first", "second"]


async def test_message_queued_after_the_end_is_sent_at_once(chat_on_both: ChatClient) -> None:
    session, _ = await chat_on_both.ask("one", agent_id="echo")
    queued = await put(chat_on_both, session, "two")
    assert queued.json()["status"] == "complete"
    await all_answered(chat_on_both, session, 2)
    assert [one["content"] for one in await chat_on_both.messages(session)] == ["one", "one", "two", "two"]


async def test_queue_waits_after_a_failure_and_goes_on_after_a_new_attempt(chat_on_both: ChatClient) -> None:
    chat = chat_on_both
    session, _ = await chat.ask("later", agent_id="failing")
    failed = (await chat.messages(session))[-1]["message_id"]
    queued = await put(chat, session, "その後", agent_id="echo")
    assert queued.json()["status"] == "failed"
    assert (await waiting(chat, session), await asked(chat, session)) == (["その後"], ["later"])
    await chat.client.post(f"/api/chat/{failed}/regenerate", json={"agent_id": "echo"})
    await all_answered(chat, session, 3)
    question = next(one for one in await chat.messages(session) if one["content"] == "その後")
    again = next(one for one in await chat.messages(session) if one["message_id"] == question["parent_id"])
    assert (again["content"], again["status"]) == ("later", "complete")


async def test_queue_waits_after_a_stop(chat_on_both: ChatClient) -> None:
    chat = chat_on_both
    async with asking(chat.client, "count", agent_id="endless") as first:
        await first.event()
        await put(chat, first.session_id, "two")
        await chat.client.post(f"/api/chat/{first.message_id}/stop")
        await first.rest()
    held = (await conversation(chat, first.session_id))["queue"]
    assert [(one["content"], one["status"]) for one in held] == [("two", "stopped")]
    assert await asked(chat, first.session_id) == ["count"]


async def test_send_now_stops_the_answer_and_sends_this_one_first(chat_on_both: ChatClient) -> None:
    chat, urgent = chat_on_both, str(uuid4())
    async with asking(chat.client, "count", agent_id="endless") as first:
        await first.event()
        session = first.session_id
        await put(chat, session, "can wait", agent_id="echo")
        await put(chat, session, "緊急", urgent, agent_id="echo")
        early = await chat.client.post(f"/api/sessions/{session}/queue/{urgent}/send")
        assert (early.status_code, early.json()["code"]) == (409, "sessions.answer_in_progress")
        sent = await chat.client.post(f"/api/sessions/{session}/queue/{urgent}/send", json={"stop": True})
        assert sent.status_code == 200, sent.text
        await first.rest()
    await all_answered(chat, session, 3)
    messages = await chat.messages(session)
    assert messages[1]["status"] == "stopped"
    assert sent.json()["message_id"] == messages[3]["message_id"]
    assert [one["content"] for one in messages[2:]] == ["緊急", "緊急", "can wait", "can wait"]


async def test_pending_approval_leaves_it_queued(chat: ChatClient) -> None:
    async with asking(chat.client, "x", agent_id="cautious") as first:
        call = await first.event()
        await put(chat, first.session_id, "then", agent_id="echo")
        assert await waiting(chat, first.session_id) == ["then"]
        await chat.client.post(f"/api/chat/{first.message_id}/approve", json={"id": call.data["id"]})
        await first.rest()
    await all_answered(chat, first.session_id, 2)
    assert await waiting(chat, first.session_id) == []


async def test_removed_message_is_not_sent(chat_on_both: ChatClient) -> None:
    chat, message_id = chat_on_both, str(uuid4())
    async with asking(chat.client, "one", agent_id="gated") as first:
        session = first.session_id
        await put(chat, session, "two", message_id)
        path = f"/api/sessions/{session}/queue/{message_id}"
        assert (await chat.client.delete(path)).status_code == 204
        again = await chat.client.delete(path)
        assert (again.status_code, again.json()["code"]) == (404, "queue.not_found")
        chat.agent(GatedAgent).finish()
        await first.rest()
    assert (await chat.client.post(f"{path}/send")).json()["code"] == "queue.not_found"
    assert await asked(chat, session) == ["one"]


async def test_message_whose_agent_has_gone_waits_with_the_reason(chat: ChatClient) -> None:
    async with asking(chat.client, "one", agent_id="gated") as first:
        session = first.session_id
        await put(chat, session, "two", agent_id="echo")
        chat.registry.unregister("echo")
        chat.agent(GatedAgent).finish()
        await first.rest()

    async def has_reason() -> bool:
        return bool((await conversation(chat, session))["queue"][0]["error_code"])

    await until(has_reason)
    held = (await conversation(chat, session))["queue"][0]
    assert (held["error_code"], held["status"]) == ("agents.not_found", "complete")
    sent = await chat.client.post(f"/api/sessions/{session}/queue/{held['message_id']}/send")
    assert (sent.status_code, sent.json()["code"]) == (404, "agents.not_found")
    assert await asked(chat, session) == ["one"]


async def test_files_stay_while_a_message_waits_and_go_with_its_session(chat_on_both: ChatClient) -> None:
    chat = chat_on_both
    file = {"file": ("報告.txt", "秘密".encode(), "text/plain")}
    attached = (await chat.client.post("/api/attachments", files=file)).json()
    async with asking(chat.client, "one", agent_id="gated") as first:
        session = first.session_id
        queued = await put(chat, session, "", attachments=[attached["attachment_id"]])
        assert queued.status_code == 200, queued.text
        assert (await conversation(chat, session))["queue"][0]["attachments"] == [attached]
        assert (await chat.client.delete(f"/api/sessions/{session}")).status_code == 204
    gone = await chat.client.get(f"/api/attachments/{attached['attachment_id']}")
    assert gone.status_code == 404


async def test_refusals(chat: ChatClient) -> None:
    empty = (await chat.client.post("/api/sessions", json={})).json()["session_id"]
    assert (await put(chat, empty, "x")).json()["code"] == "queue.nothing_to_wait_for"
    async with asking(chat.client, "one", agent_id="gated") as first:
        session = first.session_id
        assert (await put(chat, session, " ")).json()["code"] == "sessions.message_required"
        assert (await put(chat, session, "x", agent_id="nobody")).json()["code"] == "agents.not_found"
        assert (await put(chat, session, "x", parent_id="nothing")).json()["code"] == "sessions.parent_not_found"
        assert (await put(chat, session, "x", "not-a-uuid")).status_code == 400
        for number in range(20):
            assert (await put(chat, session, f"質問 {number}")).status_code == 200
        full = await put(chat, session, "one more")
        assert (full.status_code, full.json()["code"], full.json()["params"]) == (409, "queue.full", {"limit": 20})
        await chat.client.delete(f"/api/sessions/{session}")


async def test_queue_survives_a_restart_of_the_server(both: URL) -> None:
    async with (
        open_chat(both, FakeRegistry(GatedAgent(), EchoAgent())) as chat,
        asking(chat.client, "one", agent_id="gated") as first,
    ):
        session = first.session_id
        await put(chat, session, "再起動後", agent_id="echo")
    async with open_chat(both, FakeRegistry(GatedAgent(), EchoAgent())) as chat:
        held = (await conversation(chat, session))["queue"]
        assert [(one["content"], one["status"]) for one in held] == [("再起動後", "interrupted")]
        sent = await chat.client.post(f"/api/sessions/{session}/queue/{held[0]['message_id']}/send")
        assert sent.status_code == 200
        await all_answered(chat, session, 2)
        assert await asked(chat, session) == ["one", "再起動後"]
