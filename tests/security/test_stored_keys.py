"""Whatever a key looks like: no route, log line, export, backup, file or error has it once it is stored.

The server that the key is sent to repeats every header and body in its errors, as servers with debugging on do.
"""

import json
import string
import zipfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from urllib.parse import quote

import httpx2
import pytest
from click.testing import CliRunner
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from tests.app.processes import http_server
from tests.security.routes import ROUTES
from tests.security.test_secrets import Gossip, gossip

from chie.cli import main

KEYS = st.text(string.ascii_letters + string.digits + string.punctuation, min_size=6, max_size=40).map("Zq".__add__)
MANNERS = ("refuse", "fail", "babble")


@pytest.fixture
def outside(monkeypatch: pytest.MonkeyPatch) -> Iterator[Gossip]:
    with gossip() as server:
        monkeypatch.setenv("AWS_ENDPOINT_URL", f"http://127.0.0.1:{server.server_port}")
        monkeypatch.setenv("AWS_MAX_ATTEMPTS", "1")
        yield server


@pytest.fixture
def client(outside: Gossip, home: Path) -> Iterator[httpx2.Client]:  # noqa: ARG001 - it sets the environment
    """The whole app, which writes every line that anything logs into its home."""
    home.mkdir(exist_ok=True)
    with (
        http_server("chie", "serve", "--log-level", "debug", "--log-file", str(home / "everything.log")) as url,
        httpx2.Client(base_url=url, headers={"Origin": url}, timeout=120) as client,
    ):
        yield client


def store(client: httpx2.Client, url: str, key: str) -> Iterator[str]:
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
    far = f"{url}/mcp?token={quote(key, safe='')}"
    server = {"name": "far", "url": far, "headers": {"Authorization": f"Bearer {key}", "X-Key": key}}
    assert client.post("/api/mcp/servers", json=server).status_code == 201
    yield "/api/mcp/servers/far"


def responses(client: httpx2.Client, paths: list[str]) -> Iterator[tuple[str, str]]:
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


def forms(key: str) -> set[str]:
    """As it stands, in JSON, in a URL and in Python."""
    return {key, json.dumps(key)[1:-1], quote(key, safe=""), repr(key)[1:-1]}


def archived(file: Path) -> Iterator[tuple[str, bytes]]:
    assert CliRunner().invoke(main, ["backup", str(file), "--yes"]).exit_code == 0
    with zipfile.ZipFile(file) as archive:
        yield from ((name, archive.read(name)) for name in archive.namelist())


@pytest.mark.req("AG-5")
@settings(max_examples=6, deadline=None, suppress_health_check=list(HealthCheck))
@given(key=KEYS, manner=st.sampled_from(MANNERS))
def test_stored_key_never_comes_out_again(
    client: httpx2.Client, outside: Gossip, home: Path, tmp_path: Path, key: str, manner: str
) -> None:
    outside.manner = manner
    heard = outside.heard
    paths = list(store(client, f"http://127.0.0.1:{outside.server_port}", key))
    for name, text in responses(client, paths):
        assert not [form for form in forms(key) if form in text], name
    assert outside.heard > heard + len(paths), "the key was sent out, and came back in errors"
    assert (home / "everything.log").stat().st_size > 0
    files = {str(file): file.read_bytes() for file in home.rglob("*") if file.is_file()}
    for name, content in [*files.items(), *archived(tmp_path / "backup.zip")]:
        assert not [form for form in forms(key) if form.encode() in content], name
    for path in paths:
        assert client.delete(path).status_code == 204
