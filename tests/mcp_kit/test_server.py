"""The MCP server class, over HTTP and within the process."""

import json
import re
import socket
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from threading import Thread
from typing import Any

import pytest
import uvicorn
from fastmcp import Client, Context
from mcp_types import ToolAnnotations
from starlette.testclient import TestClient
from starlette.types import ASGIApp

from chie.access.authentication import load_authenticator
from chie.access.middleware import protect
from chie.errors import StorageError
from chie.logging import REQUEST_META, request_id
from chie.mcp_kit.server import Server, http_app

LIST = {"jsonrpc": "2.0", "id": 1, "method": "tools/list"}
ACCEPT = {"accept": "application/json, text/event-stream"}


def server(*, healthy: bool = True) -> Server:
    def check() -> dict[str, int]:
        if not healthy:
            raise StorageError("access.users_unavailable")
        return {"notes": 3}

    return Server("probe", "", check=check, close=lambda: None)


def test_foreign_origin_is_rejected() -> None:
    app = protect(http_app(server(), "/mcp"), load_authenticator())
    with TestClient(app, base_url="http://127.0.0.1:8080", client=("127.0.0.1", 1)) as client:
        assert client.post("/mcp", json=LIST, headers=ACCEPT).status_code == 200
        assert client.post("/mcp", json=LIST, headers=ACCEPT | {"origin": "http://evil.example"}).status_code == 403
        assert client.post("/mcp", json=LIST, headers=ACCEPT | {"origin": "http://127.0.0.1:8080"}).status_code == 200


@pytest.mark.parametrize("mode", ["auto", "legacy"])
async def test_progress_is_reported_over_http(mode: str) -> None:
    seen: list[str | None] = []

    async def listen(_: float, __: float | None, message: str | None) -> None:
        seen.append(message)

    with listening(http_app(busy_server(), "/mcp")) as address:
        async with Client(f"{address}/mcp", mode=mode) as client:
            result = await client.call_tool("work", {}, progress_handler=listen)
    assert result.data == "done"
    assert seen == ["half way", "nearly there"]


def busy_server() -> Server:
    server = Server("busy", "", check=dict, close=lambda: None, reports_progress=True)

    @server.declare(ToolAnnotations())
    async def work(ctx: Context) -> str:
        """Work, and report progress."""
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


def test_failed_check_is_an_unhealthy_503() -> None:
    with TestClient(http_app(server(), "/mcp"), base_url="http://127.0.0.1:8080") as client:
        assert client.get("/health").json() == {"status": "healthy", "notes": 3}
    with TestClient(http_app(server(healthy=False), "/mcp"), base_url="http://127.0.0.1:8080") as client:
        answer = client.get("/health")
        assert (answer.status_code, answer.json()["status"]) == (503, "unhealthy")
        assert (answer.json()["reason_code"], answer.json()["reason_params"]) == ("access.users_unavailable", {})


@pytest.mark.parametrize("mode", ["auto", "legacy"])
async def test_call_keeps_a_valid_request_id(mode: str) -> None:
    server = Server("ids", "", check=dict, close=lambda: None)

    @server.declare(ToolAnnotations())
    def show() -> str:
        """Return the request id."""
        return request_id()

    async with Client(server, mode=mode) as client:
        kept = await client.call_tool("show", {}, meta={REQUEST_META: "0123456789ab"})
        other = await client.call_tool("show", {}, meta={REQUEST_META: "not\nan id"})
        none = await client.call_tool("show", {})
    assert kept.data == "0123456789ab"
    assert len({kept.data, other.data, none.data}) == 3
    assert all(re.fullmatch("[0-9a-f]{12}", result.data) for result in (other, none))


async def test_every_write_is_audited_and_a_read_only_tool_is_looked_up_once(
    home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Looking a tool up takes as long as an empty call of it."""
    server = Server("kind", "", check=dict, close=lambda: None)
    looked_up: list[str] = []
    get_tool = server.get_tool

    async def counted(name: str, version: Any = None) -> Any:
        looked_up.append(name)
        return await get_tool(name, version)

    monkeypatch.setattr(server, "get_tool", counted)

    @server.declare(ToolAnnotations(read_only_hint=True))
    async def read() -> str:
        return "読む"

    @server.declare(ToolAnnotations(read_only_hint=False))
    async def write(id: str) -> str:  # noqa: A002
        return id

    async with Client(server) as client:
        for _ in range(3):
            await client.call_tool("read", {})
            await client.call_tool("write", {"id": "メモ-1"})
    assert looked_up.count("write") - looked_up.count("read") == 2
    records = [json.loads(line) for line in (home / "audit.log").read_text("utf-8").splitlines()]
    assert [(line["kind"], line["id"]) for line in records] == [("kind.write", "メモ-1")] * 3
