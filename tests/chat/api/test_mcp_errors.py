"""MCP servers that cannot be connected and tools that fail: a 500 where the API is asked, a tool result in a run."""

import json
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import httpx2
import pytest
from tests.fakes.chat import NO_PAGE, serving
from tests.fakes.model_server import Use, say, use
from tests.fakes.openai_server import OpenAIServer
from tests.fakes.sse import parse

from chie.app import create_app
from chie.chat.agents.assembly import open_agents
from chie.chat.settings import ChatSettings
from chie.errors import ConfigurationError
from chie.messages.catalogue import Message
from chie.settings import load

ROOT = Path(__file__).parents[3]
NOWHERE = "http://127.0.0.1:9/mcp"
SERVERS = {
    "peer": {"command": sys.executable, "args": ["-m", "tests.fakes.peer", "legacy"], "cwd": str(ROOT)},
    "absent": {"command": "no-such-program"},
    "remote": {"url": NOWHERE},
}
SETTINGS_MISSING = ConfigurationError("setup.endpoint_not_configured", variables=["N8N_URL"])


def write_files(home: Path) -> None:
    home.mkdir(exist_ok=True)
    (home / "servers.json").write_text(json.dumps(SERVERS), encoding="utf-8")
    agent = {"id": "peer-user", "kind": "openai", "servers": ["peer", "absent"]}
    (home / "agents.json").write_text(json.dumps([agent]), encoding="utf-8")


@asynccontextmanager
async def app_client(home: Path) -> AsyncIterator[httpx2.AsyncClient]:
    """The app with the registry, the toolbox and the servers of `servers.json`."""
    write_files(home)
    servers = {"n8n": SETTINGS_MISSING}
    app = create_app(servers, open_agents(load(ChatSettings), servers), page=NO_PAGE)
    async with serving(app) as address, httpx2.AsyncClient(base_url=address, timeout=60) as client:
        yield client


@pytest.mark.req("CH-13")
@pytest.mark.parametrize(
    ("server", "code", "start"),
    [
        ("absent", "toolbox.program_not_found", "The program no-such-program was not found. "),
        ("remote", "toolbox.server_unreachable", f"No MCP server responds at {NOWHERE} ("),
    ],
)
async def test_server_that_cannot_be_connected_is_500(home: Path, server: str, code: str, start: str) -> None:
    async with app_client(home) as client:
        answer = await client.post(f"/api/mcp/servers/{server}/reconnect")
        listed = (await client.get("/api/mcp/servers")).json()["servers"]
    error = answer.json()
    assert (answer.status_code, list(error), error["code"]) == (500, ["detail", "code", "params"], code)
    assert error["detail"].startswith(start)
    assert next(state["error"] for state in listed if state["name"] == server) == error["detail"]


@pytest.mark.req("CH-13")
async def test_only_a_known_server_is_reconnected(home: Path) -> None:
    async with app_client(home) as client:
        connected = await client.post("/api/mcp/servers/peer/reconnect")
        unknown = [await client.post(f"/api/mcp/servers/{name}/reconnect") for name in ("nobody", "時計", "n8n")]
    assert (connected.status_code, connected.json()["state"]) == (200, "connected")
    assert {(answer.status_code, answer.json()["detail"]) for answer in unknown} == {
        (404, str(Message("toolbox.server_not_found")))
    }


@pytest.mark.req("CH-13")
async def test_tool_that_fails_in_a_run_is_a_tool_result(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with OpenAIServer(use(Use("die")), say("失敗しました。")) as model:
        monkeypatch.setenv("OPENAI_BASE_URL", model.base_url)
        async with app_client(home) as client:
            body = {"message": "終了して", "agent_id": "peer-user"}
            answer = await client.post("/api/chat/stream", json=body)
    events = parse(answer.text)
    assert (answer.status_code, events[-1].event) == (200, "done")
    (result,) = [event.data for event in events if event.event == "tool_result"]
    assert (result["is_error"], result["code"]) == (True, "toolbox.connection_lost")
    assert not [event for event in events if event.event == "error"]
