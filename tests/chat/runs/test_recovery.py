"""Failures of the database and of other processes."""

import asyncio
import sqlite3
from contextlib import AsyncExitStack
from datetime import timedelta

import psycopg
import pytest
from sqlalchemy import text
from tests.fakes.agents import ANSWER, GatedAgent
from tests.fakes.chat import ChatClient, open_chat, postgres_url
from tests.fakes.postgres import new_database
from tests.fakes.sse import asking, following, texts
from tests.fakes.waiting import until

from chie.chat.runs.lease import GRACE_DURATION
from chie.chat.sessions.connection import Connection
from chie.chat.sessions.entities import now
from chie.errors import StorageError


async def test_lost_connections_to_postgresql_lose_nothing(postgres: str) -> None:
    """Every connection is terminated during an answer, as by a restart of the server."""
    address = new_database(postgres)
    async with open_chat(postgres_url(address)) as chat:
        agent = chat.agent(GatedAgent)
        async with asking(chat.client, "go on", agent_id="gated") as reader:
            agent.allow("before ")
            await reader.event()
            with psycopg.connect(address, autocommit=True) as connection:
                connection.execute(
                    "SELECT pg_terminate_backend(pid) FROM pg_stat_activity "
                    "WHERE datname = current_database() AND pid <> pg_backend_pid()"
                )
            agent.allow("after")
            await reader.event()
            agent.finish()
            assert (await reader.event()).data["message_id"] == reader.message_id
        answer = (await chat.messages(reader.session_id))[-1]
        assert (answer["status"], answer["content"]) == ("complete", "before after")


async def test_commit_without_a_confirmation_is_not_repeated(
    chat_on_both: ChatClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Saving and finishing succeed but raise, as when the connection breaks during a commit."""
    answers, agent = chat_on_both.app.state.chat.answers, chat_on_both.agent(GatedAgent)
    monkeypatch.setattr("chie.chat.runs.retry.RETRY_DELAYS", (0.0,))
    lost: list[str] = []

    def losing(name: str) -> None:
        real = getattr(answers, name)

        async def arrive(*arguments: object, **options: object) -> object:
            found: object = await real(*arguments, **options)
            if name not in lost:
                lost.append(name)
                raise StorageError("the connection broke.")
            return found

        monkeypatch.setattr(answers, name, arrive)

    async def saved() -> bool:
        return "save" in lost

    losing("save")
    losing("finish")
    async with asking(chat_on_both.client, "twice?", agent_id="gated") as reader:
        agent.allow("once ")
        await until(saved)
        agent.allow("only")
        agent.finish()
        events = await reader.rest()
    assert lost == ["save", "finish"]
    assert ([event.id for event in events], texts(events)) == ([1, 2, 3], "once only")
    async with following(chat_on_both.client, reader.message_id) as back:
        assert await back.rest() == events


async def test_stop_after_the_last_event_changes_nothing(chat: ChatClient, monkeypatch: pytest.MonkeyPatch) -> None:
    """The answer is complete and being saved when `stop` arrives."""
    answers, agent = chat.app.state.chat.answers, chat.agent(GatedAgent)
    reached, go_on, finish = asyncio.Event(), asyncio.Event(), answers.finish

    async def slow(*arguments: object, **options: object) -> object:
        reached.set()
        await go_on.wait()
        return await finish(*arguments, **options)

    monkeypatch.setattr(answers, "finish", slow)
    async with asking(chat.client, "quick", agent_id="gated") as reader:
        agent.allow("whole")
        agent.finish()
        await reached.wait()
        stopping = asyncio.create_task(chat.client.post(f"/api/chat/{reader.message_id}/stop"))
        assert (await reader.event()).text == "whole"
        go_on.set()
        assert (await reader.event()).data["message_id"] == reader.message_id
        assert (await stopping).json()["status"] == "complete"


async def test_lock_of_another_process_only_delays(chat: ChatClient) -> None:
    assert chat.url.database is not None
    other = sqlite3.connect(chat.url.database, isolation_level=None)
    other.execute("BEGIN IMMEDIATE")
    asked = asyncio.create_task(chat.ask("wait"))
    assert (await chat.get("/api/sessions"))["sessions"] == []
    other.execute("COMMIT")
    other.close()
    _, events = await asked
    assert texts(events) == ANSWER


async def test_answer_of_a_dead_process_on_another_machine_is_ended(
    chat_on_both: ChatClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("chie.chat.runs.lease_keeper.RENEW_INTERVAL", timedelta(seconds=0.01))
    session_id, _ = await chat_on_both.ask("count", agent_id="echo")
    statement = text("UPDATE messages SET status = 'streaming', owner = 'other-host/1/1/aa', alive_at = :then")

    async def abandon(connection: Connection) -> None:
        await connection.execute(statement, {"then": (now() - GRACE_DURATION * 2).replace(tzinfo=None)})

    async with open_chat(chat_on_both.url) as other:
        await other.app.state.chat._database.write(abandon)

        async def closed() -> bool:
            return bool((await other.messages(session_id))[-1]["status"] == "interrupted")

        await until(closed)
        answer = (await other.messages(session_id))[-1]
    assert (answer["content"], answer["error_code"]) == ("count", "chat.process_died")


async def test_abandoned_answer_is_ended_by_one_of_many_processes(chat_on_both: ChatClient) -> None:
    _, events = await chat_on_both.ask("count", agent_id="echo")
    marked = "UPDATE messages SET status = 'streaming', owner = 'other-host/1/1/aa', alive_at = :then"
    statement = text(f"{marked} WHERE role = 'assistant'")

    async def abandon(connection: Connection) -> None:
        await connection.execute(statement, {"then": (now() - GRACE_DURATION * 2).replace(tzinfo=None)})

    async with AsyncExitStack() as stack:
        apps = [await stack.enter_async_context(open_chat(chat_on_both.url)) for _ in range(4)]
        await chat_on_both.app.state.chat._database.write(abandon)
        closed = await asyncio.gather(*(app.app.state.chat.recovery.recover() for app in apps))
    assert sum(closed) == 1
    async with following(chat_on_both.client, events[-1].data["message_id"]) as reader:
        assert [event.id for event in await reader.rest()] == [1, 2, 10_003, 10_004]


async def test_running_answer_renews_its_lease(chat: ChatClient, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("chie.chat.runs.lease_keeper.RENEW_INTERVAL", timedelta(seconds=0.01))
    async with open_chat(chat.url) as other, asking(other.client, "slowly", agent_id="gated") as reader:
        answers = other.app.state.chat.answers
        renewed: list[list[str]] = []
        renew_leases = answers.renew_leases

        async def watched(message_ids: list[str]) -> set[str]:
            renewed.append(message_ids)
            lost: set[str] = await renew_leases(message_ids)
            return lost

        async def twice() -> bool:
            return len(renewed) > 1

        monkeypatch.setattr(answers, "renew_leases", watched)
        await until(twice)
        assert renewed[-1] == [reader.message_id]
        other.agent(GatedAgent).finish()
        assert (await reader.event()).event == "done"
