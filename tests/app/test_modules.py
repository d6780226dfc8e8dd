"""The chat and the MCP servers in one app, in the test's process and from the command line."""

import os
import signal
import subprocess
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, nullcontext
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from click.testing import CliRunner
from fastmcp import Client
from tests.fakes import patient
from tests.fakes.agents import ANSWER, KINDS, SERVERS, FakeRegistry
from tests.fakes.chat import serving
from tests.fakes.sse import parse, texts

from chie.app import create_app
from chie.chat.agents.registry import NoAgents
from chie.cli import main
from chie.errors import ConfigurationError, NotFoundError
from chie.knowledge.server import create_server
from chie.servers import load_servers

if TYPE_CHECKING:
    from chie.mcp_kit.server import Server

NOT_CONFIGURED = ConfigurationError("access.allowed_hosts_missing")


@pytest.fixture
async def address(monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[str]:
    """Notes, a server that is not configured, and the scripted agents."""
    monkeypatch.setenv("CHIE_EMBEDDING_URL", "http://127.0.0.1:9/v1")
    servers: dict[str, Server | ConfigurationError] = {
        "knowledge": create_server(),
        "n8n": NOT_CONFIGURED,
    }
    async with serving(create_app(servers, nullcontext(FakeRegistry()))) as address:
        yield address


async def test_chat_and_mcp_servers_share_the_app(address: str) -> None:
    async with patient.AsyncClient(base_url=address) as client:
        answer = await client.post("/api/chat/stream", json={"message": "こんにちは"})
        assert texts(parse(answer.text)) == ANSWER
        health = (await client.get("/health")).json()
        assert health["status"] == "healthy"
        assert health["servers"]["chat"] == {"status": "healthy", "sessions": 1}
        assert health["servers"]["n8n"] == {"status": NOT_CONFIGURED.message}
        closed = await client.post("/mcp/n8n")
        assert (closed.status_code, closed.json()["code"]) == (503, NOT_CONFIGURED.code)
        assert "Chie 知恵" in (await client.get("/")).text
        assert (await client.get("/openapi.json")).status_code == 200
    async with Client(f"{address}/mcp/knowledge") as mcp:
        saved = await mcp.call_tool("save_knowledge", {"content": "one app"})
        assert saved.structured_content is not None


async def test_agents_are_opened_and_closed_with_the_app(home: Path) -> None:  # noqa: ARG001
    seen: list[str] = []

    @asynccontextmanager
    async def open_agents() -> AsyncIterator[FakeRegistry]:
        seen.append("opened")
        yield FakeRegistry()
        seen.append("closed")

    async with (
        serving(create_app({}, open_agents())) as address,
        patient.AsyncClient(base_url=address) as client,
    ):
        agents = (await client.get("/api/agents")).json()
        assert (agents["default_id"], len(agents["agents"])) == ("scripted", len(KINDS))
        servers = (await client.get("/api/mcp/servers")).json()["servers"]
        assert [server["name"] for server in servers] == [server["name"] for server in SERVERS]
        assert seen == ["opened"]
    assert seen == ["opened", "closed"]


async def test_app_without_agents() -> None:
    async with serving(create_app({})) as address, patient.AsyncClient(base_url=address) as client:
        assert (await client.get("/api/agents")).json() == {"agents": [], "default_id": None, "preselected_id": None}
        asked = await client.post("/api/chat/stream", json={"message": "anybody?"})
    with pytest.raises(NotFoundError) as missing:
        await NoAgents().default_id()
    with pytest.raises(NotFoundError):
        await NoAgents().preselected_id()
    assert (asked.status_code, asked.json()["detail"]) == (404, missing.value.message)


async def test_foreign_host_and_origin_are_rejected(address: str) -> None:
    async with patient.AsyncClient(base_url=address) as client:
        assert (await client.get("/api/sessions", headers={"Host": "evil.example"})).status_code == 421
        foreign = {"Origin": "http://evil.example"}
        assert (await client.post("/api/sessions", headers=foreign)).status_code == 403


async def test_unreachable_database_is_unhealthy_and_the_page_works(
    home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("CHIE_DATABASE_URL", "postgresql://chie:hunter2hunter2@127.0.0.1:9/chie")
    monkeypatch.setenv("CHIE_EMBEDDING_URL", "http://127.0.0.1:9/v1")
    async with (
        serving(create_app({"knowledge": create_server()}, nullcontext(FakeRegistry()))) as address,
        patient.AsyncClient(base_url=address) as client,
    ):
        health = await client.get("/health")
        assert health.status_code == 503
        for name in ("chat", "knowledge"):  # both use the same database
            assert health.json()["servers"][name]["reason_code"] == "database.server_unreachable"
        assert "hunter2" not in health.text
        assert (await client.get("/")).status_code == 200
    assert not (home / "chie.db").exists()


@pytest.mark.req("CH-9", "KG-1")
async def test_notes_with_wrong_settings_are_named_and_the_chat_answers(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CHIE_KNOWLEDGE_STORE", "nonsense")
    async with (
        serving(create_app(load_servers(), nullcontext(FakeRegistry()))) as address,
        patient.AsyncClient(base_url=address) as client,
    ):
        health = await client.get("/health")
        assert (health.status_code, health.json()["status"]) == (200, "degraded")
        states = health.json()["servers"]
        assert (states["chat"]["status"], states["n8n"]["status"][:14]) == ("healthy", "not configured")
        assert states["knowledge"]["status"].startswith("Wrong value for CHIE_KNOWLEDGE_STORE.")
        asked = await client.post("/api/chat/stream", json={"message": "hello"})
        assert texts(parse(asked.text)) == ANSWER


def test_wrong_servers_file_is_one_line(home: Path) -> None:
    home.mkdir()
    (home / "servers.json").write_text('{\n  "x": {"command": 5}\n}', encoding="utf-8")
    done = CliRunner().invoke(main, ["serve", "--port", "0"])
    assert done.exit_code == 1
    assert done.output == f"Error: {home}/servers.json, line 2: `x.command` must be a string.\n"


def test_command_line_starts_the_app_and_creates_the_tables(home: Path) -> None:
    process = subprocess.Popen(
        [Path(sys.executable).parent / "chie", "serve", "--port", "0"],
        stdout=subprocess.PIPE,
        text=True,
        env=os.environ | {"OPENAI_BASE_URL": "http://127.0.0.1:9/v1"},  # independent of what runs on this machine
    )
    assert process.stdout is not None
    with process.stdout:
        address = process.stdout.readline().split()[4]
        try:
            sessions = patient.get(f"{address}/api/sessions")
            assert sessions.json() == {"sessions": [], "next_cursor": None}
            agents = patient.get(f"{address}/api/agents").json()
            assert {agent["agent_id"] for agent in agents["agents"]} >= {"default-chat", "web-scraper", "notes"}
            assert agents["default_id"] == "notes"
        finally:
            process.send_signal(signal.SIGINT)
            process.wait(timeout=60)
    assert (home / "chie.db").exists()
