"""A client for Server-Sent Events that exposes ids, comments and raw blocks."""

import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import Any

import httpx2


@dataclass(frozen=True)
class Sse:
    id: int
    event: str
    data: dict[str, Any]

    @property
    def text(self) -> str:
        return str(self.data["content"]) if self.event == "message" else ""


def parse(body: str) -> list[Sse]:
    return [_event(block) for block in body.split("\n\n") if block and not block.startswith(":")]


def _event(block: str) -> Sse:
    fields = dict(line.split(": ", 1) for line in block.split("\n"))
    return Sse(int(fields["id"]), fields["event"], json.loads(fields["data"]))


def texts(events: list[Sse]) -> str:
    return "".join(event.text for event in events)


class Reader:
    """One open stream; `event()` waits for the next event, `block()` for the next block, comments included."""

    def __init__(self, response: httpx2.Response) -> None:
        self.response = response
        self._chunks = response.aiter_text()
        self._buffer = ""

    @property
    def session_id(self) -> str:
        return str(self.response.headers["x-chie-session"])

    @property
    def message_id(self) -> str:
        return str(self.response.headers["x-chie-message"])

    async def block(self) -> str | None:
        while "\n\n" not in self._buffer:
            try:
                self._buffer += await anext(self._chunks)
            except StopAsyncIteration:
                return None
        block, self._buffer = self._buffer.split("\n\n", 1)
        return block

    async def event(self) -> Sse:
        while (block := await self.block()) is not None:
            if not block.startswith(":"):
                return _event(block)
        raise EOFError("the stream ended")

    async def take(self, count: int) -> list[Sse]:
        return [await self.event() for _ in range(count)]

    async def rest(self) -> list[Sse]:
        found = []
        while (block := await self.block()) is not None:
            if not block.startswith(":"):
                found.append(_event(block))
        return found


@asynccontextmanager
async def asking(client: httpx2.AsyncClient, message: str, **fields: object) -> AsyncIterator[Reader]:
    async with client.stream("POST", "/api/chat/stream", json={"message": message, **fields}) as response:
        assert response.status_code == 200, await response.aread()
        yield Reader(response)


@asynccontextmanager
async def following(client: httpx2.AsyncClient, message_id: str, last: int | None = None) -> AsyncIterator[Reader]:
    headers = {} if last is None else {"Last-Event-ID": str(last)}
    async with client.stream("GET", f"/api/chat/stream/{message_id}", headers=headers) as response:
        assert response.status_code == 200, await response.aread()
        yield Reader(response)
