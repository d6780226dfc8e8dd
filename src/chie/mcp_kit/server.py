"""One kind of server and one way to run it, over stdio or stateless HTTP."""

import asyncio
import inspect
import ipaddress
import os
import signal
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from contextlib import asynccontextmanager, suppress
from threading import Thread
from typing import TYPE_CHECKING, Any, TypeVar

from fastmcp import FastMCP
from fastmcp.server.middleware import CallNext, Middleware, MiddlewareContext
from mcp_types import ToolAnnotations
from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import JSONResponse

from chie import __version__
from chie.access.authentication import load_authenticator
from chie.access.middleware import user_in
from chie.access.proxy import load_proxy
from chie.errors import ChieError, ConfigurationError
from chie.http.workers import Place, address_of, listening
from chie.logging import REQUEST, new_request_id
from chie.mcp_kit.auth import Audit, Identity
from chie.mcp_kit.errors import ErrorTranslator
from chie.mcp_kit.views import shown_by

if TYPE_CHECKING:
    from socket import socket

    import uvicorn
    from fastapi import APIRouter
    from fastmcp.server.http import StarletteWithLifespan
    from starlette.applications import Starlette
    from starlette.types import ASGIApp, Message, Receive, Scope, Send


FAREWELL_SECONDS = 1.0  # how long streams may take to end by themselves once the server is told to stop

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
    """Serve until stdin ends; the first Ctrl+C is such an end, so that everything is closed in order."""
    if signal.getsignal(signal.SIGINT) is signal.default_int_handler:  # else somebody wants it ignored
        _let_interrupt_end_stdin()
    server.run(transport="stdio", show_banner=False)


def _let_interrupt_end_stdin() -> None:
    """Put a pipe of ours in stdin's place, for the rest of the process.

    The server's thread waits in a read that only the other side can end, and the server waits for that thread.
    """
    outside = os.dup(0)
    inner, outer = os.pipe()
    os.dup2(inner, 0)
    os.close(inner)

    def end() -> None:
        nowhere = os.open(os.devnull, os.O_WRONLY)
        os.dup2(nowhere, outer)  # closing it would free its number while the other thread may still write there
        os.close(nowhere)

    def hand_on() -> None:
        with suppress(OSError), open(outer, "wb", closefd=False) as pipe:
            while data := os.read(outside, 65536):
                pipe.write(data)
                pipe.flush()
        end()

    def interrupted(*_: object) -> None:
        signal.signal(signal.SIGINT, signal.default_int_handler)  # a second one ends it at once
        end()

    Thread(target=hand_on, name="stdin", daemon=True).start()
    signal.signal(signal.SIGINT, interrupted)


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


def before_end(app: "Starlette", farewell: Callable[[], None]) -> None:
    """Have this called as soon as the server is told to stop, while the app's readers are still there."""
    app.state.farewells = [*_farewells(app), farewell]


def _farewells(app: "ASGIApp") -> list[Callable[[], None]]:
    return getattr(getattr(app, "state", None), "farewells", [])


class Streams:
    """Answers without an end of their own that an app is sending. Whoever stops the server would wait for them."""

    def __init__(self, app: "ASGIApp") -> None:
        self._app = app
        self._farewells = _farewells(app)
        self._open: set[asyncio.Task[Any]] = set()
        self._cut: set[asyncio.Task[Any]] = set()

    async def __call__(self, scope: "Scope", receive: "Receive", send: "Send") -> None:
        """A request is a task of its own, which is how uvicorn does it."""
        task = asyncio.current_task()
        if scope["type"] != "http" or task is None:
            return await self._app(scope, receive, send)

        async def noting(message: "Message") -> None:
            if message["type"] == "http.response.start" and not _has_length(message):
                self._open.add(task)
            elif message["type"] == "http.response.body" and not message.get("more_body"):
                self._open.discard(task)
            await send(message)

        try:
            await self._app(scope, receive, noting)
        except asyncio.CancelledError:
            if task not in self._cut:
                raise
            task.uncancel()
            with suppress(TimeoutError):
                async with asyncio.timeout(0.1):  # whoever reads nothing does not read this either
                    await send({"type": "http.response.body", "body": b""})
        finally:
            self._open.discard(task)
            self._cut.discard(task)

    async def end(self) -> None:
        """Let the app say goodbye to its readers; whoever has not ended then is cut off, as gently as HTTP allows."""
        for farewell in self._farewells:
            farewell()
        if self._open:
            await asyncio.wait(self._open, timeout=FAREWELL_SECONDS)
        for task in tuple(self._open):
            self._cut.add(task)
            task.cancel()


def _has_length(start: "Message") -> bool:
    return any(name.lower() == b"content-length" for name, _ in start.get("headers", ()))


def run_http(app: "ASGIApp", *, host: str, port: int, announce: Callable[[str], None]) -> None:
    """Serve an ASGI app until it is told to stop. The address is announced once a client can connect to it.

    A worker has its listener from its supervisor, who announces it.
    """
    import uvicorn

    refuse_open_address(host, known_users=load_authenticator().required)
    place = Place.given()
    with place.listener if place else listening(host, port) as listener:
        if place is None:
            announce(address_of(listener))
        streams = Streams(app)
        config = uvicorn.Config(
            streams, ws="none", log_config=None, access_log=False, server_header=False, timeout_graceful_shutdown=5
        )
        with suppress(KeyboardInterrupt):  # Ctrl+C is how a person ends it; uvicorn has shut down in order by then
            _server(config, streams, place).run(sockets=[listener])


def _server(config: "uvicorn.Config", streams: Streams, place: Place | None) -> "uvicorn.Server":
    import uvicorn

    class OurServer(uvicorn.Server):
        async def startup(self, sockets: "list[socket] | None" = None) -> None:
            await super().startup(sockets)
            if place:
                place.is_taken(self)

        async def shutdown(self, sockets: "list[socket] | None" = None) -> None:
            """Nobody new is let in first; then uvicorn waits for those inside, who are sent home meanwhile."""
            ending = asyncio.create_task(streams.end())
            await super().shutdown(sockets)
            ending.cancel()

    return OurServer(config)


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
