"""Answers that another process generates: stopping, approving, deleting and following them."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from functools import partial
from typing import Any

import psycopg
import pytest
from sqlalchemy import text
from tests.fakes.agents import CautiousAgent, GatedAgent
from tests.fakes.chat import ChatClient, open_chat, postgres_url
from tests.fakes.postgres import new_database
from tests.fakes.sse import Reader, asking, following, texts
from tests.fakes.waiting import until

from chie.chat.runs import notifier, remote
from chie.chat.runs.notifier import Notifier
from chie.chat.sessions import repository
from chie.chat.sessions.connection import Connection
from chie.chat.sessions.entities import Message

CALL = "call-delete_everything"


@pytest.fixture
async def other(chat_on_both: ChatClient) -> AsyncIterator[ChatClient]:
    """A second app on the same database."""
    async with open_chat(chat_on_both.url) as chat:
        yield chat


@asynccontextmanager
async def unresponsive(chat: ChatClient, monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[None]:
    """The app keeps generating answers but ignores commands."""

    async def take(_: object) -> list[object]:
        return []

    with monkeypatch.context() as patched:
        patched.setattr(remote, "REPLY_TIMEOUT_SECONDS", 0.05)
        patched.setattr(chat.app.state.chat._queue, "take", take)
        yield


def notifier_of(chat: ChatClient) -> Notifier:
    found: Notifier = chat.app.state.chat._notifier
    return found


async def listening(chat: ChatClient) -> None:
    async def connected() -> bool:
        return notifier_of(chat).poll_interval == notifier.CHECK_SECONDS

    await until(connected)


async def count_commands(chat: ChatClient) -> int:
    async with chat.app.state.chat._database.read() as connection:
        return int((await connection.execute(text("SELECT count(*) FROM run_commands"))).scalar_one())


async def test_remote_stop_ends_the_answer_and_keeps_the_part(chat_on_both: ChatClient, other: ChatClient) -> None:
    agent = chat_on_both.agent(GatedAgent)
    async with asking(chat_on_both.client, "long", agent_id="gated") as reader:
        agent.allow("the ", "part")
        await reader.take(2)
        stopped = await other.client.post(f"/api/chat/{reader.message_id}/stop")
        assert stopped.json() == {"message_id": reader.message_id, "status": "stopped"}
        (last,) = await reader.rest()
    assert (last.id, last.event, last.data["message_id"]) == (3, "done", reader.message_id)
    assert agent.closed == 1
    answer = (await other.messages(reader.session_id))[-1]
    assert (answer["status"], answer["content"], answer["last_event_id"]) == ("stopped", "the part", 3)
    assert (await other.client.post(f"/api/chat/{reader.message_id}/stop")).json()["status"] == "stopped"
    assert await count_commands(other) == 0


@pytest.mark.parametrize(("approved", "content"), [(True, "deleted"), (False, "rejected by the user")])
async def test_remote_approval_and_denial(
    chat_on_both: ChatClient, other: ChatClient, approved: bool, content: str
) -> None:
    async with asking(chat_on_both.client, "tidy up", agent_id="cautious") as reader:
        await reader.event()
        path = f"/api/chat/{reader.message_id}/approve"
        decided = await other.client.post(path, json={"id": CALL, "approved": approved})
        assert decided.json() == {"id": CALL, "approved": approved}
        assert (await reader.event()).data["content"] == content
        await reader.rest()
    assert await count_commands(other) == 0


async def test_errors_of_the_owner_are_raised_with_their_code_and_params(
    chat_on_both: ChatClient, other: ChatClient
) -> None:
    async with asking(chat_on_both.client, "tidy up", agent_id="cautious") as reader:
        await reader.event()
        path = f"/api/chat/{reader.message_id}/approve"
        for chat in (chat_on_both, other):
            unknown = await chat.client.post(path, json={"id": "another"})
            assert (unknown.status_code, unknown.json()["code"]) == (404, "chat.tool_call_not_found")
        await other.client.post(path, json={"id": CALL})
        await reader.rest()
    late = await other.client.post(path, json={"id": CALL})
    assert (late.status_code, late.json()["code"]) == (409, "chat.answer_ended")
    assert late.json()["params"] == {"status": "complete"}
    assert await count_commands(other) == 0


async def test_only_one_of_two_contradicting_decisions_counts(
    chat_on_both: ChatClient, other: ChatClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The agent continues only after both decisions."""
    hold = asyncio.Event()
    approval = "chie.chat.runs.run.Run.approval"
    real = __import__("chie.chat.runs.run", fromlist=["Run"]).Run.approval

    async def slow(run: Any, call_id: str) -> bool:
        await hold.wait()
        allowed: bool = await real(run, call_id)
        return allowed

    monkeypatch.setattr(approval, slow)
    async with asking(chat_on_both.client, "tidy up", agent_id=CautiousAgent.id) as reader:
        await reader.event()
        path = f"/api/chat/{reader.message_id}/approve"
        decisions = [(other, True), (chat_on_both, False)]
        responses = await asyncio.gather(
            *(app.client.post(path, json={"id": CALL, "approved": approved}) for app, approved in decisions)
        )
        hold.set()
        result, *_ = await reader.rest()
    assert sorted(one.status_code for one in responses) == [200, 409]
    winner = next(one.json()["approved"] for one in responses if one.status_code == 200)
    assert result.data["is_error"] is not winner


async def test_remote_deletion_stops_the_answer_first(chat_on_both: ChatClient, other: ChatClient) -> None:
    agent = chat_on_both.agent(GatedAgent)
    async with asking(chat_on_both.client, "long", agent_id="gated") as reader:
        agent.allow("some")
        await reader.event()
        assert (await other.client.delete(f"/api/sessions/{reader.session_id}")).status_code == 204
        assert [event.event for event in await reader.rest()] == ["done"]
    assert (agent.closed, (await chat_on_both.client.get(f"/api/sessions/{reader.session_id}")).status_code) == (1, 404)


async def test_remote_reader_gets_an_error_when_the_session_is_deleted(
    chat_on_both: ChatClient, other: ChatClient
) -> None:
    """The rows disappear between two queries of the reader."""
    agent = chat_on_both.agent(GatedAgent)
    async with asking(chat_on_both.client, "x", agent_id="gated") as reader:
        agent.allow("so far ")
        await reader.event()
        async with following(other.client, reader.message_id) as there:
            await there.event()
            await chat_on_both.app.state.chat._database.write(partial(_delete, session_id=reader.session_id))
            agent.allow("gone")
            error, last = await there.rest()
        agent.finish()
        await reader.rest()
    assert (error.id, error.event, last.data) == (2, "error", {"message_id": None})
    assert error.data["code"] == "sessions.answer_not_found"


async def _delete(connection: Connection, *, session_id: str) -> None:
    await repository.delete_session(connection, session_id, user_id="anonymous")


@pytest.mark.parametrize("action", ["ask", "edit", "regenerate"])
async def test_question_in_a_session_that_is_being_deleted_is_404(postgres: str, action: str) -> None:
    """The question waits for the deletion and then finds no session."""
    dsn = new_database(postgres)
    async with open_chat(postgres_url(dsn)) as chat:
        session_id, _ = await chat.ask("first")
        question = (await chat.messages(session_id))[0]["message_id"]
        path, body = {
            "ask": ("/api/chat/stream", {"message": "second", "session_id": session_id}),
            "edit": (f"/api/chat/{question}/edit", {"message": "second"}),
            "regenerate": (f"/api/chat/{question}/regenerate", {}),
        }[action]
        with psycopg.connect(dsn) as connection:
            connection.execute("DELETE FROM sessions WHERE id = %s", (session_id,))
            asked = asyncio.create_task(chat.client.post(path, json=body))
            await asyncio.sleep(0.3)
        answer = await asked
    assert answer.status_code == 404
    assert answer.json()["code"] == "sessions.session_not_found"


async def test_concurrent_questions_in_two_processes_do_not_fork_a_session(
    postgres: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The second question arrives when the first has read the session and not yet written."""
    dsn = new_database(postgres)
    read, go_on = asyncio.Event(), asyncio.Event()
    real = repository.messages

    async def slow(connection: Connection, session_id: str) -> list[Message]:
        found = await real(connection, session_id)
        if not read.is_set():
            read.set()
            await go_on.wait()
        return found

    async with open_chat(postgres_url(dsn)) as one, open_chat(postgres_url(dsn)) as two:
        session_id, _ = await one.ask("first")
        monkeypatch.setattr(repository, "messages", slow)
        body = {"message": "second", "session_id": session_id, "agent_id": "gated"}
        async with asyncio.TaskGroup() as group:
            first = group.create_task(_asked(one, body))
            await read.wait()
            second = group.create_task(_asked(two, body))
            await until(lambda: _waits(dsn, second))
            go_on.set()
        assert (first.result(), second.result()) == (200, 409)
        assert len(await two.messages(session_id)) == 4


async def _asked(chat: ChatClient, body: dict[str, str]) -> int:
    async with chat.client.stream("POST", "/api/chat/stream", json=body) as response:
        return response.status_code


async def _waits(dsn: str, asked: "asyncio.Task[int]") -> bool:
    """Whether the request waits for a lock, or has ended."""
    with psycopg.connect(dsn) as connection:
        waiting = "SELECT 1 FROM pg_stat_activity WHERE wait_event_type = 'Lock' AND datname = current_database()"
        return asked.done() or connection.execute(waiting).fetchone() is not None


async def test_unresponsive_owner_loses_the_answer_when_it_is_stopped(
    chat_on_both: ChatClient, other: ChatClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    agent = chat_on_both.agent(GatedAgent)
    async with (
        unresponsive(chat_on_both, monkeypatch),
        asking(chat_on_both.client, "long", agent_id="gated") as reader,
        following(other.client, reader.message_id) as there,
    ):
        agent.allow("kept ")
        await reader.event()
        await there.event()
        stopped = await other.client.post(f"/api/chat/{reader.message_id}/stop")
        assert stopped.json()["status"] == "stopped"
        assert [(event.id, event.event) for event in await there.rest()] == [(10_002, "done")]
        agent.allow("never saved")
        assert [event.event for event in await reader.rest()][-2:] == ["error", "done"]
    answer = (await other.messages(reader.session_id))[-1]
    assert (answer["status"], answer["content"], answer["last_event_id"]) == ("stopped", "kept ", 10_002)
    assert agent.closed == 1


async def test_owner_that_lost_its_lease_cannot_finish_the_answer(
    chat_on_both: ChatClient, other: ChatClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It has no more events to save, so it notices only when it finishes."""
    agent = chat_on_both.agent(GatedAgent)
    async with unresponsive(chat_on_both, monkeypatch), asking(chat_on_both.client, "x", agent_id="gated") as reader:
        await other.client.post(f"/api/chat/{reader.message_id}/stop")
        agent.finish()
        error, last = await reader.rest()
    assert (error.data["code"], last.data) == ("chat.lease_lost", {"message_id": None})
    assert (await other.messages(reader.session_id))[-1]["status"] == "stopped"


async def test_command_that_is_not_taken_is_withdrawn(
    chat_on_both: ChatClient, other: ChatClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with asking(chat_on_both.client, "tidy up", agent_id="cautious") as reader:
        await reader.event()
        path = f"/api/chat/{reader.message_id}/approve"
        async with unresponsive(chat_on_both, monkeypatch):
            refused = await other.client.post(path, json={"id": CALL})
        assert (refused.status_code, refused.json()["code"]) == (409, "chat.process_not_responding")

        async def deleted() -> bool:
            return await count_commands(other) == 0

        await until(deleted)
        assert (await other.client.post(path, json={"id": CALL, "approved": False})).status_code == 200
        assert (await reader.event()).data["content"] == "rejected by the user"
        await reader.rest()


async def test_postgresql_notifies_without_polling(postgres: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Polling is practically off: following, stopping and approving rely on NOTIFY."""
    monkeypatch.setattr(notifier, "CHECK_SECONDS", 3_600.0)
    url = postgres_url(new_database(postgres))
    async with open_chat(url) as owner, open_chat(url) as other:
        await listening(owner)
        await listening(other)
        agent = owner.agent(GatedAgent)
        async with asking(owner.client, "go", agent_id="gated") as reader:
            async with following(other.client, reader.message_id) as there:
                for word in ("eins ", "zwei ", "三"):
                    agent.allow(word)
                    assert (await there.event()).text == word
                stopped = await other.client.post(f"/api/chat/{reader.message_id}/stop")
                assert [event.event for event in await there.rest()] == ["done"]
            assert stopped.json()["status"] == "stopped"
        await _approve(owner, other)


async def test_listener_reconnects_and_nothing_is_lost(postgres: str, monkeypatch: pytest.MonkeyPatch) -> None:
    dsn = new_database(postgres)
    url = postgres_url(dsn)
    async with open_chat(url) as owner, open_chat(url) as other:
        agent = owner.agent(GatedAgent)
        await listening(other)
        async with asking(owner.client, "x", agent_id="gated") as reader:
            agent.allow("before ")
            async with following(other.client, reader.message_id) as there:
                await there.event()
                _terminate_connections(dsn)
                agent.allow("after")
                assert (await there.event()).text == "after"
                await listening(other)
                await listening(owner)
                monkeypatch.setattr(notifier, "CHECK_SECONDS", 3_600.0)
                agent.allow("!")
                assert (await there.event()).text == "!"
                agent.finish()
                await there.rest()
            assert texts(await reader.rest()) == "before after!"


async def test_everything_works_without_notifications(postgres: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """As behind a pooler that shares connections between transactions."""

    async def notify(*_: object) -> None:
        pass

    monkeypatch.setattr("chie.chat.sessions.database.Database.notify", notify)
    url = postgres_url(new_database(postgres))
    async with open_chat(url) as owner, open_chat(url) as other:
        await _approve(owner, other)
        assert notifier_of(other).poll_interval == notifier.POLL_SECONDS


async def test_command_of_a_dead_sender_is_deleted(chat_on_both: ChatClient) -> None:
    session_id, _ = await chat_on_both.ask("x")
    message_id = (await chat_on_both.messages(session_id))[-1]["message_id"]
    statement = text(
        "INSERT INTO run_commands (id, message_id, kind, created_at) VALUES ('a', :id, 'stop', '2020-01-01 00:00:00')"
    )

    async def leave(connection: Connection) -> None:
        await connection.execute(statement, {"id": message_id})

    await chat_on_both.app.state.chat._database.write(leave)
    async with open_chat(chat_on_both.url) as other:

        async def deleted() -> bool:
            return await count_commands(other) == 0

        await until(deleted)


async def _approve(owner: ChatClient, other: ChatClient) -> None:
    async with asking(owner.client, "tidy up", agent_id="cautious") as reader:
        await reader.event()
        path = f"/api/chat/{reader.message_id}/approve"
        assert (await other.client.post(path, json={"id": CALL})).status_code == 200
        assert (await _rest(reader))[0] == "deleted"


async def _rest(reader: Reader) -> list[Any]:
    return [event.data.get("content") for event in await reader.rest()]


def _terminate_connections(dsn: str) -> None:
    with psycopg.connect(dsn, autocommit=True) as connection, suppress(psycopg.Error):
        connection.execute(
            "SELECT pg_terminate_backend(pid) FROM pg_stat_activity "
            "WHERE datname = current_database() AND pid <> pg_backend_pid()"
        )
