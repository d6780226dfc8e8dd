"""Links to conversations over HTTP: a link shows what was shared, as it was, until it is revoked."""

import asyncio
from collections.abc import AsyncIterator
from typing import Any

import pytest
from sqlalchemy import URL, text
from tests.fakes.agents import EchoAgent, FakeRegistry, GatedAgent, ToolAgent
from tests.fakes.chat import ChatClient, open_chat
from tests.fakes.sse import parse
from tests.fakes.waiting import until

from chie.chat.sessions.database import Database
from chie.chat.sharing.service import SharingService
from chie.database.engine import WRITE_TRANSACTION, async_engine, is_sqlite
from chie.errors import NotFoundError

pytestmark = pytest.mark.req("AG-12")


@pytest.fixture
async def chat(both: URL) -> AsyncIterator[ChatClient]:
    async with open_chat(both, FakeRegistry(EchoAgent(), ToolAgent(), GatedAgent())) as opened:
        yield opened


async def share(chat: ChatClient, session: str, **fields: Any) -> str:
    response = await chat.client.post(f"/api/sessions/{session}/shares", json=fields)
    assert response.status_code == 201, response.text
    token: str = response.json()["token"]
    return token


async def upload(chat: ChatClient, name: str, data: bytes) -> str:
    response = await chat.client.post("/api/attachments", files={"file": (name, data, "text/plain")})
    attachment: str = response.json()["attachment_id"]
    return attachment


async def test_link_shows_the_conversation_as_it_was(chat: ChatClient) -> None:
    session, _ = await chat.ask("障害の原因は？", agent_id=ToolAgent.id)
    messages = await chat.messages(session)
    token = await share(chat, session)
    await chat.ask("later question", session_id=session)
    await chat.client.patch(f"/api/sessions/{session}", json={"title": "renamed"})
    shared = await chat.get(f"/api/shared/{token}")
    assert shared["title"] == "障害の原因は？"
    assert shared["own"] is True
    assert [(one["content"], one["parts"]) for one in shared["messages"]] == [
        (one["content"], one["parts"]) for one in messages
    ]
    assert any(part["type"] == "tool_result" for part in shared["messages"][1]["parts"])
    assert not {"session_id"} & shared["messages"][0].keys()
    assert len(token) >= 32


async def test_link_shows_one_branch_alone(chat: ChatClient) -> None:
    session, _ = await chat.ask("first", agent_id="echo")
    question, answer = await chat.messages(session)
    edited = await chat.client.post(f"/api/chat/{question['message_id']}/edit", json={"message": "private words"})
    assert parse(edited.text)
    token = await share(chat, session, message_id=answer["message_id"])
    assert "private words" not in (await chat.client.get(f"/api/shared/{token}")).text
    assert "private words" in (await chat.client.get(f"/api/shared/{await share(chat, session)}")).text
    other, _ = await chat.ask("another conversation", agent_id="echo")
    foreign = await chat.client.post(f"/api/sessions/{other}/shares", json={"message_id": answer["message_id"]})
    assert foreign.status_code == 404


async def test_only_files_of_the_shared_branch_are_read(chat: ChatClient) -> None:
    inside, outside = await upload(chat, "内.txt", "共有する".encode()), await upload(chat, "out.txt", b"not shared")
    session, _ = await chat.ask("read this", agent_id="echo", attachments=[inside])
    token = await share(chat, session)
    await chat.ask("and this", session_id=session, attachments=[outside])
    path = f"/api/shared/{token}/attachments"
    assert (await chat.client.get(f"{path}/{inside}")).content.decode() == "共有する"
    assert (await chat.client.get(f"{path}/{inside}/text")).text == "共有する"
    for name in (outside, f"{outside}/text", "nothing"):
        assert (await chat.client.get(f"{path}/{name}")).status_code == 404


async def test_revoked_link_is_gone(chat: ChatClient) -> None:
    attachment = await upload(chat, "a.txt", b"text")
    session, _ = await chat.ask("hello", agent_id="echo", attachments=[attachment])
    first, second = await share(chat, session), await share(chat, session)
    listed = (await chat.get("/api/shares"))["shares"]
    assert {one["token"] for one in listed} == {first, second}
    assert {one["session_id"] for one in listed} == {session}
    assert (await chat.client.delete(f"/api/shares/{first}")).status_code == 204
    for method, path in [
        ("GET", f"/api/shared/{first}"),
        ("GET", f"/api/shared/{first}/attachments/{attachment}"),
        ("GET", f"/api/shared/{first}/attachments/{attachment}/text"),
        ("POST", f"/api/shared/{first}/continue"),
        ("DELETE", f"/api/shares/{first}"),
    ]:
        gone = await chat.client.request(method, path)
        assert (gone.status_code, gone.json()["code"]) == (404, "sharing.not_found"), path
    assert [one["token"] for one in (await chat.get("/api/shares"))["shares"]] == [second]


async def test_deleting_the_conversation_revokes_its_links(chat: ChatClient) -> None:
    session, _ = await chat.ask("hello", agent_id="echo")
    token = await share(chat, session)
    assert (await chat.client.delete(f"/api/sessions/{session}")).status_code == 204
    assert (await chat.client.get(f"/api/shared/{token}")).status_code == 404
    assert (await chat.get("/api/shares"))["shares"] == []


async def test_shared_conversation_is_continued_as_a_copy(chat: ChatClient) -> None:
    attachment = await upload(chat, "計画.txt", "一月".encode())
    session, _ = await chat.ask("いつ？", agent_id=ToolAgent.id, attachments=[attachment])
    token = await share(chat, session)
    copied = await chat.client.post(f"/api/shared/{token}/continue")
    assert copied.status_code == 201
    copy = copied.json()["session_id"]
    assert copied.json()["current_agent_id"] == ToolAgent.id
    await chat.client.delete(f"/api/sessions/{session}")
    messages = await chat.messages(copy)
    assert messages[0]["content"] == "いつ？"
    assert any(part["type"] == "tool_result" for part in messages[1]["parts"])
    [file] = messages[0]["attachments"]
    assert (await chat.client.get(f"/api/attachments/{file['attachment_id']}/text")).text == "一月"
    await chat.ask("続けて", session_id=copy, agent_id="echo")
    assert [one["role"] for one in await chat.messages(copy)] == ["user", "assistant"] * 2
    assert len(chat.agent(EchoAgent).requests[0][1]) == 2
    found = (await chat.get("/api/sessions", query="いつ"))["sessions"]
    assert [one["session_id"] for one in found] == [copy]


async def test_nothing_half_finished_is_shared(chat: ChatClient) -> None:
    empty = (await chat.client.post("/api/sessions")).json()["session_id"]
    refused = await chat.client.post(f"/api/sessions/{empty}/shares")
    assert refused.json()["code"] == "sharing.nothing_to_share"
    lonely, _ = await chat.ask("hi", agent_id="echo")
    no_project = await chat.client.post(f"/api/sessions/{lonely}/shares", json={"with_project": True})
    assert no_project.json()["code"] == "sharing.no_project"


async def test_moving_a_conversation_out_of_its_project_ends_links_for_members(chat: ChatClient) -> None:
    project = (await chat.client.post("/api/projects", json={"name": "P"})).json()["project_id"]
    session, _ = await chat.ask("hello", agent_id="echo", project_id=project)
    everybody, members = await share(chat, session), await share(chat, session, with_project=True)
    shown = (await chat.get(f"/api/projects/{project}/shares"))["shares"]
    assert [(one["token"], one["title"]) for one in shown] == [(members, "hello")]
    await chat.client.patch(f"/api/sessions/{session}", json={"project_id": None})
    assert (await chat.client.get(f"/api/shared/{members}")).status_code == 404
    assert (await chat.client.get(f"/api/shared/{everybody}")).status_code == 200


async def test_conversation_that_is_deleted_meanwhile_is_shown_whole_or_not_at_all(chat: ChatClient) -> None:
    """The tables of the deleted rows are locked, so that each request is between two of its statements."""
    session, _ = await chat.ask("hello", agent_id="echo", attachments=[await upload(chat, "a.txt", b"text")])
    token = await share(chat, session)
    database, engine, on_sqlite = Database(chat.url), async_engine(chat.url), is_sqlite(chat.url)
    async with engine.connect() as connection:
        await connection.execution_options(**(WRITE_TRANSACTION if on_sqlite else {}))
        await connection.execute(text("DELETE FROM sessions WHERE id = :id"), {"id": session})
        if not on_sqlite:
            await connection.execute(text("LOCK TABLE messages IN ACCESS EXCLUSIVE MODE"))
        reading = asyncio.create_task(chat.client.get(f"/api/shared/{token}"))
        copying = asyncio.create_task(SharingService(database).copy(token, agent_id="echo"))

        async def waiting() -> bool:
            if on_sqlite:
                return reading.done()
            blocked = text("SELECT count(*) FROM pg_locks WHERE NOT granted")
            return int((await connection.execute(blocked)).scalar_one()) == 2

        await until(waiting)
        await connection.commit()
    with pytest.raises(NotFoundError):
        await copying
    await database.close()
    await engine.dispose()
    shown = await reading
    assert (shown.status_code, len(shown.json()["messages"])) == (200, 2)
    assert (await chat.client.get(f"/api/shared/{token}")).status_code == 404
