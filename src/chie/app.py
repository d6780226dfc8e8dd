"""`chie serve`: all rooms behind one door. A room that is ill or not set up never keeps the others closed."""

import asyncio
from collections.abc import Awaitable, Callable, Mapping
from contextlib import AbstractAsyncContextManager, nullcontext
from functools import partial
from html import escape
from importlib import resources
from pathlib import Path
from typing import Any

from fastapi import FastAPI
from starlette.requests import Request
from starlette.responses import HTMLResponse, JSONResponse, Response
from starlette.routing import Route

from chie.access.api import create_access_api
from chie.access.authentication import Authenticator, load_authenticator
from chie.access.guard import protect
from chie.access.middleware import base_url, user_in
from chie.chat.agents.builtin import open_agents
from chie.chat.agents.port import AgentDirectory, NoAgents, Reception
from chie.chat.app import Surrounding, create_chat_app
from chie.chat.app import health as chat_health
from chie.chat.settings import ChatSettings
from chie.errors import ConfigurationError
from chie.http.security_headers import STYLED
from chie.http.static_files import STATIC, page_routes
from chie.mcp_kit.server import Server, http_app
from chie.servers import load_servers
from chie.settings import load
from chie.setup.api import create_setup_api

METHODS = ["GET", "POST", "DELETE"]  # of MCP over HTTP

LARGER_BODIES = {"/api/knowledge/import": 64 * 1024 * 1024}


def load_app() -> FastAPI:
    """As `chie serve` runs it: every room, and the agents that use them, with their settings from the environment."""
    rooms = load_servers()
    agents = open_agents(load(ChatSettings), rooms)
    return create_app(rooms, opening=lambda: agents)


def create_app(
    rooms: Mapping[str, Server | ConfigurationError],
    agents: AgentDirectory | None = None,
    *,
    opening: Callable[[], AbstractAsyncContextManager[AgentDirectory]] | None = None,
    page: Path = STATIC,
    authenticator: Authenticator | None = None,
) -> FastAPI:
    """The chat's app with the rooms' servers beside it. `opening` gives the agents once the servers are up.

    Without a built web page in the folder `page`, a plain page shows how to connect. Without an `authenticator` the
    environment configures one.
    """
    authenticator = authenticator or load_authenticator()
    servers = {name: room for name, room in rooms.items() if isinstance(room, Server)}
    closed = {name: room.message for name, room in rooms.items() if isinstance(room, ConfigurationError)}
    apps = {name: http_app(server, f"/mcp/{name}") for name, server in servers.items()}
    reception = Reception(opening or (lambda: nullcontext(agents or NoAgents())))
    surroundings: list[Surrounding] = [*(partial(app.lifespan, app) for app in apps.values()), reception.open]
    house = create_chat_app(reception, surroundings=surroundings, larger_bodies=LARGER_BODIES)
    house.include_router(create_access_api(authenticator))
    reasons = {name: room.reason for name, room in rooms.items() if isinstance(room, ConfigurationError)}
    house.include_router(create_setup_api(servers, reasons, token_required=lambda: authenticator.required))
    for name, server in servers.items():
        if server.api:
            house.include_router(server.api(), prefix=f"/api/{name}", tags=[name])
    files = page_routes(page) or [Route("/", _start_page)]
    house.router.routes += [
        *files,
        Route("/health", _health(servers, closed)),
        *(Route(f"/mcp/{name}", app) for name, app in apps.items()),
        *(Route(f"/mcp/{name}", _closed(reason), methods=METHODS) for name, reason in closed.items()),
        *(
            Route(f"/api/{name}{{rest:path}}", _closed(reason), methods=[*METHODS, "PUT", "PATCH"])
            for name, reason in closed.items()
        ),
    ]
    house.add_middleware(protect, authenticator=authenticator, open_paths=[route.path for route in files])
    return house


def _health(servers: Mapping[str, Server], closed: Mapping[str, str]) -> Callable[[Request], Awaitable[Response]]:
    async def health(request: Request) -> Response:
        chat, *found = await asyncio.gather(chat_health(request.app), *(s.health() for s in servers.values()))
        states = dict(zip(servers, found, strict=True)) | {"chat": chat}
        well = all(state["status"] == "healthy" for state in states.values())
        rest = {name: {"status": reason} for name, reason in closed.items()}
        body: dict[str, Any] = {"status": "healthy" if well else "unhealthy"}
        if user_in(request.scope):  # a stranger learns whether it is well, and no more
            body["servers"] = states | rest
        return JSONResponse(body, status_code=200 if well else 503)

    return health


async def _start_page(request: Request) -> Response:
    page = resources.files("chie").joinpath("start_page.html").read_text(encoding="utf-8")
    return HTMLResponse(
        page.replace("{{ address }}", escape(base_url(request.scope))), headers={"Content-Security-Policy": STYLED}
    )


def _closed(reason: str) -> Callable[[Request], Awaitable[Response]]:
    async def closed(_: Request) -> Response:
        return JSONResponse({"detail": reason}, status_code=503)

    return closed
