"""The web-scraper with the seed's `servers.json`, through the HTTP API: its reading tool asks nobody."""

import json
import sys
from collections.abc import AsyncIterator, Iterator
from pathlib import Path

import httpx2
import pytest
from tests.fakes.chat import serving, sqlite_url
from tests.fakes.model_server import Use, say, use
from tests.fakes.openai_server import OpenAIServer

from chie.app import create_app
from chie.chat.agents.assembly import open_agents
from chie.chat.module import ChatModule
from chie.chat.settings import ChatSettings
from chie.files import make_folder
from chie.servers import load_agent_servers
from chie.settings import load

ROOT = Path(__file__).parents[3]
PAGE = "https://93.184.215.14/富士山"
SEED_SERVERS = {"mcp-server-fetch": {"command": "npx", "args": ["-y", "@modelcontextprotocol/server-fetch"], "env": {}}}


@pytest.fixture
def model() -> Iterator[OpenAIServer]:
    with OpenAIServer(use(Use("fetch", json.dumps({"url": PAGE}))), say("終わりました")) as server:
        yield server


@pytest.fixture(params=[{}, {"alwaysAsk": True}], ids=["seed", "alwaysAsk"])
def entry(request: pytest.FixtureRequest) -> dict[str, bool]:
    return dict(request.param)


@pytest.fixture
async def chat(
    entry: dict[str, bool], model: OpenAIServer, home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> AsyncIterator[httpx2.AsyncClient]:
    """`npx` starts a fetch server whose tool has no annotations."""
    program = tmp_path / "bin" / "npx"
    make_folder(program.parent)
    program.write_text(f'#!/bin/sh\ncd "{ROOT}" && exec "{sys.executable}" -m tests.fakes.old_fetch\n')
    program.chmod(0o755)
    monkeypatch.setenv("PATH", f"{program.parent}:/bin:/usr/bin")
    monkeypatch.setenv("OPENAI_BASE_URL", model.base_url)
    monkeypatch.setattr("chie.chat.toolbox.toolbox.SETTLE_TIMEOUT_SECONDS", 60.0)  # Python starts slowly under load
    make_folder(home)
    servers = {name: {**spec, **entry} for name, spec in SEED_SERVERS.items()}
    (home / "servers.json").write_text(json.dumps(servers))
    agents = open_agents(load(ChatSettings), {}, load_agent_servers())
    app = create_app({}, agents, chat=ChatModule(sqlite_url(tmp_path)), page=tmp_path / "none")
    async with serving(app) as address, httpx2.AsyncClient(base_url=address, timeout=60) as client:
        yield client


@pytest.mark.req("CH-3", "CH-7", "CH-8")
async def test_reading_tool_runs_where_nobody_can_be_asked(
    chat: httpx2.AsyncClient, model: OpenAIServer, entry: dict[str, bool]
) -> None:
    """Unless the operator forces the question."""
    body = {"model": "web-scraper", "messages": [{"role": "user", "content": "富士山の高さは?"}]}
    answer = await chat.post("/v1/chat/completions", json=body)
    assert answer.status_code == 200, answer.text
    [(_, result)] = model.results(model.seen[-1])
    assert (f"Contents of {PAGE}" in result) is not bool(entry)
    servers = (await chat.get("/api/mcp/servers")).json()["servers"]
    assert {server["name"]: server["state"] for server in servers} == {"mcp-server-fetch": "connected", "fetch": "idle"}
