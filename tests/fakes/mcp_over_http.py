"""An MCP server on a loopback port that can be restarted."""

import socket
from threading import Thread
from typing import Self

import uvicorn
from fastmcp import FastMCP
from fastmcp.server.dependencies import get_http_headers
from mcp_types import ToolAnnotations


class McpOverHttp:
    def __init__(self, *, stateless: bool) -> None:
        self._stateless = stateless
        self.erase_description = "Erase everything."
        with socket.create_server(("127.0.0.1", 0)) as free:
            self.port = free.getsockname()[1]

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}/mcp"

    def __enter__(self) -> Self:
        mcp: FastMCP[None] = FastMCP("far")

        @mcp.tool(annotations=ToolAnnotations(read_only_hint=True))
        def greet() -> str:
            """Greet the caller."""
            return f"hello, {get_http_headers(include_all=True).get('x-team', 'stranger')}"

        @mcp.tool(annotations=ToolAnnotations(read_only_hint=True), output_schema=None)
        def flood() -> str:
            """Return much more than a client should read."""
            return "x" * 50_000_000

        @mcp.tool(description=self.erase_description)
        def erase() -> str:
            return "erased"

        app = mcp.http_app(path="/mcp", stateless_http=self._stateless)
        listener = socket.create_server(("127.0.0.1", self.port))
        self._server = uvicorn.Server(uvicorn.Config(app, log_config=None, timeout_graceful_shutdown=1, ws="none"))
        self._thread = Thread(target=self._server.run, kwargs={"sockets": [listener]}, daemon=True)
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._server.should_exit = True
        self._server.force_exit = True
        self._thread.join()
