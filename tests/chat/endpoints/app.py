"""The whole app over ASGI, with the agents as the environment configures them."""

import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import httpx2
from tests.fakes.sse import Sse, parse

from chie.access.settings import AccessSettings
from chie.access.users import UserFile
from chie.app import create_app
from chie.chat.agents.assembly import open_agents
from chie.chat.module import ChatModule
from chie.chat.settings import ChatSettings
from chie.settings import load

ADDRESS = "http://127.0.0.1:8080"
ADMIN, MEMBER = "root", "ben"


@dataclass
class App:
    client: httpx2.AsyncClient
    registry: Any
    fastapi: Any
    tokens: dict[str, str]

    async def send(self, method: str, path: str, body: object = None, *, user: str = ADMIN) -> httpx2.Response:
        headers = {"authorization": f"Bearer {self.tokens[user]}"}
        return await self.client.request(method, path, json=body, headers=headers)

    async def json(self, method: str, path: str, body: object = None, *, user: str = ADMIN) -> Any:
        response = await self.send(method, path, body, user=user)
        assert response.status_code < 300, response.text
        return response.json() if response.content else None

    async def endpoints(self, user: str = ADMIN) -> list[dict[str, Any]]:
        found: list[dict[str, Any]] = (await self.json("GET", "/api/endpoints", user=user))["endpoints"]
        return found

    async def servers(self, user: str = ADMIN) -> dict[str, dict[str, Any]]:
        found = (await self.json("GET", "/api/mcp/servers", user=user))["servers"]
        return {server["name"]: server for server in found}

    async def ask(self, message: str, **fields: object) -> list[Sse]:
        response = await self.send("POST", "/api/chat/stream", {"message": message, **fields})
        assert response.status_code == 200, response.text
        return parse(response.text)


@asynccontextmanager
async def opened(chat: ChatModule | None = None) -> AsyncIterator[App]:
    file = UserFile(load(AccessSettings).users_path)
    known = {entry.name for entry in file.entries()}
    users = (ADMIN, MEMBER)
    tokens = {name: file.add_token(name) if name in known else file.add(name, admin=name == ADMIN) for name in users}
    app = create_app({}, open_agents(load(ChatSettings), {}), chat=chat, page=Path("/nonexistent"))
    transport = httpx2.ASGITransport(app)
    async with (
        app.router.lifespan_context(app),
        httpx2.AsyncClient(transport=transport, base_url=ADDRESS, headers={"Origin": ADDRESS}) as client,
    ):
        yield App(client, app.state.chat.agents, app, tokens)


def write_servers(home: Path, servers: dict[str, Any]) -> None:
    home.mkdir(exist_ok=True)
    (home / "servers.json").write_text(json.dumps(servers))


def files_below(folder: Path) -> dict[Path, bytes]:
    return {file: file.read_bytes() for file in folder.rglob("*") if file.is_file()}
