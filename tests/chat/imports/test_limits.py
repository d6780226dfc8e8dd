"""Files that would take more memory or time than an export: each is refused or skipped, and the rest goes on."""

import asyncio
import io
import json
import os
import subprocess
import sys
import zipfile
from concurrent.futures import ThreadPoolExecutor
from contextlib import aclosing
from pathlib import Path
from threading import Event
from typing import Any

import httpx2
import pytest
from sqlalchemy import URL
from tests.chat.imports import exports
from tests.chat.imports.exports import as_json, as_zip
from tests.chat.imports.test_imports import counts, send
from tests.fakes.chat import ChatClient
from tests.fakes.chat_process import chat_process
from tests.fakes.waiting import until

pytestmark = pytest.mark.req("AG-12", "TR-5")

MEMORY = """
import resource, sys
from chie.cli import main
try:
    main(["sessions", "import", sys.argv[1]])
finally:
    print("MiB", resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024)
"""


def memory_of(file: Path, home: Path) -> tuple[int, str]:
    """What an import takes, in MiB, and what it prints."""
    environment = os.environ | {"CHIE_HOME": str(home)}
    command = [sys.executable, "-c", MEMORY, str(file)]
    done = subprocess.run(command, capture_output=True, text=True, check=False, env=environment)
    return int(done.stdout.split()[-1]), done.stdout + done.stderr


def node(key: object, parent: object, role: str = "user", parts: object = ("a",)) -> dict[str, Any]:
    message = {"author": {"role": role}, "content": {"parts": parts}}
    return {"id": str(key), "parent": str(parent), "message": message}


def conversation(*nodes: dict[str, Any], **fields: object) -> dict[str, Any]:
    return {"title": "会話", "id": "x", "mapping": {one["id"]: one for one in nodes}, **fields}


def test_small_archive_takes_little_memory(tmp_path: Path) -> None:
    """Millions of empty objects in 35 kB."""
    bomb, normal = tmp_path / "bomb.zip", tmp_path / "normal.zip"
    start = json.dumps(as_json(conversation(node("q", ""))).decode()[:-1])
    with zipfile.ZipFile(bomb, "w", zipfile.ZIP_DEFLATED) as archive, archive.open("conversations.json", "w") as file:
        file.write(json.loads(start).encode() + b', {"mapping": [')
        for _ in range(12):
            file.write(b"{}," * 1_000_000)
    normal.write_bytes(as_zip({"conversations.json": as_json(exports.claude_2023())}))
    usual, _ = memory_of(normal, tmp_path)
    needed, printed = memory_of(bomb, tmp_path)
    assert "unpacks to more than 100 times its size" in printed
    assert "1 new conversations" in printed
    assert needed - usual < 150


@pytest.mark.parametrize(
    ("found", "code"),
    [
        (conversation(node("q", "", parts=[{}] * 1_000_000)), "imports.conversation_too_large"),
        (conversation(*(node(number, number - 1) for number in range(20_000))), "imports.conversation_too_large"),
        (
            conversation(*(node(number, min(number, 9_000) - 1, "assistant") for number in range(19_000))),
            "imports.conversation_too_large",  # every branch repeats the long answer
        ),
        (
            conversation(*(node(n, min(n, 20_000) - 1, "user" if n > 20_000 else "system") for n in range(40_000))),
            "imports.conversation_too_large",
        ),
        (conversation(node("q", "", parts=json.loads("[" * 200 + "]" * 200))), "imports.conversation_damaged"),
    ],
    ids=["values", "messages", "text", "hidden", "nesting"],
)
async def test_large_conversation_is_skipped_and_the_next_one_is_imported(
    chat: ChatClient, found: dict[str, Any], code: str
) -> None:
    report = await send(chat, as_json(found, exports.claude_2023()))
    assert counts(report) == (1, 0, 0, 1)
    assert report["skipped"][0]["code"] == code


async def test_long_chains_of_answers_and_of_hidden_messages_are_read(chat: ChatClient) -> None:
    """In a time that grows with their number only."""
    answer = [node(number, number - 1, "assistant") for number in range(15_000)]
    hidden = [node(f"h{number}", f"h{number - 1}", "system") for number in range(15_000)]
    leaves = [node(f"l{number}", f"h{14_999}") for number in range(5_000)]
    found = conversation(*answer, *hidden, *leaves, current_node="0")
    report = await send(chat, as_json(found), dry_run=True)
    assert (counts(report), report["messages"]) == ((1, 0, 0, 0), 2 + 2 * 5_000)


async def test_unmatched_markers_and_calls_are_read_in_one_pass(chat: ChatClient) -> None:
    marked = conversation(node("q", "", parts=["\ue200" * 500_000 + "届いた"]))
    call, result = {"type": "tool_use", "name": "t"}, {"type": "tool_result", "tool_use_id": "none"}
    blocks = [call] * 30_000 + [result] * 30_000
    sent = [{"uuid": "q", "sender": "human", "text": "?"}, {"uuid": "a", "sender": "assistant", "content": blocks}]
    report = await send(chat, as_json(marked, {"uuid": "c", "name": "", "chat_messages": sent}))
    assert counts(report) == (2, 0, 0, 0)


async def test_text_longer_than_a_conversation_ends_the_file(chat: ChatClient, monkeypatch: pytest.MonkeyPatch) -> None:
    """The parser would keep it whole."""
    monkeypatch.setattr("chie.chat.imports.export_file.MAX_CONVERSATION", 3_000)
    report = await send(chat, as_json(exports.claude_2023(), "x" * 1_000_000, exports.chatgpt_2023()))
    assert (counts(report), report["skipped"][0]["code"]) == ((1, 0, 0, 1), "imports.file_ends")


async def test_archive_of_many_files_is_refused_unopened(chat: ChatClient, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("chie.chat.imports.export_file.MAX_DIRECTORY", 1_000)
    many = as_zip({f"{number}.png": b"" for number in range(100)} | {"conversations.json": b"[]"})
    refused = await chat.client.post("/api/sessions/import", files={"file": ("x.zip", many, "application/zip")})
    assert (refused.status_code, refused.json()["code"]) == (400, "imports.too_many_files")


class EndlessFile(io.BytesIO):
    """An export without an end, of which one part arrives late."""

    def __init__(self) -> None:
        super().__init__(b"[{}]")
        self.waits, self.arrives = Event(), Event()

    def read(self, size: int | None = -1, /) -> bytes:
        if size == 4:
            return super().read(size)
        if self.waits.is_set():
            self.arrives.wait()
        self.waits.set()
        return b"[" + b"{}," * 20_000


async def test_cancelled_import_stops_reading(chat: ChatClient) -> None:
    """There is one thread, which has no time for anything else before."""
    asyncio.get_running_loop().set_default_executor(ThreadPoolExecutor(1))
    file = EndlessFile()

    async def read() -> None:
        async with aclosing(chat.app.state.chat.importer.run(file, agent_id="echo", dry_run=True)) as reports:
            async for _ in reports:
                pass

    reading = asyncio.create_task(read())

    async def waits() -> bool:
        return file.waits.is_set()

    await until(waits)
    reading.cancel()
    await asyncio.wait({reading})
    file.arrives.set()
    assert await asyncio.to_thread(lambda: "free") == "free"


async def test_import_that_was_killed_is_completed_by_another_one(both: URL) -> None:
    many = [{**exports.claude_2023(), "uuid": f"conversation-{number}"} for number in range(200)]
    files = {"file": ("export.zip", as_zip({"conversations.json": as_json(*many)}), "application/zip")}
    with chat_process(both) as (url, process):
        async with (
            httpx2.AsyncClient(base_url=url, timeout=60) as client,
            client.stream("POST", "/api/sessions/import", files=files) as reports,
        ):
            first = json.loads(await anext(reports.aiter_lines()))
            process.kill()
            process.wait()
    with chat_process(both) as (url, _):
        async with httpx2.AsyncClient(base_url=url, timeout=60) as client:
            report = json.loads((await client.post("/api/sessions/import", files=files)).text.splitlines()[-1])
    assert report["existing"] >= first["new"] > 0
    assert (report["new"] + report["existing"], report["extended"]) == (200, 0)
