import asyncio
import re
import socket
from collections.abc import AsyncIterator, Iterator
from contextlib import contextmanager
from threading import Thread

import httpx2
import pytest
import uvicorn
from fastmcp import Client, Context
from mcp_types import ToolAnnotations
from starlette.applications import Starlette
from starlette.responses import StreamingResponse
from starlette.testclient import TestClient
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from chie.access.authentication import load_authenticator
from chie.access.guard import protect
from chie.errors import ConfigurationError, StorageError
from chie.logging import REQUEST, request_id
from chie.mcp_kit import server as serve
from chie.mcp_kit.server import Server, Streams, before_end, http_app, refuse_open_address, run_http

LIST = {"jsonrpc": "2.0", "id": 1, "method": "tools/list"}
ACCEPT = {"accept": "application/json, text/event-stream"}


def server(*, ill: bool = False) -> Server:
    def check() -> dict[str, int]:
        if ill:
            raise StorageError("the store is ill. Mend it.")
        return {"notes": 3}

    return Server("probe", "", check=check, close=lambda: None)


@pytest.mark.parametrize("host", ["127.0.0.1", "localhost", "::1", "127.8.8.8"])
def test_loopback_is_open(host: str) -> None:
    refuse_open_address(host)


@pytest.mark.parametrize("host", ["0.0.0.0", "::", "10.0.0.1", "example.com", ""])  # noqa: S104
def test_other_addresses_are_refused(host: str) -> None:
    with pytest.raises(ConfigurationError, match=r"refusing to listen.*Use 127\.0\.0\.1"):
        refuse_open_address(host)


def test_a_taken_port_says_what_to_do() -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        with pytest.raises(ConfigurationError, match=f"port {port}: .* Choose another port with --port"):
            run_http(http_app(server(), "/mcp"), host="127.0.0.1", port=port, announce=print)


def test_a_host_or_origin_that_is_not_ours_is_refused() -> None:
    app = protect(http_app(server(), "/mcp"), load_authenticator())
    with TestClient(app, base_url="http://127.0.0.1:8080", client=("127.0.0.1", 1)) as client:
        assert client.post("/mcp", json=LIST, headers=ACCEPT).status_code == 200
        assert client.post("/mcp", json=LIST, headers=ACCEPT | {"origin": "http://evil.example"}).status_code == 403
        assert client.post("/mcp", json=LIST, headers=ACCEPT | {"origin": "http://127.0.0.1:8080"}).status_code == 200


@pytest.mark.parametrize("mode", ["auto", "legacy"])
async def test_progress_comes_over_http_from_a_server_that_reports_it(mode: str) -> None:
    told: list[str | None] = []

    async def listen(_: float, __: float | None, message: str | None) -> None:
        told.append(message)

    with listening(http_app(busy_server(), "/mcp")) as address:
        async with Client(f"{address}/mcp", mode=mode) as client:
            result = await client.call_tool("work", {}, progress_handler=listen)
    assert result.data == "done"
    assert told == ["half way", "nearly there"]


def busy_server() -> Server:
    server = Server("busy", "", check=dict, close=lambda: None, reports_progress=True)

    @server.declare(ToolAnnotations())
    async def work(ctx: Context) -> str:
        """Work, and tell of it."""
        await ctx.report_progress(1, 2, "half way")
        await ctx.report_progress(2, 2, "nearly there")
        return "done"

    return server


@contextmanager
def listening(app: ASGIApp) -> Iterator[str]:
    """The app on a real socket, in a thread."""
    with socket.create_server(("127.0.0.1", 0)) as listener:
        server = uvicorn.Server(uvicorn.Config(app, log_config=None))
        thread = Thread(target=server.run, kwargs={"sockets": [listener]})
        thread.start()
        try:
            yield f"http://127.0.0.1:{listener.getsockname()[1]}"
        finally:
            server.should_exit = True
            thread.join()


class Sending:
    """An app in the middle of an answer, which goes on when it is `free`; and all that it has sent."""

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


async def test_a_stream_that_does_not_end_by_itself_is_ended_when_the_server_stops(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(serve, "FAREWELL_SECONDS", 0)
    app = Sending([])
    streams = Streams(app)
    answering = asyncio.create_task(streams({"type": "http"}, app.read, app.keep))
    await app.began.wait()
    await streams.end()
    await answering
    assert app.sent[-1] == {"type": "http.response.body", "body": b""}


async def test_what_has_a_length_is_sent_to_its_end() -> None:
    app = Sending([(b"Content-Length", b"2")])
    streams = Streams(app)
    answering = asyncio.create_task(streams({"type": "http"}, app.read, app.keep))
    await app.began.wait()
    await streams.end()
    app.free.set()
    await answering
    assert app.sent[-1]["body"] == b"b"


async def test_an_app_says_goodbye_to_its_streams_first() -> None:
    app = Starlette()
    sending = Sending([])
    app.add_route("/", lambda _: StreamingResponse(parts()))
    before_end(app, sending.free.set)

    async def parts() -> AsyncIterator[bytes]:
        yield b"a"
        sending.began.set()
        await sending.free.wait()
        yield b"goodbye"

    streams = Streams(app)
    async with httpx2.AsyncClient(transport=httpx2.ASGITransport(streams), base_url="http://x") as client:
        asked = asyncio.create_task(client.get("/"))
        await sending.began.wait()
        await streams.end()
        assert (await asked).text == "agoodbye"


def test_health_can_be_ill() -> None:
    with TestClient(http_app(server(), "/mcp"), base_url="http://127.0.0.1:8080") as client:
        assert client.get("/health").json() == {"status": "healthy", "notes": 3}
    with TestClient(http_app(server(ill=True), "/mcp"), base_url="http://127.0.0.1:8080") as client:
        answer = client.get("/health")
        assert (answer.status_code, answer.json()) == (
            503,
            {"status": "unhealthy", "reason": "the store is ill. Mend it."},
        )


@pytest.mark.parametrize("mode", ["auto", "legacy"])
async def test_a_call_keeps_the_name_that_the_chat_gave_it(mode: str) -> None:
    server = Server("named", "", check=dict, close=lambda: None)

    @server.declare(ToolAnnotations())
    def name() -> str:
        """Tell the request's name."""
        return request_id()

    async with Client(server, mode=mode) as client:
        kept = await client.call_tool("name", {}, meta={REQUEST: "0123456789ab"})
        other = await client.call_tool("name", {}, meta={REQUEST: "not\na name"})
        none = await client.call_tool("name", {})
    assert kept.data == "0123456789ab"
    assert len({kept.data, other.data, none.data}) == 3
    assert all(re.fullmatch("[0-9a-f]{12}", result.data) for result in (other, none))
