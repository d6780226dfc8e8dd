"""A remote MCP server behind FastMCP's own authorization server, on a loopback port."""

import socket
from threading import Thread
from typing import Any, Self

import uvicorn
from fastmcp import FastMCP
from fastmcp.server.auth.providers.in_memory import InMemoryOAuthProvider
from fastmcp.server.dependencies import get_access_token
from mcp.server.auth.settings import ClientRegistrationOptions, RevocationOptions
from mcp_types import ToolAnnotations
from starlette.responses import RedirectResponse, Response
from starlette.types import Receive, Scope, Send


class OAuthMcp:
    """Its provider approves every login at once."""

    def __init__(self, *, registration: bool = True) -> None:
        self._registration = registration
        self.refusal: str | None = None  # from then on, every MCP request is refused and sent to this metadata
        self.moved: str | None = None  # or it is redirected to this URL
        self.provider: Any = None
        self._listener = socket.create_server(("127.0.0.1", 0))
        self.port = self._listener.getsockname()[1]

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}/mcp"

    def __enter__(self) -> Self:
        self.provider = InMemoryOAuthProvider(
            base_url=f"http://127.0.0.1:{self.port}",
            client_registration_options=ClientRegistrationOptions(enabled=self._registration),
            revocation_options=RevocationOptions(enabled=True),
        )
        mcp: FastMCP[None] = FastMCP("vault", auth=self.provider)

        @mcp.tool(annotations=ToolAnnotations(read_only_hint=True))
        def open_vault() -> str:
            """Open the vault of the caller."""
            token = get_access_token()
            return f"vault of {token.client_id if token else 'nobody'}"

        inner = mcp.http_app(path="/mcp", stateless_http=True)

        async def app(scope: Scope, receive: Receive, send: Send) -> None:
            response: Response | None = None
            if scope["type"] == "http" and scope["path"] == "/mcp":
                if self.refusal:
                    challenge = f'Bearer error="invalid_token", resource_metadata="{self.refusal}"'
                    response = Response(status_code=401, headers={"WWW-Authenticate": challenge})
                elif self.moved:
                    response = RedirectResponse(self.moved)
            await (response or inner)(scope, receive, send)

        self._server = uvicorn.Server(uvicorn.Config(app, log_config=None, timeout_graceful_shutdown=1, ws="none"))
        self._thread = Thread(target=self._server.run, kwargs={"sockets": [self._listener]}, daemon=True)
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._server.should_exit = True
        self._server.force_exit = True
        self._thread.join()
