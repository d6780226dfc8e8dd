"""The writer: changes share a transaction, but a failed one does not affect the others."""

import asyncio
import gc
from collections.abc import AsyncIterator
from pathlib import Path
from threading import get_ident

import pytest
from sqlalchemy import URL, text
from tests.fakes.chat import ChatClient, open_chat, sqlite_url

from chie.chat.sessions import repository
from chie.chat.sessions.connection import Connection
from chie.chat.sessions.database import Database
from chie.chat.sessions.entities import Session, now
from chie.chat.sessions.upgrade import upgrade
from chie.chat.shared_read import SharedRead
from chie.errors import NotFoundError, StorageError


@pytest.fixture
async def database(both: URL) -> AsyncIterator[Database]:
    upgrade(both)
    database = Database(both)
    yield database
    await database.close()


def session(name: str) -> Session:
    return Session(session_id=name, title=name, current_agent_id="a", created_at=now(), updated_at=now())


async def count(database: Database) -> int:
    async with database.read() as connection:
        return await repository.count(connection)


async def test_failed_change_does_not_affect_the_others(database: Database) -> None:
    async def fail(connection: Connection) -> None:
        await repository.new_session(session("half"))(connection)
        raise NotFoundError("no such thing.")

    good = [database.write(repository.new_session(session(str(number)))) for number in range(5)]
    clash = database.write(repository.new_session(session("0")))
    found = await asyncio.gather(*good, database.write(fail), clash, return_exceptions=True)
    assert found[:5] == [None] * 5
    assert isinstance(found[5], NotFoundError)
    assert isinstance(found[6], StorageError)
    assert await count(database) == 5


async def test_queued_changes_share_a_transaction(database: Database) -> None:
    seen: list[int] = []

    async def note(connection: Connection) -> None:
        statement = "SELECT pg_current_xact_id()::text" if database.url.get_backend_name() == "postgresql" else None
        seen.append(hash((await connection.execute(text(statement))).scalar()) if statement else id(connection))

    await asyncio.gather(*(database.write(note) for _ in range(10)))
    assert len(set(seen)) <= 2


async def test_change_of_a_cancelled_caller_is_made(database: Database) -> None:
    task = asyncio.create_task(database.write(repository.new_session(session("kept"))))
    await asyncio.sleep(0)
    task.cancel()
    await asyncio.gather(task, return_exceptions=True)
    await database.write(repository.count)
    assert await count(database) == 1


async def test_transaction_on_sqlite_is_made_in_another_thread_and_waits_for_nothing_else(tmp_path: Path) -> None:
    """So that a busy event loop delays it once, not at every statement."""
    url = sqlite_url(tmp_path)
    upgrade(url)
    database, threads = Database(url), set[int]()

    async def change(connection: Connection) -> None:
        await repository.new_session(session("half"))(connection)
        threads.add(get_ident())
        await asyncio.sleep(0)

    with pytest.raises(RuntimeError, match="may wait for its connection only"):
        await database.write(change)
    await database.write(repository.new_session(session("whole")))
    assert get_ident() not in threads
    assert await count(database) == 1
    await database.close()


async def test_query_sees_what_was_stored_before_it(database: Database) -> None:
    for number in range(3):
        await database.write(repository.new_session(session(str(number))))
        assert await database.query(repository.count) == number + 1


async def test_failed_query_raises_the_error_of_the_database(database: Database) -> None:
    with pytest.raises(StorageError):
        await database.query(lambda connection: connection.execute(text("SELECT * FROM nothing")))
    assert await database.query(repository.count) == 0


async def test_readers_at_once_share_a_read_that_starts_after_they_asked() -> None:
    stored, seen = 0, list[int]()
    running, go_on = asyncio.Event(), asyncio.Event()

    async def read() -> int:
        seen.append(stored)
        running.set()
        await go_on.wait()
        return seen[-1]

    shared = SharedRead(read)
    first = asyncio.create_task(shared())
    await running.wait()
    stored = 1
    others = [asyncio.create_task(shared()) for _ in range(5)]
    given_up = asyncio.create_task(shared())
    await asyncio.sleep(0)
    given_up.cancel()
    go_on.set()
    assert await first == 0
    assert await asyncio.gather(*others) == [1] * 5
    assert seen == [0, 1]


async def test_what_was_read_is_kept_until_it_is_forgotten() -> None:
    stored, running, go_on = 0, asyncio.Event(), asyncio.Event()

    async def read() -> int:
        found = stored
        running.set()
        await go_on.wait()
        return found

    shared = SharedRead(read, seconds=3_600)
    early = asyncio.create_task(shared())
    await running.wait()
    stored = 1
    shared.forget()  # a change while it is read
    go_on.set()
    assert await early == 0
    assert await shared() == 1
    stored = 2
    assert await shared() == 1
    shared.forget()
    assert await shared() == 2


async def test_database_that_cannot_be_opened_is_500_until_it_can(tmp_path: Path) -> None:
    """A file has the name of the folder; once it is gone, the same app works."""
    (tmp_path / "blocked").write_text("not a folder", encoding="utf-8")
    async with open_chat(sqlite_url(tmp_path / "blocked")) as chat:
        refused = await chat.client.get("/api/sessions")
        assert refused.status_code == 500
        assert refused.json()["detail"].startswith(f"The folder {tmp_path}/blocked cannot be used: File exists.")
        (tmp_path / "blocked").unlink()
        assert (await chat.client.get("/api/sessions")).status_code == 200


async def test_answer_survives_a_short_failure_of_the_database(
    chat: ChatClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    answers = chat.app.state.chat.answers
    finish, failures = answers.finish, [StorageError("the disk is full."), StorageError("still full.")]

    async def flaky(*arguments: object, **options: object) -> object:
        if failures:
            raise failures.pop()
        return await finish(*arguments, **options)

    monkeypatch.setattr(answers, "finish", flaky)
    monkeypatch.setattr("chie.chat.runs.retry.RETRY_DELAYS", (0.0, 0.0, 0.0))
    session_id, events = await chat.ask("hello")
    assert events[-1].data["session_id"] == session_id
    assert (await chat.messages(session_id))[-1]["status"] == "complete"
    failures += [StorageError("gone.")] * 4
    _, events = await chat.ask("hello")
    assert [event.data for event in events[-2:]] == [
        {"type": "error", "error": "gone.", "code": "gone.", "params": {}},
        {"message_id": None},
    ]


async def test_read_that_is_cancelled_leaves_no_connection_open(both: URL) -> None:
    """Again and again, as a response whose client is gone is cancelled, and at each of its steps."""
    upgrade(both)
    for again in (False, True):
        steps, finished = 0, False
        while not finished:
            database = Database(both)
            reading = asyncio.create_task(count(database))
            for _ in range(steps):
                await asyncio.sleep(0.0005 if steps > 12 else 0)
            finished = reading.done()
            reading.cancel()
            while again and not reading.done():
                await asyncio.sleep(0)
                reading.cancel()
            await asyncio.wait({reading})
            assert reading.cancelled() or reading.result() == 0
            await database.close()
            gc.collect()  # an open connection that is collected is an error here
            steps += 1
