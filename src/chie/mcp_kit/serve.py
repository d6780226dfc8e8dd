"""One kind of server and one way to run it, over stdio or stateless HTTP."""

import inspect
import ipaddress
from collections.abc import AsyncIterator, Awaitable, Callable, Collection, Mapping
from contextlib import asynccontextmanager, suppress
from typing import TYPE_CHECKING, Any, TypeVar

from fastmcp import FastMCP
from fastmcp.server.middleware import CallNext, Middleware, MiddlewareContext
from mcp_types import ToolAnnotations
from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import JSONResponse

from chie import __version__
from chie.access.door import comes_from_us, user_in
from chie.access.gate import Gate, open_gate
from chie.errors import ChieError, ConfigurationError
from chie.mcp_kit.auth import Audit, Identity
from chie.mcp_kit.errors import ErrorTranslator
from chie.mcp_kit.logging import REQUEST, new_request_id
from chie.mcp_kit.views import shown_by
from chie.mcp_kit.workers import Place, address_of, listening
from chie.proxy import load_proxy

if TYPE_CHECKING:
    from fastapi import APIRouter
    from fastmcp.server.http import StarletteWithLifespan
    from starlette.types import ASGIApp, Message, Receive, Scope, Send


REFUSED = {
    421: "this is not an address of Chie. Open it as http://127.0.0.1 or http://localhost with its port.",
    403: "another web site may not use this Chie. Open Chie's own page instead.",
}

CORS_HEADERS = (
    "Authorization Content-Type Last-Event-ID Mcp-Protocol-Version Mcp-Session-Id Mcp-Method Mcp-Name X-Chie-Token"
).split()

F = TypeVar("F", bound=Callable[..., Any])


class Server(FastMCP[None]):
    """A FastMCP server with our errors, our log lines and a health that can be ill.

    `check` tells what the server needs and has, or raises; `close` runs when the server stops; either may be async.
    `error_fields` are what every error of this server has beside the house's own fields, where the error itself does
    not set them. `api` makes the routes that a web page needs beside the tools; the house puts them under /api.
    `audits` is for a room that notes its writes itself, wherever they come from; else calls of tools are noted here.
    """

    def __init__(
        self,
        name: str,
        instructions: str,
        *,
        check: Callable[[], dict[str, Any] | Awaitable[dict[str, Any]]],
        close: Callable[[], Awaitable[None] | None],
        error_fields: Mapping[str, Any] | None = None,
        reports_progress: bool = False,
        api: "Callable[[], APIRouter] | None" = None,
        audits: bool = False,
    ) -> None:
        @asynccontextmanager
        async def closing(_: FastMCP[None]) -> AsyncIterator[None]:
            try:
                yield None
            finally:
                if (closed := close()) is not None:
                    await closed

        super().__init__(
            name,
            version=__version__,
            instructions=instructions,
            mask_error_details=True,
            middleware=[
                RequestNames(),
                Identity(),
                *([] if audits else [Audit(name)]),
                ErrorTranslator(error_fields),
            ],
            lifespan=closing,
        )
        self.reports_progress = reports_progress
        self._check = check
        self.api = api
        self.custom_route("/health", methods=["GET"])(self._health)

    def declare(self, annotations: ToolAnnotations, *, view: str | None = None) -> Callable[[F], F]:
        """A decorator that makes a tool of a function; the docstring is the description, word for word.

        `view` is the address of the page that shows its answers, for hosts that show pages (`mcp_kit/views.py`).
        FastMCP would load a parser to look for parameters in the docstring: a tenth of every start. Ours have none.
        """

        def register(function: F) -> F:
            description, function.__doc__ = inspect.getdoc(function), None
            self.tool(function, description=description, annotations=annotations, meta=shown_by(view))
            return function

        return register

    async def examine(self) -> dict[str, Any]:
        """Details of a room that is well; ChieError where it is not."""
        state = await run_in_threadpool(self._check)  # one that is async only hands out what to wait for
        return state if isinstance(state, dict) else await state

    async def health(self) -> dict[str, Any]:
        """Status first, then details or the reason."""
        try:
            return {"status": "healthy", **await self.examine()}
        except ChieError as error:
            return {"status": "unhealthy", "reason": error.message}

    async def _health(self, request: Request) -> JSONResponse:
        """A stranger learns whether it is well, and no more."""
        state = await self.health()
        shown = state if user_in(request.scope) else {"status": state["status"]}
        return JSONResponse(shown, status_code=200 if state["status"] == "healthy" else 503)


class RequestNames(Middleware):
    """Gives every request a name that its log lines carry; one from the chat keeps the name it has there."""

    async def on_request(self, context: MiddlewareContext[Any], call_next: CallNext[Any, Any]) -> Any:  # noqa: ANN401
        request = context.fastmcp_context.request_context if context.fastmcp_context else None
        new_request_id((request.meta or {}).get(REQUEST) if request else None)
        return await call_next(context)


def run_stdio(server: Server) -> None:
    server.run(transport="stdio", show_banner=False)


def http_app(server: Server, path: str) -> "StarletteWithLifespan":
    """The server as an ASGI app that answers at `path`, keeping no state between requests.

    A server that reports progress answers with an event stream, the only form in which progress can come first.
    """
    return server.http_app(
        path=path,
        stateless_http=True,
        json_response=not server.reports_progress,
        host_origin_protection=False,  # `protect` puts one guard before everything
    )


def protect(app: "ASGIApp", gate: Gate, *, open_paths: Collection[str] = ()) -> "ASGIApp":
    """All that stands before an app that answers HTTP, outermost last."""
    from starlette.middleware.cors import CORSMiddleware

    from chie.access.door import Door
    from chie.access.shield import Shield

    app = Door(app, gate, open_paths)
    if origins := gate.settings.allowed_origins:
        app = CORSMiddleware(
            app,
            allow_origins=origins,
            allow_methods=["GET", "POST", "PUT", "PATCH", "DELETE"],
            allow_headers=CORS_HEADERS,
            expose_headers=["X-Chie-Session", "X-Chie-Message", "X-Request-Id", "Mcp-Session-Id", "Retry-After"],
        )
    return Shield(request_guard(app, gate), body_seconds=gate.settings.body_seconds)


def request_guard(app: "ASGIApp", gate: Gate) -> "ASGIApp":
    """Refuses a Host or Origin that is not ours: no web page shall reach a server on its reader's machine.

    Where everybody has to say who they are, a strange Host does no harm, and a proxy in front may well send one.
    Behind a proxy the platform's own probes ask for /health under names that nobody documents, so there any will do.
    """
    from fastmcp.server.http import HostOriginGuardMiddleware

    hosts, origins = gate.proxy.allowed_hosts, gate.origins

    async def guarded(scope: "Scope", receive: "Receive", send: "Send") -> None:
        passed = False

        async def inner(scope: "Scope", receive: "Receive", send: "Send") -> None:
            nonlocal passed
            passed = True
            await app(scope, receive, send)

        async def answer(message: "Message") -> None:
            if passed:
                await send(message)
            elif message["type"] == "http.response.start":
                await _refused(message["status"])(scope, receive, send)

        if scope["type"] != "http" or (gate.proxy.behind_proxy_auth and scope["path"] == "/health"):
            await app(scope, receive, send)
        elif gate.required:
            await (inner if comes_from_us(scope, origins) else _refused(403))(scope, receive, send)
        else:
            await HostOriginGuardMiddleware(inner, hosts or None, origins or None)(scope, receive, answer)

    return guarded


def _refused(status: int) -> JSONResponse:
    return JSONResponse({"detail": REFUSED[status]}, status_code=status)


def run_http(app: "ASGIApp", *, host: str, port: int, announce: Callable[[str], None]) -> None:
    """Serve an ASGI app until it is told to stop. The address is announced once a client can connect to it.

    A worker has its listener from its supervisor, who announces it.
    """
    import uvicorn

    refuse_open_address(host, known_users=open_gate().required)
    place = Place.given()
    with place.listener if place else listening(host, port) as listener:
        if place is None:
            announce(address_of(listener))
        config = uvicorn.Config(
            app, ws="none", log_config=None, access_log=False, server_header=False, timeout_graceful_shutdown=5
        )
        with suppress(KeyboardInterrupt):  # Ctrl+C is how a person ends it; uvicorn has shut down in order by then
            server = place.server(config) if place else uvicorn.Server(config)
            server.run(sockets=[listener])


def refuse_open_address(host: str, *, known_users: bool = False) -> None:
    """Only this machine may connect while nobody is asked who they are, neither by us nor by a proxy in front."""
    if known_users or host == "localhost" or load_proxy().behind_proxy_auth:
        return
    try:
        loopback = ipaddress.ip_address(host).is_loopback
    except ValueError:
        loopback = False
    if not loopback:
        raise ConfigurationError(
            f"refusing to listen on {host}: anybody who reaches it could read and change everything. "
            "Use 127.0.0.1, or let people say who they are first: `chie users add NAME` gives somebody a token. "
            "Where a proxy in front knows them already, set CHIE_BEHIND_PROXY_AUTH=1."
        )
