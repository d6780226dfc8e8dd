"""A cheap load generator: bare sockets, and no parsing beyond counting."""

import asyncio
import json
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from statistics import median
from typing import Any
from urllib.parse import urlsplit


@dataclass(frozen=True)
class Stream:
    first: float
    tokens: int
    done: bool


@dataclass(frozen=True)
class Load:
    streams: Sequence[Stream]
    cpu: float
    tokens: int

    @property
    def first(self) -> float:
        """Median milliseconds to the first token."""
        return median(stream.first for stream in self.streams) * 1_000

    @property
    def cpu_per_token(self) -> float:
        return self.cpu / (len(self.streams) * self.tokens) * 1_000_000

    @property
    def lost(self) -> int:
        return sum(stream.tokens != self.tokens for stream in self.streams)


@dataclass(frozen=True)
class Endpoint:
    """How a request is made, and how tokens and the end of the stream are recognised."""

    path: str
    body: Callable[[str], dict[str, Any]]
    mark: bytes
    end: bytes = b"[DONE]"
    token: str = ""


def completion(prompt: str) -> dict[str, Any]:
    return {"model": "m", "stream": True, "messages": [{"role": "user", "content": prompt}]}


OPENAI = Endpoint("/v1/chat/completions", completion, b'"content": "')
CHAT = Endpoint("/api/chat/stream", lambda prompt: {"message": prompt}, b"event: message", b"event: done")
# By name, because the default agent depends on the version.
ASSISTANT = replace(CHAT, body=lambda prompt: {"message": prompt, "agent_id": "assistant"})


async def ask(url: str, endpoint: Endpoint, tokens: int, pause: int) -> Stream:
    """One new conversation, read to its end."""
    mark, end = endpoint.mark, endpoint.end
    reader, writer = await send(url, "POST", endpoint.path, endpoint.body(f"{tokens} {pause}"), endpoint.token)
    began, first, seen, tail = time.perf_counter(), 0.0, 0, b""
    try:
        while piece := await reader.read(65_536):
            data = tail + piece
            seen += data.count(mark)
            if seen and not first:
                first = time.perf_counter() - began
            if end in data:
                return Stream(first, seen, done=True)
            keep = max(len(mark), len(end)) - 1
            tail = data[-keep:] if mark not in data[-keep:] else b""
        return Stream(first, seen, done=False)
    finally:
        writer.close()


async def count_kept(url: str) -> int:
    """Sessions whose answer is complete, according to the API."""
    kept, cursor = 0, ""
    while True:
        page = await _get(url, f"/api/sessions?limit=200{cursor}")
        kept += len(page["sessions"])
        if not page["next_cursor"]:
            return kept
        cursor = f"&cursor={page['next_cursor']}"


async def _get(url: str, path: str) -> Any:
    reader, writer = await send(url, "GET", path, None)
    try:
        answer = await reader.read()
    finally:
        writer.close()
    head, body = answer.split(b"\r\n\r\n", 1)
    assert b" 200 " in head.split(b"\r\n")[0], head
    return json.loads(body)


async def send(
    url: str, method: str, path: str, body: dict[str, Any] | None, token: str = ""
) -> tuple[asyncio.StreamReader, asyncio.StreamWriter]:
    parts = urlsplit(url)
    data = b"" if body is None else json.dumps(body).encode()
    reader, writer = await asyncio.open_connection(parts.hostname, parts.port)
    head = f"{method} {path} HTTP/1.1\r\nHost: {parts.netloc}\r\nConnection: close\r\nContent-Length: {len(data)}\r\n"
    if token:
        head += f"Authorization: Bearer {token}\r\n"
    writer.write(head.encode() + b"Content-Type: application/json\r\n\r\n" + data)
    return reader, writer
