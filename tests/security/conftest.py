"""A house that asks who you are, and three who live there: Aki, who has something to hide, Ben, and an admin."""

import json
from collections.abc import Iterator
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from starlette.testclient import TestClient
from tests.fakes.agents import FakeRegistry
from tests.fakes.embedders import HashingEmbedder

from chie.access.authentication import load_authenticator
from chie.access.rate_limits import Limit
from chie.access.settings import AccessSettings
from chie.access.users import UserFile
from chie.app import create_app
from chie.bedrock_kb.config import KBConfig
from chie.bedrock_kb.server import create_server as create_bedrock_kb
from chie.chat.agents.assembly import open_agents
from chie.chat.agents.port import AgentDirectory
from chie.chat.settings import ChatSettings
from chie.errors import ConfigurationError
from chie.knowledge.markdown import write
from chie.knowledge.note import Note
from chie.knowledge.server import create_server as create_knowledge
from chie.knowledge.store.sqlite.store import SqliteStore
from chie.mcp_kit.server import Server
from chie.n8n.server import create_server as create_n8n
from chie.n8n.settings import N8nSettings
from chie.settings import load

ADDRESS = "http://127.0.0.1:8080"
SECRET = "zanzibar"  # a word that stands in what is Aki's alone, and nowhere else


def exported(note_id: str, content: str) -> str:
    """A file as an export of Aki's note would be: only of such a file an import believes the id."""
    moment = datetime(2026, 1, 1, tzinfo=UTC)
    return write(Note(id=note_id, title="t", content=content, user_id="aki", created_at=moment, updated_at=moment))


@dataclass
class Estate:
    """What is Aki's alone, and how each of the three is known."""

    client: TestClient
    tokens: dict[str, str]
    store: SqliteStore
    session_id: str = ""
    question_id: str = ""
    answer_id: str = ""
    note_id: str = ""
    shared_id: str = ""
    rooms: dict[str, Server | ConfigurationError] = field(default_factory=dict)

    def call(self, who: str | None, method: str, path: str, **options: Any) -> Any:
        headers = dict(options.pop("headers", {}))
        if who is not None:
            headers["authorization"] = f"Bearer {self.tokens[who]}"
        return self.client.request(method, path, headers=headers, **options)

    def tool(self, who: str, room: str, name: str, **arguments: Any) -> dict[str, Any]:
        """What a tool answers over HTTP, in one of the protocol's two eras."""
        result: dict[str, Any] = self.ask(who, room, "tools/call", name=name, arguments=arguments)["result"]
        return result

    def ask(self, who: str, room: str, request: str, **params: Any) -> dict[str, Any]:
        """The whole answer to any request of MCP: its result or its error."""
        body = {"jsonrpc": "2.0", "id": 1, "method": request, "params": params}
        headers = {"accept": "application/json, text/event-stream"}
        response = self.call(who, "POST", f"/mcp/{room}", json=body, headers=headers)
        assert response.status_code == 200, response.text
        text = response.text if response.text.startswith("{") else response.text.split("data: ", 1)[1]
        answer: dict[str, Any] = json.loads(text)
        return answer

    def possessions(self) -> dict[str, Any]:
        """All that is Aki's, as Aki sees it."""
        return {
            "session": self.call("aki", "GET", f"/api/sessions/{self.session_id}").json(),
            "note": self.call("aki", "GET", f"/api/knowledge/{self.note_id}").json(),
            "shared": self.call("aki", "GET", f"/api/knowledge/{self.shared_id}").json(),
        }


def add_users() -> dict[str, str]:
    file = UserFile(load(AccessSettings).users_path)
    return {name: file.add(name, admin=name == "root") for name in ("aki", "ben", "root")}


def load_servers(store: SqliteStore) -> dict[str, Server | ConfigurationError]:
    return {
        "knowledge": create_knowledge(store=store),
        "n8n": create_n8n(N8nSettings.model_validate({"url": "http://127.0.0.1:9", "api_key": "unused"})),
        "bedrock-kb": create_bedrock_kb(KBConfig("us-east-1", "KB12345678", "model")),
    }


@pytest.fixture
def store(home: Path) -> Iterator[SqliteStore]:
    store = SqliteStore(home / "notes.db", HashingEmbedder())
    yield store
    store.close()


@pytest.fixture
def page_folder(tmp_path: Path) -> Path:
    folder = tmp_path / "static"
    (folder / "assets").mkdir(parents=True)
    (folder / "index.html").write_text("<!doctype html><title>Chie</title>")
    (folder / "assets" / "index-1.js").write_text("export {};")
    return folder


@pytest.fixture
def estate(store: SqliteStore, page_folder: Path) -> Iterator[Estate]:
    """With scripted agents. What Aki has is made through the front door."""
    tokens, rooms = add_users(), load_servers(store)
    authenticator = load_authenticator()
    authenticator.failures = Limit(0, 1)  # tests try many a wrong token
    house = create_app(rooms, FakeRegistry(), page=page_folder, authenticator=authenticator)
    with TestClient(house, base_url=ADDRESS) as client:
        estate = Estate(client, tokens, store, rooms=rooms)
        _furnish(estate)
        yield estate


@pytest.fixture
def house_with_agents(store: SqliteStore, page_folder: Path) -> Iterator[Estate]:
    """With the real agents, who reach the rooms within the process."""
    tokens = add_users()
    rooms: dict[str, Server | ConfigurationError] = {"knowledge": create_knowledge(store=store)}

    def opening() -> AbstractAsyncContextManager[AgentDirectory]:
        return open_agents(load(ChatSettings), rooms)

    with TestClient(create_app(rooms, opening=opening, page=page_folder), base_url=ADDRESS) as client:
        yield Estate(client, tokens, store, rooms=rooms)


def _furnish(estate: Estate) -> None:
    asked = estate.call("aki", "POST", "/api/chat/stream", json={"message": f"What about {SECRET}?"})
    assert asked.status_code == 200, asked.text
    estate.session_id = asked.headers["x-chie-session"]
    estate.answer_id = asked.headers["x-chie-message"]
    messages = estate.call("aki", "GET", f"/api/sessions/{estate.session_id}").json()["messages"]
    estate.question_id = messages[0]["message_id"]
    private = {"content": f"the {SECRET} password is kept in the safe", "tags": [SECRET], "private": True}
    estate.note_id = estate.call("aki", "POST", "/api/knowledge", json=private).json()["id"]
    shared = {"content": "the safe is in the cellar", "tags": ["house"]}
    estate.shared_id = estate.call("aki", "POST", "/api/knowledge", json=shared).json()["id"]
