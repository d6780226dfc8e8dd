"""The chat as a FastAPI app."""

import logging
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from contextlib import AbstractAsyncContextManager, AsyncExitStack, asynccontextmanager
from typing import Any

from fastapi import FastAPI
from fastapi.openapi.utils import get_openapi
from sqlalchemy import URL
from starlette.requests import Request
from starlette.responses import Response

from chie import __version__
from chie.chat.agents.port import AgentDirectory
from chie.chat.api import agents as agents_api
from chie.chat.api import chat as chat_api
from chie.chat.api import docs_page as manual
from chie.chat.api import errors, openai_compat, servers, sessions
from chie.chat.api.middleware import Bounds, RequestLog
from chie.chat.api.state import Chat
from chie.chat.metrics import CONTENT_TYPE
from chie.chat.runs.saver import SAVE_SECONDS
from chie.chat.settings import ChatSettings
from chie.database.engine import sqlalchemy_url
from chie.database.settings import DatabaseSettings, database_url
from chie.errors import ChieError
from chie.mcp_kit.server import before_end
from chie.settings import load

Surrounding = Callable[[], AbstractAsyncContextManager[Any]]

logger = logging.getLogger(__name__)


def create_chat_app(
    agents: AgentDirectory,
    *,
    url: URL | None = None,
    save_seconds: float = SAVE_SECONDS,
    surroundings: Sequence[Surrounding] = (),
    larger_bodies: Mapping[str, int] | None = None,
) -> FastAPI:
    """Without a `url` the environment says where conversations are kept; they are opened when the app starts.

    `surroundings` are entered before the chat opens and left after it has closed. `larger_bodies` are paths
    that take more than the usual, with their limits in bytes.
    """
    url = url or sqlalchemy_url(database_url(load(DatabaseSettings)))
    chat = Chat(agents, url, save_seconds=save_seconds, max_characters=load(ChatSettings).chie_answer_limit)
    app = FastAPI(title="Chie", version=__version__, lifespan=_lifespan(surroundings), docs_url=None, redoc_url=None)
    app.state.chat = chat
    before_end(app, chat.runs.interrupt)
    for module in (chat_api, sessions, agents_api, servers, openai_compat):
        app.include_router(module.router)
    app.add_route("/docs", manual.show, include_in_schema=False)
    app.add_route("/metrics", _metrics, include_in_schema=False)
    app.add_middleware(Bounds, larger=larger_bodies)
    app.add_middleware(RequestLog, metrics=chat.metrics)
    errors.install(app)
    app.openapi = lambda: _openapi(app)  # type: ignore[method-assign]
    return app


def _lifespan(surroundings: Sequence[Surrounding]) -> Callable[[FastAPI], AbstractAsyncContextManager[None]]:
    @asynccontextmanager
    async def lifespan(app: FastAPI) -> AsyncIterator[None]:
        async with AsyncExitStack() as stack:
            for surrounding in surroundings:
                await stack.enter_async_context(surrounding())
            await stack.enter_async_context(_opened(app.state.chat))
            yield

    return lifespan


@asynccontextmanager
async def _opened(chat: Chat) -> AsyncIterator[None]:
    """A database that does not answer keeps nothing else closed; requests try again."""
    try:
        await chat.open()
    except ChieError as error:
        logger.error("conversations cannot be opened yet: %s", error.message)  # noqa: TRY400 - the stack says no more
    try:
        yield
    finally:
        await chat.close()


async def health(app: FastAPI) -> dict[str, Any]:
    """Status first, then details or the reason."""
    chat: Chat = app.state.chat
    try:
        await chat.open()
        return {"status": "healthy", "sessions": await chat.sessions.check()}
    except ChieError as error:
        return {"status": "unhealthy", "reason": error.message}


async def _metrics(request: Request) -> Response:
    chat: Chat = request.app.state.chat
    return Response(chat.metrics.page(), media_type=CONTENT_TYPE)


def _openapi(app: FastAPI) -> dict[str, Any]:
    """FastAPI's own document tells of a 422 that this app never sends."""
    if app.openapi_schema is None:
        schema = get_openapi(title=app.title, version=app.version, routes=app.routes)
        for path in schema["paths"].values():
            for operation in path.values():
                operation["responses"].pop("422", None)
        for name in ("HTTPValidationError", "ValidationError"):
            schema["components"]["schemas"].pop(name, None)
        app.openapi_schema = schema
    return app.openapi_schema
