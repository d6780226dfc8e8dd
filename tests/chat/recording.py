"""Recorded responses for the page's tests: `python -m tests.chat.recording` records them again.

Ids and times are fixed, so a recording changes only when a response does.
"""

import json
import re
import tempfile
from pathlib import Path
from typing import Any

import anyio
from tests.fakes.agents import KINDS
from tests.fakes.chat import ChatClient, open_chat, sqlite_url

FIXTURES = Path(__file__).parents[2] / "web" / "core" / "fixtures" / "recorded.json"
QUESTIONS = {
    "scripted": "知恵とは？",
    "tools": "look",
    "pensive": "いくつ？",
    "forgetful": "続けて",
    "failing": "later",
    "odd": "odd",
    "echo": "こんにちは\n\n世界",
}
UUID = re.compile(r"[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}")
TIME = re.compile(r"\d{4}-\d\d-\d\dT[\d:.]+(?:Z|\+00:00)")


async def record() -> dict[str, Any]:
    with tempfile.TemporaryDirectory() as folder:
        async with open_chat(sqlite_url(Path(folder))) as chat:
            found = {kind.id: await _record(chat, kind.id) for kind in KINDS if kind.id in QUESTIONS}
    return {name: json.loads(_fixed(json.dumps(one))) for name, one in found.items()}


async def _record(chat: ChatClient, agent_id: str) -> dict[str, Any]:
    body = {"message": QUESTIONS[agent_id], "agent_id": agent_id}
    response = await chat.client.post("/api/chat/stream", json=body)
    session_id, message_id = response.headers["x-chie-session"], response.headers["x-chie-message"]
    conversation = await chat.get(f"/api/sessions/{session_id}")
    headers = {"X-Chie-Session": session_id, "X-Chie-Message": message_id}
    return {"headers": headers, "stream": response.text, "conversation": conversation}


def _fixed(text: str) -> str:
    names: dict[str, str] = {}
    text = UUID.sub(lambda found: names.setdefault(found[0], f"00000000-0000-4000-8000-{len(names):012}"), text)
    text = re.sub(r'(duration_ms\\*": )\d+', r"\g<1>5", text)
    return TIME.sub("2026-01-01T00:00:00Z", text)


def write() -> None:
    FIXTURES.parent.mkdir(exist_ok=True)
    text = json.dumps(anyio.run(record), ensure_ascii=True, indent=1)
    FIXTURES.write_text(text + "\n", encoding="utf-8")


if __name__ == "__main__":
    write()
