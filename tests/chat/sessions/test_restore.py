"""Writes while a backup is restored: they wait, and get a 503 if it takes too long."""

import asyncio
import threading
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest
from tests.fakes.agents import ANSWER
from tests.fakes.chat import ChatClient, open_chat, sqlite_url
from tests.fakes.sse import parse, texts

from chie.backup.database import replace_content, snapshot
from chie.database import errors
from chie.messages.catalogue import Message


@asynccontextmanager
async def restoring(live: Path, backup: Path) -> AsyncIterator[None]:
    """A restore of `backup` that holds the lock until the block ends, such as on a slow disk."""
    started, finish = threading.Event(), threading.Event()

    def keep_current() -> None:
        started.set()
        finish.wait()

    restore = asyncio.create_task(asyncio.to_thread(replace_content, backup, live, keep_current))
    await asyncio.to_thread(started.wait)
    try:
        yield
    finally:
        finish.set()
        await restore


async def ask(chat: ChatClient, **fields: str) -> tuple[int, dict[str, str]]:
    response = await chat.client.post("/api/chat/stream", json={"message": "質問", "agent_id": "echo", **fields})
    body = response.json() if response.status_code != 200 else {"text": texts(parse(response.text))}
    return response.status_code, body


async def test_write_that_waits_too_long_for_a_restore_is_503(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    live, backup = tmp_path / "chie.db", tmp_path / "backup.db"
    monkeypatch.setattr(errors, "BUSY_TIMEOUT_SECONDS", 1)
    async with open_chat(sqlite_url(tmp_path)) as chat:
        kept, _ = await chat.ask("before")
        await asyncio.to_thread(snapshot, live, backup, disk=tmp_path)
        async with restoring(live, backup):
            refused = await asyncio.gather(
                chat.client.post("/api/sessions", json={"title": "新しい"}),
                chat.client.patch(f"/api/sessions/{kept}", json={"title": "改名"}),
                *(chat.client.post("/api/chat/stream", json={"message": "質問"}) for _ in range(3)),
            )
            assert [message["content"] for message in await chat.messages(kept)] == ["before", ANSWER]
        busy = Message("database.file_locked", path=str(live), seconds=1)
        assert [response.status_code for response in refused] == [503] * 5
        assert {response.json()["detail"] for response in refused} == {str(busy)}
        assert {response.headers["retry-after"] for response in refused} == {"5"}
        assert await ask(chat, session_id=kept) == (200, {"text": "質問"})
        listed = (await chat.get("/api/sessions"))["sessions"]
    assert [session["session_id"] for session in listed] == [kept]


async def test_write_during_a_short_restore_waits(tmp_path: Path) -> None:
    live, backup = tmp_path / "chie.db", tmp_path / "backup.db"
    async with open_chat(sqlite_url(tmp_path)) as chat:
        await chat.ask("before")
        await asyncio.to_thread(snapshot, live, backup, disk=tmp_path)
        async with restoring(live, backup):
            asked = asyncio.create_task(ask(chat))
            await asyncio.sleep(0)
        assert await asked == (200, {"text": "質問"})
