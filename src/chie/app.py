"""The composition root of `chie serve`: one FastAPI app with the chat, every MCP server and the web page.

A module that is not configured or unhealthy never stops the others.
"""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from contextlib import AbstractAsyncContextManager, AsyncExitStack, asynccontextmanager, nullcontext
from html import escape
from importlib import resources
from pathlib import Path
from typing import TYPE_CHECKING, Any

from fastapi import FastAPI
from starlette.requests import Request
from starlette.responses import HTMLResponse, JSONResponse, Response
from starlette.routing import Route

from chie import __version__
from chie.access.api import create_access_api
from chie.access.authentication import Authenticator, load_authenticator
from chie.access.identity import user_in
from chie.access.middleware import protect
from chie.access.proxy import base_url
from chie.chat import module as chat_module
from chie.chat.agents.assembly import open_agents
from chie.chat.agents.registry import AgentRegistry, NoAgents
from chie.chat.metrics import CONTENT_TYPE
from chie.chat.module import ChatModule
from chie.chat.settings import ChatSettings
from chie.errors import ChieError, ConfigurationError
from chie.http import docs_page
from chie.http.body_limit import MEBIBYTE
from chie.http.errors import add_error_handlers
from chie.http.request_log import Observer, RequestLog
from chie.http.responses import error_response
from chie.http.routing import DeferredRoute, LazyRoutes, routes_of
from chie.http.security_headers import STYLES_ONLY_POLICY
from chie.http.server import require_loopback
from chie.http.static_files import STATIC, page_routes
from chie.installation.commands import chie_program
from chie.mcp_kit.server import Server, http_app, unhealthy
from chie.servers import load_agent_servers, load_servers
from chie.settings import load
from chie.setup.api import create_setup_api

if TYPE_CHECKING:
    from fastapi import APIRouter
    from fastmcp.server.http import StarletteWithLifespan

Agents = AbstractAsyncContextManager[AgentRegistry]

MCP_METHODS = ["GET", "POST", "DELETE"]
API_METHODS = [*MCP_METHODS, "PUT", "PATCH"]

LARGER_BODIES = {
    "/api/knowledge/import": 64 * MEBIBYTE,
    "/api/attachments": 21 * MEBIBYTE,
    "/api/sessions/import": 512 * MEBIBYTE,
    "/api/projects/*/files": 21 * MEBIBYTE,
}


REQUIRED = {"knowledge"}  # runs without any settings


def load_app(authenticator: Authenticator | None = None) -> FastAPI:
    """The app of `chie serve`, with all servers and agents configured by the environment."""
    servers = load_servers()
    agents = open_agents(load(ChatSettings), servers, load_agent_servers())
    return create_app(servers, agents, authenticator=authenticator)


def run_on_lambda() -> None:
    """Serve the invocations of AWS Lambda; only with authentication, as for any address beyond this machine."""
    from chie.http.lambda_runtime import run_lambda

    def create() -> FastAPI:
        authenticator = load_authenticator()
        if not authenticator.allows_remote:
            require_loopback("AWS Lambda")
        return load_app(authenticator)

    run_lambda(create)


def create_app(
    servers: Mapping[str, Server | ConfigurationError],
    agents: Agents | None = None,
    *,
    chat: ChatModule | None = None,
    page: Path = STATIC,
    authenticator: Authenticator | None = None,
) -> FastAPI:
    """`agents` is entered once the servers run. Without `chat` or `authenticator` the environment configures them.

    Without a built web page in the folder `page`, a plain page shows how to connect.
    """
    authenticator = authenticator or load_authenticator()
    running = {name: server for name, server in servers.items() if isinstance(server, Server)}
    failed = {name: error for name, error in servers.items() if isinstance(error, ConfigurationError)}
    mcp_apps = {name: http_app(server, f"/mcp/{name}") for name, server in running.items()}
    lifespan = _lifespan(mcp_apps, agents or nullcontext(NoAgents()), chat or ChatModule())
    app = FastAPI(title="Chie", version=__version__, lifespan=lifespan, docs_url=None, redoc_url=None)
    _add_apis(app, running, failed, authenticator)
    files = page_routes(page) or [Route("/", _start_page)]
    app.router.routes += [
        *files,
        Route("/docs", docs_page.show),
        Route("/metrics", _metrics),
        Route("/health", _health(running, failed)),
        *(Route(f"/mcp/{name}", mcp_app) for name, mcp_app in mcp_apps.items()),
        *(Route(f"/mcp/{name}", _unavailable(error), methods=MCP_METHODS) for name, error in failed.items()),
        *(
            Route(f"/api/{name}{{rest:path}}", _unavailable(error), methods=API_METHODS)
            for name, error in failed.items()
        ),
    ]
    public_paths = [route.path for route in files]
    app.add_middleware(protect, authenticator=authenticator, public_paths=public_paths, larger_bodies=LARGER_BODIES)
    app.add_middleware(RequestLog, observe=_observer(app))
    add_error_handlers(app)
    docs_page.install_openapi(app)
    return app


def _add_apis(
    app: FastAPI,
    running: Mapping[str, Server],
    failed: Mapping[str, ConfigurationError],
    authenticator: Authenticator,
) -> None:
    reasons = {name: error.reason for name, error in failed.items()}
    chat_module.add_routes(app)
    setup = create_setup_api(running, reasons, token_required=lambda: authenticator.required)
    app.router.routes += [*routes_of(create_access_api(authenticator)), *routes_of(setup)]
    for name, server in running.items():
        app.router.routes += _lazy_apis(app, name, server)


def _lazy_apis(app: FastAPI, name: str, server: Server) -> list[LazyRoutes]:
    apis = [(f"/api/{name}", server.api, [name]), ("/hooks", server.hooks, ["hooks"]), ("/v1", server.openai, [])]
    return [LazyRoutes(app, prefix, _loading(prefix, create, tags)) for prefix, create, tags in apis if create]


def _loading(prefix: str, create: "Callable[[], APIRouter]", tags: list[str]) -> Callable[[], list[DeferredRoute]]:
    return lambda: routes_of(create(), prefix=prefix, tags=tags)


def _lifespan(
    mcp_apps: "Mapping[str, StarletteWithLifespan]", agents: Agents, chat: ChatModule
) -> Callable[[FastAPI], AbstractAsyncContextManager[None]]:
    """Starts the MCP servers, then the agents that use them, then the chat; stops them in reverse."""

    @asynccontextmanager
    async def lifespan(app: FastAPI) -> AsyncIterator[None]:
        async with AsyncExitStack() as stack:
            for mcp_app in mcp_apps.values():
                await stack.enter_async_context(mcp_app.lifespan(mcp_app))
            opened = await stack.enter_async_context(agents)
            await stack.enter_async_context(chat.lifespan(app, opened))
            yield

    return lifespan


def _health(
    running: Mapping[str, Server], failed: Mapping[str, ConfigurationError]
) -> Callable[[Request], Awaitable[Response]]:
    async def health(request: Request) -> Response:
        """A module that needs no settings and has wrong ones degrades the app, whose other modules work. One that is
        not configured counts as healthy. Unauthenticated callers get the overall status alone."""
        chat, *found = await asyncio.gather(_chat_health(request.app), *(s.health() for s in running.values()))
        states = dict(zip(running, found, strict=True)) | {"chat": chat}
        is_healthy = all(state["status"] == "healthy" for state in states.values())
        status = "degraded" if REQUIRED & set(failed) else "healthy"
        body: dict[str, Any] = {"status": status if is_healthy else "unhealthy"}
        if user_in(request.scope):
            body["servers"] = states | {name: {"status": error.message} for name, error in failed.items()}
        return JSONResponse(body, status_code=200 if is_healthy else 503)

    return health


async def _chat_health(app: FastAPI) -> dict[str, Any]:
    try:
        return {"status": "healthy", **await chat_module.check(app)}
    except ChieError as error:
        return unhealthy(error)


def _observer(app: FastAPI) -> Observer:
    def observe(method: str, route: str, status: int, seconds: float) -> None:
        app.state.chat.metrics.request_answered(method, route, status, seconds)

    return observe


async def _metrics(request: Request) -> Response:
    return Response(request.app.state.chat.metrics.page(), media_type=CONTENT_TYPE)


async def _start_page(request: Request) -> Response:
    page = resources.files("chie").joinpath("start_page.html").read_text(encoding="utf-8")
    html = page.replace("{{ url }}", escape(base_url(request.scope))).replace("{{ chie }}", escape(chie_program()))
    return HTMLResponse(html, headers={"Content-Security-Policy": STYLES_ONLY_POLICY})


def _unavailable(error: ConfigurationError) -> Callable[[Request], Awaitable[Response]]:
    async def respond(request: Request) -> Response:
        return error_response(request.scope, 503, error.reason)

    return respond
