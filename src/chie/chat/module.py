"""The chat as a module of the app: its routes, its lifespan and its health."""

import logging
from collections.abc import AsyncIterator, Iterable
from contextlib import asynccontextmanager
from functools import partial
from importlib import import_module
from typing import Any

from fastapi import FastAPI
from sqlalchemy import URL

from chie.chat.agents.registry import AgentRegistry
from chie.chat.api.state import Chat
from chie.chat.runs.saver import SAVE_SECONDS
from chie.chat.settings import ChatSettings
from chie.chat.usage.limits import default_limits
from chie.chat.usage.prices import read_prices
from chie.database.engine import sqlalchemy_url
from chie.database.settings import DatabaseSettings, database_url
from chie.errors import ChieError
from chie.http.draining import on_shutdown
from chie.http.routing import DeferredRoute, LazyRoutes, routes_of
from chie.settings import load

logger = logging.getLogger(__name__)

ROUTERS = ("chat", "attachments", "questions", "note_comparison", "marks", "sessions", "queue", "sharing")
LAZY_ROUTERS = {
    "/api/agents": ("agents",),
    "/api/endpoints": ("endpoints",),
    "/api/mcp": ("servers", "added_servers", "logins", "views", "server_content"),
    "/api/models": ("models",),
    "/api/projects": ("projects",),
    "/api/prompts": ("prompts",),
    "/api/sessions/import": ("imports",),
    "/api/usage": ("usage",),
    "/v1": ("openai_compat", "responses"),
}  # by the path that imports them


def add_routes(app: FastAPI) -> None:
    app.router.routes += _routes(ROUTERS)
    app.router.routes += [LazyRoutes(app, prefix, partial(_routes, names)) for prefix, names in LAZY_ROUTERS.items()]


def _routes(names: Iterable[str]) -> list[DeferredRoute]:
    routers = [import_module(f"chie.chat.api.{name}").router for name in names]
    return [route for router in routers for route in routes_of(router)]


class ChatModule:
    """Loads its settings at once, so that wrong ones fail the start; the database is opened with the app.

    Without a `url` the environment configures the database.
    """

    def __init__(self, url: URL | None = None, *, save_seconds: float = SAVE_SECONDS) -> None:
        self._url = url or sqlalchemy_url(database_url(load(DatabaseSettings)))
        self._save_seconds = save_seconds
        settings = load(ChatSettings)
        self._answer_limit, self._home = settings.chie_answer_limit, settings.home.expanduser()
        self._titles = settings.chie_titles
        self._limits = default_limits(settings)
        self._prices = read_prices(settings.prices_file, required=settings.chie_prices_file is not None)

    @asynccontextmanager
    async def lifespan(self, app: FastAPI, agents: AgentRegistry) -> AsyncIterator[None]:
        """Sets `app.state.chat` for the routes. If the database does not respond, requests try to open it again."""
        state = Chat(
            agents,
            self._url,
            home=self._home,
            save_seconds=self._save_seconds,
            max_characters=self._answer_limit,
            titles=self._titles,
            prices=self._prices,
            limits=self._limits,
        )
        app.state.chat = state
        on_shutdown(app, state.runs.interrupt)
        try:
            await state.open()
        except ChieError as error:
            logger.error("cannot open the conversations yet: %s [%s]", error.message, error.code)  # noqa: TRY400
        try:
            yield
        finally:
            await state.close()


async def check(app: FastAPI) -> dict[str, Any]:
    """Details for /health; ChieError if the chat is unhealthy."""
    state: Chat = app.state.chat
    await state.open()
    return {"sessions": await state.sessions.check()}
