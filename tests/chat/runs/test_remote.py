"""An answer that another house writes: stopped, approved, deleted and followed from here, through the database."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from functools import partial
from typing import Any

import psycopg
import pytest
from sqlalchemy import text
from sqlalchemy.ext.asyncio import AsyncConnection
from tests.fakes.agents import CautiousAgent, GatedAgent
from tests.fakes.chat import ChatClient, open_chat, postgres_url
from tests.fakes.postgres import new_database
from tests.fakes.sse import Reader, asking, following, texts
from tests.fakes.waiting import until

from chie.chat.runs import notifier, remote
from chie.chat.runs.notifier import Notifier
from chie.chat.sessions import repository
from chie.chat.sessions.entities import Message
from chie.messages.catalogue import Message as Text

CALL = "call-delete_everything"


@pytest.fixture
async def other(chat_on_both: ChatClient) -> AsyncIterator[ChatClient]:
    """A second house on the same database."""
    async with open_chat(chat_on_both.url) as house:
        yield house


@asynccontextmanager
async def deaf(house: ChatClient, monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[None]:
    """It goes on writing, and does not do what it is asked."""

    async def take(_: object) -> list[object]:
        return []

    with monkeypatch.context() as patched:
        patched.setattr(remote, "REPLY_TIMEOUT_SECONDS", 0.05)
        patched.setattr(house.app.state.chat._queue, "take", take)
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


async def test_stop_from_another_house_ends_the_answer_and_keeps_the_part(
    chat_on_both: ChatClient, other: ChatClient
) -> None:
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


@pytest.mark.parametrize(("approved", "content"), [(True, "deleted"), (False, "refused by the user")])
async def test_a_tool_is_approved_or_refused_from_another_house(
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


async def test_the_writer_s_refusal_arrives_in_its_words(chat_on_both: ChatClient, other: ChatClient) -> None:
    async with asking(chat_on_both.client, "tidy up", agent_id="cautious") as reader:
        await reader.event()
        path = f"/api/chat/{reader.message_id}/approve"
        for house in (chat_on_both, other):
            unknown = await house.client.post(path, json={"id": "another"})
            assert (unknown.status_code, unknown.json()["detail"]) == (404, str(Text("chat.tool_call_not_found")))
        await other.client.post(path, json={"id": CALL})
        await reader.rest()
    late = await other.client.post(path, json={"id": CALL})
    assert (late.status_code, late.json()["detail"]) == (409, str(Text("chat.answer_ended", status="complete")))
    assert await count_commands(other) == 0


async def test_two_who_decide_differently_do_not_both_win(
    chat_on_both: ChatClient, other: ChatClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The agent does not go on before both have spoken."""
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
        words = [(other, True), (chat_on_both, False)]
        said = await asyncio.gather(*(h.client.post(path, json={"id": CALL, "approved": a}) for h, a in words))
        hold.set()
        result, *_ = await reader.rest()
    assert sorted(one.status_code for one in said) == [200, 409]
    winner = next(one.json()["approved"] for one in said if one.status_code == 200)
    assert result.data["is_error"] is not winner


async def test_deleting_a_session_elsewhere_stops_its_answer_first(chat_on_both: ChatClient, other: ChatClient) -> None:
    agent = chat_on_both.agent(GatedAgent)
    async with asking(chat_on_both.client, "long", agent_id="gated") as reader:
        agent.allow("some")
        await reader.event()
        assert (await other.client.delete(f"/api/sessions/{reader.session_id}")).status_code == 204
        assert [event.event for event in await reader.rest()] == ["done"]
    assert (agent.closed, (await chat_on_both.client.get(f"/api/sessions/{reader.session_id}")).status_code) == (1, 404)


async def test_a_reader_elsewhere_is_told_that_the_session_was_deleted(
    chat_on_both: ChatClient, other: ChatClient
) -> None:
    """Its rows are gone between two looks at them."""
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


async def _delete(connection: AsyncConnection, *, session_id: str) -> None:
    await repository.delete_session(connection, session_id, user_id="anonymous")


@pytest.mark.parametrize("deed", ["ask", "edit", "regenerate"])
async def test_a_session_cannot_be_deleted_under_a_question(postgres: str, deed: str) -> None:
    """Whoever deletes it waits, or the question finds it gone; neither is a failure of ours."""
    address = new_database(postgres)
    async with open_chat(postgres_url(address)) as chat:
        session_id, _ = await chat.ask("first")
        question = (await chat.messages(session_id))[0]["message_id"]
        path, body = {
            "ask": ("/api/chat/stream", {"message": "second", "session_id": session_id}),
            "edit": (f"/api/chat/{question}/edit", {"message": "second"}),
            "regenerate": (f"/api/chat/{question}/regenerate", {}),
        }[deed]
        with psycopg.connect(address) as connection:
            connection.execute("DELETE FROM sessions WHERE id = %s", (session_id,))
            asked = asyncio.create_task(chat.client.post(path, json=body))
            await asyncio.sleep(0.3)
        answer = await asked
    assert answer.status_code == 404
    assert answer.json()["detail"] == str(Text("sessions.session_not_found"))


async def test_two_questions_at_once_in_two_houses_do_not_fork_a_session(
    postgres: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The first has read the session and not yet written when the second comes."""
    address = new_database(postgres)
    read, go_on = asyncio.Event(), asyncio.Event()
    real = repository.messages

    async def slow(connection: AsyncConnection, session_id: str) -> list[Message]:
        found = await real(connection, session_id)
        if not read.is_set():
            read.set()
            await go_on.wait()
        return found

    async with open_chat(postgres_url(address)) as one, open_chat(postgres_url(address)) as two:
        session_id, _ = await one.ask("first")
        monkeypatch.setattr(repository, "messages", slow)
        body = {"message": "second", "session_id": session_id, "agent_id": "gated"}
        async with asyncio.TaskGroup() as group:
            first = group.create_task(_asked(one, body))
            await read.wait()
            second = group.create_task(_asked(two, body))
            await until(lambda: _waits(address, second))
            go_on.set()
        assert (first.result(), second.result()) == (200, 409)
        assert len(await two.messages(session_id)) == 4


async def _asked(house: ChatClient, body: dict[str, str]) -> int:
    async with house.client.stream("POST", "/api/chat/stream", json=body) as response:
        return response.status_code


async def _waits(address: str, asked: "asyncio.Task[int]") -> bool:
    """For a lock, or no longer for anything."""
    with psycopg.connect(address) as connection:
        waiting = "SELECT 1 FROM pg_stat_activity WHERE wait_event_type = 'Lock' AND datname = current_database()"
        return asked.done() or connection.execute(waiting).fetchone() is not None


async def test_a_writer_that_does_not_react_loses_the_answer_when_it_is_stopped(
    chat_on_both: ChatClient, other: ChatClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    agent = chat_on_both.agent(GatedAgent)
    async with (
        deaf(chat_on_both, monkeypatch),
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


async def test_the_end_that_a_late_writer_had_in_mind_is_not_written(
    chat_on_both: ChatClient, other: ChatClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It has nothing more to save, so it learns only at its end that the answer is no longer its own."""
    agent = chat_on_both.agent(GatedAgent)
    async with deaf(chat_on_both, monkeypatch), asking(chat_on_both.client, "x", agent_id="gated") as reader:
        await other.client.post(f"/api/chat/{reader.message_id}/stop")
        agent.finish()
        error, last = await reader.rest()
    assert (error.data["code"], last.data) == ("chat.lease_lost", {"message_id": None})
    assert (await other.messages(reader.session_id))[-1]["status"] == "stopped"


async def test_a_word_that_nobody_takes_is_withdrawn(
    chat_on_both: ChatClient, other: ChatClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with asking(chat_on_both.client, "tidy up", agent_id="cautious") as reader:
        await reader.event()
        path = f"/api/chat/{reader.message_id}/approve"
        async with deaf(chat_on_both, monkeypatch):
            refused = await other.client.post(path, json={"id": CALL})
        assert (refused.status_code, refused.json()["detail"]) == (409, str(Text("chat.process_not_responding")))
        assert await count_commands(other) == 0
        assert (await other.client.post(path, json={"id": CALL, "approved": False})).status_code == 200
        assert (await reader.event()).data["content"] == "refused by the user"
        await reader.rest()


async def test_postgresql_tells_at_once_what_others_would_only_see_much_later(
    postgres: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Looking without being told is as good as off: following, stopping and approving come by NOTIFY alone."""
    monkeypatch.setattr(notifier, "CHECK_SECONDS", 3_600.0)
    url = postgres_url(new_database(postgres))
    async with open_chat(url) as writer, open_chat(url) as other:
        await listening(writer)
        await listening(other)
        agent = writer.agent(GatedAgent)
        async with asking(writer.client, "go", agent_id="gated") as reader:
            async with following(other.client, reader.message_id) as there:
                for word in ("eins ", "zwei ", "三"):
                    agent.allow(word)
                    assert (await there.event()).text == word
                stopped = await other.client.post(f"/api/chat/{reader.message_id}/stop")
                assert [event.event for event in await there.rest()] == ["done"]
            assert stopped.json()["status"] == "stopped"
        await _approve(writer, other)


async def test_when_the_line_breaks_nothing_is_lost_and_it_is_opened_again(
    postgres: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    address = new_database(postgres)
    url = postgres_url(address)
    async with open_chat(url) as writer, open_chat(url) as other:
        agent = writer.agent(GatedAgent)
        await listening(other)
        async with asking(writer.client, "x", agent_id="gated") as reader:
            agent.allow("before ")
            async with following(other.client, reader.message_id) as there:
                await there.event()
                _cut(address)
                agent.allow("after")
                assert (await there.event()).text == "after"
                await listening(other)
                await listening(writer)
                monkeypatch.setattr(notifier, "CHECK_SECONDS", 3_600.0)
                agent.allow("!")
                assert (await there.event()).text == "!"
                agent.finish()
                await there.rest()
            assert texts(await reader.rest()) == "before after!"


async def test_where_nothing_is_ever_told_everything_still_arrives(
    postgres: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As behind a pooler that gives every transaction another connection."""

    async def notify(*_: object) -> None:
        pass

    monkeypatch.setattr("chie.chat.sessions.database.Database.notify", notify)
    url = postgres_url(new_database(postgres))
    async with open_chat(url) as writer, open_chat(url) as other:
        await _approve(writer, other)
        assert notifier_of(other).poll_interval == notifier.POLL_SECONDS


async def test_an_order_whose_sender_died_is_forgotten(chat_on_both: ChatClient) -> None:
    session_id, _ = await chat_on_both.ask("x")
    message_id = (await chat_on_both.messages(session_id))[-1]["message_id"]
    statement = text(
        "INSERT INTO run_commands (id, message_id, kind, created_at) VALUES ('a', :id, 'stop', '2020-01-01 00:00:00')"
    )

    async def leave(connection: AsyncConnection) -> None:
        await connection.execute(statement, {"id": message_id})

    await chat_on_both.app.state.chat._database.write(leave)
    async with open_chat(chat_on_both.url) as other:
        assert await count_commands(other) == 0


async def _approve(writer: ChatClient, other: ChatClient) -> None:
    async with asking(writer.client, "tidy up", agent_id="cautious") as reader:
        await reader.event()
        path = f"/api/chat/{reader.message_id}/approve"
        assert (await other.client.post(path, json={"id": CALL})).status_code == 200
        assert (await _rest(reader))[0] == "deleted"


async def _rest(reader: Reader) -> list[Any]:
    return [event.data.get("content") for event in await reader.rest()]


def _cut(address: str) -> None:
    with psycopg.connect(address, autocommit=True) as connection, suppress(psycopg.Error):
        connection.execute(
            "SELECT pg_terminate_backend(pid) FROM pg_stat_activity "
            "WHERE datname = current_database() AND pid <> pg_backend_pid()"
        )
