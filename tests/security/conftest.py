"""An app with authentication and three users: Aki, who has private things, Ben, and an admin."""

import json
from collections.abc import Iterator
from contextlib import nullcontext
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from starlette.testclient import TestClient
from tests.fakes.agents import FakeRegistry
from tests.fakes.embedders import HashingEmbedder

from chie.access.authentication import load_authenticator
from chie.access.rate_limits import RateLimit
from chie.access.settings import AccessSettings
from chie.access.users import UserFile
from chie.app import create_app
from chie.bedrock_kb.config import KBConfig
from chie.bedrock_kb.server import create_server as create_bedrock_kb
from chie.chat.agents.assembly import open_agents
from chie.chat.settings import ChatSettings
from chie.errors import ConfigurationError
from chie.knowledge.markdown.note_file import write
from chie.knowledge.note import Note
from chie.knowledge.server import create_server as create_knowledge
from chie.knowledge.store.sqlite.store import SqliteStore
from chie.mcp_kit.server import Server
from chie.n8n.server import create_server as create_n8n
from chie.n8n.settings import N8nSettings
from chie.settings import load

ADDRESS = "http://127.0.0.1:8080"
SECRET = "zanzibar"  # a word that occurs only in Aki's private things


def exported(note_id: str, content: str) -> str:
    """A file as an export writes it; an import keeps the id of such a file only."""
    moment = datetime(2026, 1, 1, tzinfo=UTC)
    return write(Note(id=note_id, title="t", content=content, user_id="aki", created_at=moment, updated_at=moment))


@dataclass
class Team:
    """The app, the users' tokens, and the ids of Aki's things."""

    client: TestClient
    tokens: dict[str, str]
    store: SqliteStore
    session_id: str = ""
    attachment_id: str = ""
    prompt_id: str = ""
    question_id: str = ""
    answer_id: str = ""
    note_id: str = ""
    shared_id: str = ""
    proposal_id: str = ""
    trashed_id: str = ""
    servers: dict[str, Server | ConfigurationError] = field(default_factory=dict)

    def call(self, who: str | None, method: str, path: str, **options: Any) -> Any:
        headers = dict(options.pop("headers", {}))
        if who is not None:
            headers["authorization"] = f"Bearer {self.tokens[who]}"
        return self.client.request(method, path, headers=headers, **options)

    def tool(self, who: str, server_name: str, name: str, **arguments: Any) -> dict[str, Any]:
        """The result of a tool call over HTTP."""
        result: dict[str, Any] = self.ask(who, server_name, "tools/call", name=name, arguments=arguments)["result"]
        return result

    def ask(self, who: str, server_name: str, request: str, **params: Any) -> dict[str, Any]:
        """The response to any MCP request: its result or its error."""
        body = {"jsonrpc": "2.0", "id": 1, "method": request, "params": params}
        headers = {"accept": "application/json, text/event-stream"}
        response = self.call(who, "POST", f"/mcp/{server_name}", json=body, headers=headers)
        assert response.status_code == 200, response.text
        text = response.text if response.text.startswith("{") else response.text.split("data: ", 1)[1]
        answer: dict[str, Any] = json.loads(text)
        return answer

    def _note(self, note_id: str) -> dict[str, Any]:
        """Without the count of readings, to which this is one more."""
        note: dict[str, Any] = self.call("aki", "GET", f"/api/knowledge/{note_id}").json()
        uses = {use: count for use, count in note.get("uses", {}).items() if use != "opened"}
        return {**note, "uses": uses}

    def possessions(self) -> dict[str, Any]:
        """All of Aki's things, as Aki sees them."""
        return {
            "session": self.call("aki", "GET", f"/api/sessions/{self.session_id}").json(),
            "prompts": self.call("aki", "GET", "/api/prompts").json(),
            "note": self._note(self.note_id),
            "proposal": self._note(self.proposal_id),
            "shared": {**self._note(self.shared_id), "uses": None},  # which everybody may search
            "history": self.call("aki", "GET", f"/api/knowledge/{self.note_id}/history").json(),
            "trash": self.call("aki", "GET", "/api/knowledge/trash").json(),
        }


def add_users() -> dict[str, str]:
    file = UserFile(load(AccessSettings).users_path)
    return {name: file.add(name, admin=name == "root") for name in ("aki", "ben", "root")}


def load_servers(store: SqliteStore) -> dict[str, Server | ConfigurationError]:
    return {
        "knowledge": create_knowledge(store=store),
        "n8n": create_n8n(
            N8nSettings.model_validate({"url": "http://127.0.0.1:9", "api_key": "unused", "mcp_token": "unused"})
        ),
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
def team(store: SqliteStore, page_folder: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Team]:
    """With scripted agents. Aki's things are created through the API."""
    monkeypatch.setenv("CHIE_RATE_LIMIT", "0")  # tests send a request to every route, and look at things in between
    tokens, servers = add_users(), load_servers(store)
    authenticator = load_authenticator()
    authenticator.failures = RateLimit(0, 1)  # tests send many wrong tokens
    authenticator.requests = RateLimit(0, 1)  # and read Aki's things after every request
    app = create_app(servers, nullcontext(FakeRegistry()), page=page_folder, authenticator=authenticator)
    with TestClient(app, base_url=ADDRESS) as client:
        team = Team(client, tokens, store, servers=servers)
        _populate(team)
        yield team


@pytest.fixture
def team_with_agents(store: SqliteStore, page_folder: Path) -> Iterator[Team]:
    """With the real agents, which use the servers within the process."""
    tokens = add_users()
    servers: dict[str, Server | ConfigurationError] = {"knowledge": create_knowledge(store=store)}
    agents = open_agents(load(ChatSettings), servers)
    with TestClient(create_app(servers, agents, page=page_folder), base_url=ADDRESS) as client:
        yield Team(client, tokens, store, servers=servers)


def _populate(team: Team) -> None:
    file = {"file": ("secret.txt", f"the {SECRET} plan".encode(), "text/plain")}
    team.attachment_id = team.call("aki", "POST", "/api/attachments", files=file).json()["attachment_id"]
    prompt = {"name": "plan", "text": f"Write about the {SECRET} plan"}
    team.prompt_id = team.call("aki", "POST", "/api/prompts", json=prompt).json()["prompt_id"]
    question = {"message": f"What about {SECRET}?", "attachments": [team.attachment_id]}
    asked = team.call("aki", "POST", "/api/chat/stream", json=question)
    assert asked.status_code == 200, asked.text
    team.session_id = asked.headers["x-chie-session"]
    team.answer_id = asked.headers["x-chie-message"]
    messages = team.call("aki", "GET", f"/api/sessions/{team.session_id}").json()["messages"]
    team.question_id = messages[0]["message_id"]
    anchor = {"repository": "github.com/org/repo", "path": "safe.py", "lines": "1-2"}
    private: dict[str, Any] = {"content": f"the {SECRET} password is kept in the safe", "tags": [SECRET]}
    private |= {"private": True, "anchor": anchor}
    team.note_id = team.call("aki", "POST", "/api/knowledge", json=private).json()["id"]
    check = {"id": team.note_id, "anchor": anchor, "state": "gone", "detail": "deleted"}
    results = {"commit": "abcdef0", "committed_at": "2026-02-01T00:00:00Z", "checks": [check]}
    team.call("aki", "POST", "/api/knowledge/anchors", json=results)
    shared = {"content": "the safe is in the cellar", "tags": ["office"]}
    team.shared_id = team.call("aki", "POST", "/api/knowledge", json=shared).json()["id"]
    trashed = {"content": f"the {SECRET} key was in the drawer", "private": True}
    team.trashed_id = team.call("aki", "POST", "/api/knowledge", json=trashed).json()["id"]
    team.call("aki", "DELETE", f"/api/knowledge/{team.trashed_id}")
    proposal = {"content": "the spare key is under the mat", "private": True, "proposal": True}
    team.proposal_id = team.tool("aki", "knowledge", "save_knowledge", **proposal)["structuredContent"]["id"]
