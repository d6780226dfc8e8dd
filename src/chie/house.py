"""`chie serve`: all rooms behind one door. A room that is ill or not set up never keeps the others closed."""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from contextlib import AbstractAsyncContextManager, AsyncExitStack, asynccontextmanager
from importlib.resources import files
from typing import TYPE_CHECKING

from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.middleware import Middleware
from starlette.requests import Request
from starlette.responses import HTMLResponse, JSONResponse, Response
from starlette.routing import Route

from chie.errors import ConfigurationError
from chie.mcp_kit.serve import Server, http_app, request_guard

if TYPE_CHECKING:
    from fastmcp.server.http import StarletteWithLifespan

METHODS = ["GET", "POST", "DELETE"]  # of MCP over HTTP

HEADERS = {
    "Content-Security-Policy": "default-src 'none'; style-src 'unsafe-inline'; frame-ancestors 'none'",
    "Referrer-Policy": "no-referrer",
    "X-Content-Type-Options": "nosniff",
}


def create_house(rooms: Mapping[str, Server | ConfigurationError]) -> Starlette:
    servers = {name: room for name, room in rooms.items() if isinstance(room, Server)}
    closed = {name: room.message for name, room in rooms.items() if isinstance(room, ConfigurationError)}
    apps = {name: http_app(server, f"/mcp/{name}") for name, server in servers.items()}

    async def health(_: Request) -> Response:
        states = dict(zip(servers, await asyncio.gather(*(s.health() for s in servers.values())), strict=True))
        well = all(state["status"] == "healthy" for state in states.values())
        rest = {name: {"status": reason} for name, reason in closed.items()}
        body = {"status": "healthy" if well else "unhealthy", "rooms": states | rest}
        return JSONResponse(body, status_code=200 if well else 503)

    return Starlette(
        routes=[
            Route("/", _start_page),
            Route("/health", health),
            *(Route(f"/mcp/{name}", app) for name, app in apps.items()),
            *(Route(f"/mcp/{name}", _closed(reason), methods=METHODS) for name, reason in closed.items()),
        ],
        middleware=[Middleware(request_guard)],
        exception_handlers={HTTPException: _detail},
        lifespan=_lifespan(list(apps.values())),
    )


def _lifespan(apps: "list[StarletteWithLifespan]") -> Callable[[Starlette], AbstractAsyncContextManager[None]]:
    @asynccontextmanager
    async def lifespan(_: Starlette) -> AsyncIterator[None]:
        async with AsyncExitStack() as stack:
            for app in apps:
                await stack.enter_async_context(app.lifespan(app))
            yield

    return lifespan


async def _start_page(request: Request) -> Response:
    page = files("chie").joinpath("start_page.html").read_text(encoding="utf-8")
    address = str(request.base_url).rstrip("/")
    return HTMLResponse(page.replace("{{ address }}", address), headers=HEADERS)


def _closed(reason: str) -> Callable[[Request], Awaitable[Response]]:
    async def closed(_: Request) -> Response:
        return JSONResponse({"detail": reason}, status_code=503)

    return closed


async def _detail(_: Request, error: Exception) -> Response:
    """The shape of every HTTP error; Starlette's handlers take any exception, ours is registered for this one."""
    if not isinstance(error, HTTPException):
        raise error
    return JSONResponse({"detail": error.detail}, status_code=error.status_code)
