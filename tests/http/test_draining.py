"""Open response streams end when the server shuts down."""

import asyncio
from collections.abc import AsyncIterator

import httpx2
import pytest
from starlette.applications import Starlette
from starlette.responses import StreamingResponse
from starlette.types import Message, Receive, Scope, Send

from chie.http import draining as module
from chie.http.draining import Draining, on_shutdown


class Sending:
    """An app in the middle of a response, which continues when `free` is set; keeps what it sent."""

    def __init__(self, headers: list[tuple[bytes, bytes]]) -> None:
        self.headers = headers
        self.sent: list[Message] = []
        self.began = asyncio.Event()
        self.free = asyncio.Event()

    async def __call__(self, _: Scope, __: Receive, send: Send) -> None:
        await send({"type": "http.response.start", "status": 200, "headers": self.headers})
        await send({"type": "http.response.body", "body": b"a", "more_body": True})
        self.began.set()
        await self.free.wait()
        await send({"type": "http.response.body", "body": b"b"})

    async def keep(self, message: Message) -> None:
        self.sent.append(message)

    async def read(self) -> Message:
        return {"type": "http.disconnect"}


async def test_open_stream_is_ended_on_shutdown(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(module, "DRAIN_SECONDS", 0)
    app = Sending([])
    draining = Draining(app)
    answering = asyncio.create_task(draining({"type": "http"}, app.read, app.keep))
    await app.began.wait()
    await draining.drain()
    await answering
    assert app.sent[-1] == {"type": "http.response.body", "body": b""}


async def test_response_with_length_is_sent_completely() -> None:
    app = Sending([(b"Content-Length", b"2")])
    draining = Draining(app)
    answering = asyncio.create_task(draining({"type": "http"}, app.read, app.keep))
    await app.began.wait()
    await draining.drain()
    app.free.set()
    await answering
    assert app.sent[-1]["body"] == b"b"


async def test_an_app_says_last_to_its_draining_first() -> None:
    app = Starlette()
    sending = Sending([])
    app.add_route("/", lambda _: StreamingResponse(parts()))
    on_shutdown(app, sending.free.set)

    async def parts() -> AsyncIterator[bytes]:
        yield b"a"
        sending.began.set()
        await sending.free.wait()
        yield b"last"

    draining = Draining(app)
    async with httpx2.AsyncClient(transport=httpx2.ASGITransport(draining), base_url="http://x") as client:
        asked = asyncio.create_task(client.get("/"))
        await sending.began.wait()
        await draining.drain()
        assert (await asked).text == "alast"
