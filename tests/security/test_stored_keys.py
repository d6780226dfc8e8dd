"""Whatever a key looks like: no route, log line, export, backup or error has it once it is stored.

The server that the key is sent to repeats every header and body in its errors, as servers with debugging on do.
"""

import logging
import string
import zipfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from starlette.testclient import TestClient
from tests.security.test_every_route import ROUTES
from tests.security.test_secrets import Gossip, gossip

from chie.app import create_app
from chie.chat.agents.assembly import open_agents
from chie.chat.settings import ChatSettings
from chie.cli import main
from chie.knowledge.server import create_server
from chie.logging import JsonLines, OneLine
from chie.settings import load

ADDRESS = "http://127.0.0.1:8080"
KEYS = st.text(string.ascii_letters + string.digits + string.punctuation, min_size=6, max_size=40).map("Zq".__add__)
MANNERS = ("refuse", "fail", "babble")


@pytest.fixture
def outside(monkeypatch: pytest.MonkeyPatch) -> Iterator[Gossip]:
    with gossip() as server:
        url = f"http://127.0.0.1:{server.server_port}"
        monkeypatch.setenv("AWS_ENDPOINT_URL", url)
        monkeypatch.setenv("AWS_MAX_ATTEMPTS", "1")
        monkeypatch.setenv("CHIE_MODEL_HOST", "127.0.0.2")
        yield server


@pytest.fixture
def client(outside: Gossip) -> Iterator[TestClient]:  # noqa: ARG001 - it sets the environment
    servers = {"knowledge": create_server()}
    app = create_app(servers, open_agents(load(ChatSettings), servers), page=Path("/nonexistent"))
    with TestClient(app, base_url=ADDRESS, headers={"Origin": ADDRESS}, raise_server_exceptions=False) as client:
        yield client


def store(client: TestClient, url: str, key: str) -> Iterator[str]:
    """The paths of what was stored, with every kind of endpoint and an MCP server."""
    bodies: list[dict[str, Any]] = [
        {"kind": "openai", "url": f"{url}/v1", "api_key": key},
        {"kind": "gemini", "url": f"{url}/v1", "api_key": key},
        {"kind": "anthropic", "url": url, "api_key": key},
        {"kind": "bedrock", "access_key_id": key, "secret_access_key": key, "session_token": key, "model": "m"},
        {"kind": "bedrock", "api_key": key},
    ]
    for number, body in enumerate(bodies):
        added = client.post("/api/endpoints", json={"name": f"endpoint {number}", **body})
        assert added.status_code == 201, added.text
        assert key not in added.text
        yield f"/api/endpoints/{added.json()['id']}"
    server = {"name": "far", "url": f"{url}/mcp", "headers": {"Authorization": f"Bearer {key}", "X-Key": key}}
    assert client.post("/api/mcp/servers", json=server).status_code == 201
    yield "/api/mcp/servers/far"


def responses(client: TestClient, paths: list[str]) -> Iterator[tuple[str, str]]:
    """Of everything that uses a key, and of every route that reads."""
    for path in paths[:-1]:
        yield path, client.post("/api/endpoints/test", json={"id": path.rpartition("/")[2]}).text
        yield path, client.patch(path, json={"url": "http://127.0.0.1:9/elsewhere", "region": "?"}).text
    yield "test", client.post("/api/mcp/servers/test", json={"name": "far", "added": True}).text
    yield "reconnect", client.post("/api/mcp/servers/far/reconnect").text
    answer = client.post("/api/chat/stream", json={"message": "hello", "agent_id": "assistant"})
    yield "ask", answer.text
    session = answer.headers["x-chie-session"]
    for form in ("markdown", "json"):
        yield form, client.get(f"/api/sessions/{session}/export", params={"format": form}).text
    for name, case in ROUTES.items():
        method, _, path = name.partition(" ")
        if method == "GET":
            path = path.replace("{session_id}", session).replace("{name}", "far")
            yield name, client.get(path, params=case.query).text


def written(records: list[logging.LogRecord]) -> Iterator[str]:
    """As the handlers write them, and as our own loggers make them."""
    for record in records:
        record.request = "-"
        yield JsonLines().format(record)
        yield OneLine().format(record)
        if record.name.startswith(("chie.", "chie_")) and record.levelno > logging.DEBUG:
            yield record.getMessage()


def archived(file: Path) -> Iterator[tuple[str, bytes]]:
    assert CliRunner().invoke(main, ["backup", str(file), "--yes"]).exit_code == 0
    with zipfile.ZipFile(file) as archive:
        yield from ((name, archive.read(name)) for name in archive.namelist())


@pytest.mark.req("AG-5")
@settings(max_examples=3, deadline=None, suppress_health_check=list(HealthCheck))
@given(key=KEYS, manner=st.sampled_from(MANNERS))
def test_stored_key_never_comes_out_again(
    client: TestClient,
    outside: Gossip,
    home: Path,
    tmp_path: Path,
    caplog: pytest.LogCaptureFixture,
    key: str,
    manner: str,
) -> None:
    caplog.set_level(logging.DEBUG)
    caplog.clear()
    outside.manner = manner
    heard = outside.heard
    paths = list(store(client, f"http://127.0.0.1:{outside.server_port}", key))
    for name, text in responses(client, paths):
        assert key not in text, name
    assert outside.heard > heard + len(paths), "the key was sent out, and came back in errors"
    assert not [line for line in written(caplog.records) if key in line]
    secret = key.encode()
    assert not [name for name, content in archived(tmp_path / "backup.zip") if secret in content]
    assert not [file for file in home.rglob("*") if file.is_file() and secret in file.read_bytes()]
    for path in paths:
        assert client.delete(path).status_code == 204
