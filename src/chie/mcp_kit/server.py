"""The MCP server class of all modules, and how it runs: over stdio, or as an ASGI app."""

import asyncio
import inspect
import os
import signal
from collections.abc import AsyncIterator, Awaitable, Callable, Coroutine, Mapping, Sequence
from contextlib import asynccontextmanager, suppress
from threading import Thread
from typing import TYPE_CHECKING, Any, TypeVar

from fastmcp import FastMCP
from fastmcp.server.middleware import CallNext, Middleware, MiddlewareContext
from fastmcp.tools import Tool
from mcp.shared.memory import MessageStream, create_client_server_memory_streams
from mcp_types import ListToolsRequest, ToolAnnotations
from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import JSONResponse

from chie import __version__, background
from chie.access.identity import user_in
from chie.errors import ChieError
from chie.logging import REQUEST_META, new_request_id
from chie.mcp_kit.approval import destructive_with
from chie.mcp_kit.auth import AuditMiddleware, UserMiddleware
from chie.mcp_kit.calls import ArgumentsMiddleware
from chie.mcp_kit.errors import ErrorTranslator
from chie.mcp_kit.schemas import inlined, short_arguments
from chie.mcp_kit.views import shown_by

if TYPE_CHECKING:
    from fastapi import APIRouter
    from fastmcp.server.http import StarletteWithLifespan

F = TypeVar("F", bound=Callable[..., Any])


class Server(FastMCP[None]):
    """A FastMCP server with our error results, request ids, an audit log and a health check.

    `check` returns details for /health, or raises if the server is unhealthy; `close` runs on shutdown; both may be
    async. `start` runs beside the first calls, which do not wait for it, and handles its own errors. `error_fields` are
    defaults for the structured content of this server's errors. `api` creates the routes for the web page, which the
    app mounts under /api, `hooks` those for hooks of assistants, under /hooks, and `openai` those for OpenAI-compatible
    clients, under /v1. `audits` means that the module writes the audit log itself; otherwise calls of tools that may
    write are recorded here.
    """

    def __init__(  # noqa: PLR0913 - the parts of a module
        self,
        name: str,
        instructions: str,
        *,
        check: Callable[[], dict[str, Any] | Awaitable[dict[str, Any]]],
        close: Callable[[], Awaitable[None] | None],
        start: Callable[[], Coroutine[Any, Any, None]] | None = None,
        error_fields: Mapping[str, Any] | None = None,
        reports_progress: bool = False,
        api: "Callable[[], APIRouter] | None" = None,
        hooks: "Callable[[], APIRouter] | None" = None,
        openai: "Callable[[], APIRouter] | None" = None,
        audits: bool = False,
    ) -> None:
        @asynccontextmanager
        async def lifespan(_: FastMCP[None]) -> AsyncIterator[None]:
            started = background.once(start(), f"{name}-start") if start else None
            try:
                yield None
            finally:
                if started:
                    started.cancel()
                    await asyncio.wait([started])
                if (closed := close()) is not None:
                    await closed

        super().__init__(
            name,
            version=__version__,
            instructions=instructions,
            mask_error_details=True,
            middleware=[
                RequestIdMiddleware(),
                UserMiddleware(),
                *([] if audits else [AuditMiddleware(name)]),
                ErrorTranslator(error_fields),
                ArgumentsMiddleware(),
                ShortSchemas(),
            ],
            dereference_schemas=False,
            lifespan=lifespan,
        )
        self.reports_progress = reports_progress
        self._check = check
        self.api = api
        self.hooks = hooks
        self.openai = openai
        self.custom_route("/health", methods=["GET"])(self._health)

    @property
    def _state_store(self) -> Any:  # noqa: ANN401
        """FastMCP reads it with every list and call. Its own store would load beartype, 400 modules, for nothing."""
        return NoState()

    def declare(
        self, annotations: ToolAnnotations, *, view: str | None = None, destructive_arguments: Sequence[str] = ()
    ) -> Callable[[F], F]:
        """A decorator that registers a function as a tool; its docstring is the description.

        `view` is the URI of the page that shows its results, for hosts that show pages (`mcp_kit/views.py`).
        A tool with `destructive_arguments` only adds unless one of them is set (`mcp_kit/approval.py`).
        The docstring is passed separately, or FastMCP would load a docstring parser: a tenth of the start-up time.
        """

        def register(function: F) -> F:
            description, function.__doc__ = inspect.getdoc(function), None
            meta = {**(shown_by(view) or {}), **destructive_with(*destructive_arguments)} or None
            self.tool(function, description=description, annotations=annotations, meta=meta)
            return function

        return register

    @asynccontextmanager
    async def connect(self) -> AsyncIterator[MessageStream]:
        """A transport for the SDK's client in this process; it starts the server and stops it.

        The private names are those that FastMCP's own client uses, which would load 600 modules more.
        """
        server = self._mcp_server
        async with create_client_server_memory_streams() as (client_side, server_side), self._lifespan_manager():
            running = asyncio.create_task(server.run(*server_side, server.create_initialization_options()))
            try:
                yield client_side
            finally:
                running.cancel()
                await asyncio.wait([running])

    async def examine(self) -> dict[str, Any]:
        """Details for /health; ChieError if the server is unhealthy."""
        state = await run_in_threadpool(self._check)  # an async check only returns its coroutine there
        return state if isinstance(state, dict) else await state

    async def health(self) -> dict[str, Any]:
        """`status` first, then the details or the reason."""
        try:
            return {"status": "healthy", **await self.examine()}
        except ChieError as error:
            return unhealthy(error)

    async def _health(self, request: Request) -> JSONResponse:
        """Unauthenticated callers get the status alone."""
        state = await self.health()
        shown = state if user_in(request.scope) else {"status": state["status"]}
        return JSONResponse(shown, status_code=200 if state["status"] == "healthy" else 503)


def unhealthy(error: ChieError) -> dict[str, Any]:
    """A module's entry in /health."""
    reason = {"reason_code": error.code, "reason_params": error.reason.json_params()}
    return {"status": "unhealthy", "reason": error.message, **reason}


class RequestIdMiddleware(Middleware):
    """Gives every request an id for its log lines; a call from the chat keeps the id that it has there."""

    async def on_request(self, context: MiddlewareContext[Any], call_next: CallNext[Any, Any]) -> Any:  # noqa: ANN401
        request = context.fastmcp_context.request_context if context.fastmcp_context else None
        new_request_id((request.meta or {}).get(REQUEST_META) if request else None)
        return await call_next(context)


class ShortSchemas(Middleware):
    """Clients get schemas that are complete and short: every model reads them."""

    async def on_list_tools(
        self, context: MiddlewareContext[ListToolsRequest], call_next: CallNext[ListToolsRequest, Sequence[Tool]]
    ) -> Sequence[Tool]:
        return [_with_short_schemas(tool) for tool in await call_next(context)]


def _with_short_schemas(tool: Tool) -> Tool:
    output = tool.output_schema and inlined(tool.output_schema)
    return tool.model_copy(update={"parameters": short_arguments(tool.parameters), "output_schema": output})


class NoState:
    """The state of sessions in FastMCP, which our servers do not use."""

    async def get(self, key: str) -> None:
        """Nothing is ever stored."""


def run_stdio(server: Server) -> None:
    """Serve until stdin ends. The first Ctrl+C ends stdin too, so that the server shuts down in order."""
    if signal.getsignal(signal.SIGINT) is signal.default_int_handler:  # else the parent process ignores it
        _end_stdin_on_interrupt()
    server.run(transport="stdio", show_banner=False)


def _end_stdin_on_interrupt() -> None:
    """Replace stdin with a pipe that we can close.

    The server waits for a thread that blocks in a read of stdin, which only the writing end can finish.
    """
    outside = os.dup(0)
    inner, outer = os.pipe()
    os.dup2(inner, 0)
    os.close(inner)

    def end() -> None:
        nowhere = os.open(os.devnull, os.O_WRONLY)
        os.dup2(nowhere, outer)  # closing it would free the descriptor while the other thread may still write to it
        os.close(nowhere)

    def forward() -> None:
        with suppress(OSError), open(outer, "wb", closefd=False) as pipe:
            while data := os.read(outside, 65536):
                pipe.write(data)
                pipe.flush()
        end()

    def interrupted(*_: object) -> None:
        signal.signal(signal.SIGINT, signal.default_int_handler)  # a second Ctrl+C ends the process at once
        end()

    Thread(target=forward, name="stdin", daemon=True).start()
    signal.signal(signal.SIGINT, interrupted)


def http_app(server: Server, path: str) -> "StarletteWithLifespan":
    """The server as a stateless ASGI app at `path`.

    A server that reports progress responds with an event stream, because progress precedes the result.
    """
    return server.http_app(
        path=path,
        stateless_http=True,
        json_response=not server.reports_progress,
        host_origin_protection=False,  # `access.middleware.protect` checks all routes
    )
