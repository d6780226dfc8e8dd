"""Marks of sessions: running, waiting for the user, unread."""

import pytest
from sqlalchemy import URL
from tests.fakes.agents import GatedAgent
from tests.fakes.chat import ChatClient, open_chat
from tests.fakes.sse import asking
from tests.fakes.waiting import until

pytestmark = pytest.mark.req("AG-12")

NOTHING: dict[str, list[str]] = {"running": [], "waiting": [], "unread": []}


async def test_answer_is_running_then_unread_then_seen_in_every_process(both: URL) -> None:
    async with open_chat(both) as one, open_chat(both) as two:
        assert await two.get("/api/sessions/marks") == NOTHING
        async with asking(one.client, "何？", agent_id="gated") as first:
            session = first.session_id
            assert await two.get("/api/sessions/marks") == {**NOTHING, "running": [session]}
            one.agent(GatedAgent).finish()
            await first.rest()
        assert await two.get("/api/sessions/marks") == {**NOTHING, "unread": [session]}
        other = {"message_id": "an earlier answer"}
        assert (await two.client.post(f"/api/sessions/{session}/seen", json=other)).status_code == 204
        assert (await one.get("/api/sessions/marks"))["unread"] == [session]
        seen = {"message_id": first.message_id}
        assert (await two.client.post(f"/api/sessions/{session}/seen", json=seen)).status_code == 204
        assert await one.get("/api/sessions/marks") == NOTHING


async def test_call_that_waits_for_approval_has_its_own_mark(chat_on_both: ChatClient) -> None:
    chat = chat_on_both
    async with asking(chat.client, "x", agent_id="cautious") as first:
        call = await first.event()
        session = first.session_id

        async def is_saved() -> bool:
            return bool((await chat.get("/api/sessions/marks"))["waiting"] == [session])

        await until(is_saved)
        assert (await chat.get("/api/sessions/marks"))["running"] == []
        await chat.client.post(f"/api/chat/{first.message_id}/approve", json={"id": call.data["id"]})
        await first.rest()
    assert await chat.get("/api/sessions/marks") == {**NOTHING, "unread": [session]}


async def test_unchanged_marks_are_not_sent_again(chat: ChatClient) -> None:
    first = await chat.client.get("/api/sessions/marks")
    same = await chat.client.get("/api/sessions/marks", headers={"If-None-Match": first.headers["etag"]})
    assert (same.status_code, same.content) == (304, b"")
    await chat.ask("one")
    changed = await chat.client.get("/api/sessions/marks", headers={"If-None-Match": first.headers["etag"]})
    assert changed.status_code == 200


async def test_session_of_nobody_cannot_be_seen(chat: ChatClient) -> None:
    missing = await chat.client.post("/api/sessions/nothing/seen", json={"message_id": "x"})
    assert (missing.status_code, missing.json()["code"]) == (404, "sessions.session_not_found")
