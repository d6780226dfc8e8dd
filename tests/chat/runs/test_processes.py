"""Several real processes on one database: following, stopping, approving and recovering answers of another."""

import asyncio
import json
import os
import re
import signal
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, ExitStack, asynccontextmanager, suppress
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

import httpx2
import pytest
from sqlalchemy import URL, create_engine, text
from tests.fakes.chat import postgres_url
from tests.fakes.chat_process import chat_process
from tests.fakes.postgres import new_database, restarting_server
from tests.fakes.sse import Sse, asking, following, texts
from tests.fakes.waiting import until

from chie.messages.catalogue import Message

if TYPE_CHECKING:
    import subprocess

CALL = "call-delete_everything"
DIED = str(Message("chat.process_died"))


@pytest.fixture
def database(postgres: str) -> URL:
    return postgres_url(new_database(postgres))


@asynccontextmanager
async def processes(url: URL, count: int, *options: str) -> AsyncIterator[list["ChatProcess"]]:
    """Processes that start together."""
    with ExitStack() as stack:
        contexts = [chat_process(url, *options) for _ in range(count)]
        loop = asyncio.get_running_loop()
        started = await asyncio.gather(*(loop.run_in_executor(None, one.__enter__) for one in contexts))
        for one in contexts:
            stack.push(one.__exit__)
        async with AsyncExitStack() as clients:
            yield [
                ChatProcess(
                    await clients.enter_async_context(httpx2.AsyncClient(base_url=base_url, timeout=60)), process
                )
                for base_url, process in started
            ]


class ChatProcess:
    def __init__(self, client: httpx2.AsyncClient, process: "subprocess.Popen[str]") -> None:
        self.client = client
        self.process = process


def counted(count: int) -> str:
    return "".join(f"{number} " for number in range(count))


def check_events(events: list[Sse]) -> None:
    """Event numbers increase, and no text is missing or repeated."""
    numbers = [event.id for event in events]
    assert numbers == sorted(set(numbers))
    assert texts(events) == counted(len(texts(events).split()))


async def test_one_process_generates_another_follows_a_third_stops(database: URL, tmp_path: Path) -> None:
    log = tmp_path / "log"
    async with processes(database, 3, f"--log={log}") as (owner, follower, stopper):
        async with asking(owner.client, "count", agent_id="endless") as reader:
            async with following(follower.client, reader.message_id) as there:
                seen = await there.take(40)
                stopped = await stopper.client.post(f"/api/chat/{reader.message_id}/stop")
                assert stopped.json()["status"] == "stopped"
                seen += await there.rest()
            here = await reader.rest()
        assert seen == here
        check_events(seen)
        async with asking(owner.client, "tidy up", agent_id="cautious") as reader:
            await reader.event()
            path = f"/api/chat/{reader.message_id}/approve"
            assert (await stopper.client.post(path, json={"id": CALL})).status_code == 200
            assert (await reader.event()).data["content"] == "deleted"
            await reader.rest()
    lines = [json.loads(line)["message"] for line in log.read_text(encoding="utf-8").splitlines()]
    assert len([line for line in lines if line.startswith("upgraded the database of conversations")]) == 1


async def test_killed_process_ends_its_answers_for_readers_of_other_processes(database: URL) -> None:
    async with (
        processes(database, 3) as (owner, second, third),
        asking(owner.client, "count", agent_id="endless") as reader,
    ):
        async with (
            following(second.client, reader.message_id) as one,
            following(third.client, reader.message_id) as two,
        ):
            first = await one.take(20)
            owner.process.send_signal(signal.SIGKILL)
            owner.process.wait()
            first += await one.rest()
            assert first == await two.rest()
        check_events(first)
        assert [(event.event, event.data) for event in first[-2:]] == [
            ("error", {"type": "error", "error": DIED, "code": "chat.process_died", "params": {}}),
            ("done", {"message_id": None}),
        ]
        question, answer = (await third.client.get(f"/api/sessions/{reader.session_id}")).json()["messages"]
        assert (question["content"], answer["status"]) == ("count", "interrupted")
        assert answer["content"] == texts(first)
        again = await second.client.post(f"/api/chat/{reader.message_id}/regenerate", json={"agent_id": "echo"})
        assert again.status_code == 200


async def test_hanging_process_loses_its_answer_and_does_not_overwrite_it_later(database: URL) -> None:
    async with processes(database, 2) as (owner, other), asking(owner.client, "count", agent_id="endless") as reader:
        async with following(other.client, reader.message_id) as there:
            seen = await there.take(20)
            owner.process.send_signal(signal.SIGSTOP)
            stopped = await other.client.post(f"/api/chat/{reader.message_id}/stop")
            assert stopped.json()["status"] == "stopped"
            seen += await there.rest()
        check_events(seen)
        before = (await other.client.get(f"/api/sessions/{reader.session_id}")).json()
        owner.process.send_signal(signal.SIGCONT)
        assert [event.event for event in await reader.rest()][-2:] == ["error", "done"]
        assert (await other.client.get(f"/api/sessions/{reader.session_id}")).json() == before
        assert before["messages"][-1]["content"] == texts(seen)


async def test_restart_of_postgresql_loses_nothing() -> None:
    with restarting_server() as (address, restart):
        url = postgres_url(address)
        async with processes(url, 2) as (owner, other), asking(owner.client, "count", agent_id="endless") as reader:
            async with following(other.client, reader.message_id) as there:
                seen = await there.take(20)
                await asyncio.get_running_loop().run_in_executor(None, restart)
                seen += await there.take(100)
                await until(partial(_stops, other.client, reader.message_id))
                seen += await there.rest()
            assert await reader.rest() == seen
            check_events(seen)
            answer = (await other.client.get(f"/api/sessions/{reader.session_id}")).json()["messages"][-1]
            assert (answer["status"], answer["content"]) == ("stopped", texts(seen))


async def _stops(client: httpx2.AsyncClient, message_id: str) -> bool:
    """A pooled connection from before the restart may still be broken."""
    return (await client.post(f"/api/chat/{message_id}/stop")).status_code == 200


@pytest.mark.parametrize("kind", ["postgres", "sqlite"])
async def test_any_worker_can_serve_any_answer(kind: str, postgres: str, tmp_path: Path) -> None:
    """Every request opens a connection, so it may reach either worker."""
    sqlite = URL.create("sqlite+aiosqlite", database=str(tmp_path / "chie.db"))
    url = sqlite if kind == "sqlite" else postgres_url(new_database(postgres))
    alone = httpx2.Limits(max_keepalive_connections=0)
    with chat_process(url, "--workers=2") as (base_url, process):
        async with httpx2.AsyncClient(base_url=base_url, timeout=60, limits=alone) as client:
            for _ in range(6):
                await _ask_and_stop(client)
            await _kill_owner(client, url)
            assert 'chie_answers_total{agent="endless",status="stopped"} 6.0' in (await client.get("/metrics")).text
            assert "chie_open_streams 0.0" in (await client.get("/metrics")).text
        process.send_signal(signal.SIGTERM)
        assert process.wait(timeout=60) == 0


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
@pytest.mark.parametrize("workers", [1, 2])
async def test_shutdown_ends_answers_with_an_error_event(number: signal.Signals, workers: int, tmp_path: Path) -> None:
    """The answer is saved, and nothing in the log looks like an error."""
    url, log = URL.create("sqlite+aiosqlite", database=str(tmp_path / "chie.db")), tmp_path / "log"
    with chat_process(url, f"--workers={workers}", f"--log={log}") as (base_url, process):
        async with (
            httpx2.AsyncClient(base_url=base_url, timeout=60) as client,
            asking(client, "count", agent_id="endless") as reader,
        ):
            await reader.take(5)
            process.send_signal(number)
            *_, error, last = await reader.rest()
        assert process.wait(timeout=60) in (0, -number)
    assert (error.data.get("code"), last.event) == ("chat.interrupted_by_shutdown", "done")
    assert not re.search("ERROR|Traceback|Cancel", log.read_text())


async def _ask_and_stop(client: httpx2.AsyncClient) -> None:
    async with asking(client, "count", agent_id="endless") as reader:
        async with following(client, reader.message_id) as there:
            seen = await there.take(5)
            stopped = await client.post(f"/api/chat/{reader.message_id}/stop")
            assert stopped.json()["status"] == "stopped"
            seen += await there.rest()
        assert seen == await reader.rest()


async def _kill_owner(client: httpx2.AsyncClient, url: URL) -> None:
    """Readers reconnect until they have the last event, as the page does."""
    async with asking(client, "count", agent_id="endless") as reader:
        seen = await reader.take(20)
        os.kill(_owner_pid(url, reader.message_id), signal.SIGKILL)
    while seen[-1].event != "done":
        with suppress(httpx2.HTTPError):
            async with following(client, reader.message_id, seen[-1].id) as back:
                seen += await back.rest()
    check_events(seen)
    assert [event.event for event in seen[-2:]] == ["error", "done"]


def _owner_pid(url: URL, message_id: str) -> int:
    """The id of the process that generates the answer."""
    engine = create_engine(url.set(drivername="sqlite") if url.get_backend_name() == "sqlite" else url)
    with engine.connect() as connection:
        statement = text("SELECT owner FROM messages WHERE id = :id")
        found: str = connection.execute(statement, {"id": message_id}).scalar_one()
    engine.dispose()
    return int(found.split("/")[1])
