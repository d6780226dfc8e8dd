"""The app with only the chat, on a real socket in the test's own loop, so that a test can control its agents."""

import asyncio
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, nullcontext
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar

import httpx2
import pytest
import uvicorn
from fastapi import FastAPI
from sqlalchemy import URL, make_url
from tests.fakes.agents import FakeAgent, FakeRegistry
from tests.fakes.postgres import new_database, run_server
from tests.fakes.sse import Sse, parse

from chie.app import create_app
from chie.chat.agents.assembly import open_agents
from chie.chat.agents.registry import AgentFactory
from chie.chat.module import ChatModule
from chie.chat.settings import ChatSettings
from chie.settings import load

NO_PAGE = Path("/nonexistent")

A = TypeVar("A", bound=FakeAgent)


@dataclass
class ChatClient:
    app: FastAPI
    client: httpx2.AsyncClient
    registry: Any
    url: URL

    def agent(self, kind: type[A]) -> A:
        agent = self.registry.get_agent(kind.id)
        assert isinstance(agent, kind)
        return agent

    async def ask(self, message: str, **fields: object) -> tuple[str, list[Sse]]:
        """The session's id and all events."""
        response = await self.client.post("/api/chat/stream", json={"message": message, **fields})
        assert response.status_code == 200, response.text
        return response.headers["x-chie-session"], parse(response.text)

    async def get(self, path: str, **parameters: Any) -> Any:
        response = await self.client.get(path, params=parameters)
        assert response.status_code == 200, response.text
        return response.json()

    async def messages(self, session_id: str) -> list[dict[str, Any]]:
        conversation = await self.get(f"/api/sessions/{session_id}")
        messages: list[dict[str, Any]] = conversation["messages"]
        return messages


@asynccontextmanager
async def serving(app: FastAPI) -> AsyncIterator[str]:
    """The app's URL on loopback."""
    server = uvicorn.Server(uvicorn.Config(app, port=0, log_config=None, timeout_graceful_shutdown=1))
    task = asyncio.create_task(server.serve())
    while not server.started:
        assert not task.done(), task.exception()
        await asyncio.sleep(0.001)
    try:
        yield f"http://127.0.0.1:{server.servers[0].sockets[0].getsockname()[1]}"
    finally:
        server.should_exit = True
        await task


@asynccontextmanager
async def open_chat(url: URL, registry: AgentFactory | None = None) -> AsyncIterator[ChatClient]:
    registry = registry or FakeRegistry()
    app = create_chat_app(registry, url)
    async with serving(app) as address, httpx2.AsyncClient(base_url=address, timeout=60) as client:
        yield ChatClient(app, client, registry, url)


def create_chat_app(registry: AgentFactory, url: URL | None = None, *, save_seconds: float = 0.02) -> FastAPI:
    chat = ChatModule(url, save_seconds=save_seconds)
    return create_app({}, nullcontext(registry), chat=chat, page=NO_PAGE)


@asynccontextmanager
async def agents_client(base_url: str, folder: Path) -> AsyncIterator[httpx2.AsyncClient]:
    """A client of an app whose own agents use the model server at this URL."""
    with pytest.MonkeyPatch.context() as environment:
        environment.setenv("OPENAI_BASE_URL", base_url)
        app = create_app({}, open_agents(load(ChatSettings), {}), chat=ChatModule(sqlite_url(folder)), page=NO_PAGE)
    async with serving(app) as address, httpx2.AsyncClient(base_url=address, timeout=60) as client:
        yield client


def sqlite_url(folder: Path) -> URL:
    return URL.create("sqlite+aiosqlite", database=str(folder / "chie.db"))


def postgres_url(address: str) -> URL:
    return make_url(address).set(drivername="postgresql+psycopg")


@pytest.fixture(scope="session")
def postgres() -> Iterator[str]:
    yield from run_server()


@pytest.fixture(params=["sqlite", "postgres"])
def both(request: pytest.FixtureRequest, tmp_path: Path) -> URL:
    """A new SQLite database, then a new PostgreSQL one."""
    if request.param == "sqlite":
        return sqlite_url(tmp_path)
    return postgres_url(new_database(request.getfixturevalue("postgres")))


@pytest.fixture
async def chat(tmp_path: Path) -> AsyncIterator[ChatClient]:
    async with open_chat(sqlite_url(tmp_path)) as opened:
        yield opened


@pytest.fixture
async def chat_on_both(both: URL) -> AsyncIterator[ChatClient]:
    async with open_chat(both) as opened:
        yield opened
