"""`chie connect` with the assistants' own programs, which must understand what it wrote."""

import json
import os
import subprocess
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import uvicorn
from starlette.responses import PlainTextResponse
from starlette.types import Receive, Scope, Send
from tests.app.processes import BIN
from tests.real.clients import BIN as CLIENTS
from tests.real.clients import run

from chie.knowledge.server import create_server
from chie.mcp_kit.server import http_app

pytestmark = [pytest.mark.real, pytest.mark.timeout(300)]

TOKEN = "sesame-for-the-real-clients"


@pytest.fixture
def user(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    for name in ("CLAUDE_CONFIG_DIR", "CODEX_HOME", "XDG_CONFIG_HOME"):
        monkeypatch.delenv(name, raising=False)
    user = tmp_path / "user"
    (user / ".gemini").mkdir(parents=True)
    (user / ".gemini" / "trustedFolders.json").write_text(json.dumps({str(user): "TRUST_FOLDER"}))
    return user


@pytest.fixture
def guarded(monkeypatch: pytest.MonkeyPatch) -> Iterator[str]:
    """A server that answers only those who bring the token."""
    inner = http_app(create_server(), "/mcp/knowledge")

    async def app(scope: Scope, receive: Receive, send: Send) -> None:
        brought = dict(scope.get("headers", [])).get(b"authorization", b"").decode()
        if scope["type"] == "http" and brought != f"Bearer {TOKEN}":
            await PlainTextResponse("who are you?", status_code=401)(scope, receive, send)
        else:
            await inner(scope, receive, send)

    server = uvicorn.Server(uvicorn.Config(app, port=0, log_level="error", lifespan="on"))
    thread = threading.Thread(target=server.run, daemon=True)
    thread.start()
    while not server.started:
        thread.join(0.01)
    monkeypatch.setenv("TEAM_TOKEN", TOKEN)
    yield f"http://127.0.0.1:{server.servers[0].sockets[0].getsockname()[1]}"
    server.should_exit = True
    thread.join(10)


def connect(user: Path, *arguments: str) -> str:
    done = subprocess.run(
        [BIN / "chie", "connect", *arguments, "--yes"],
        env={**os.environ, "HOME": str(user)},
        capture_output=True,
        text=True,
        check=True,
    )
    return done.stdout


def codex_tools(user: Path) -> dict[str, set[str]]:
    """As Codex's own app server sees them."""
    process = subprocess.Popen(
        [CLIENTS / "codex", "app-server"],
        env={**os.environ, "HOME": str(user), "PATH": f"{CLIENTS}:{os.environ['PATH']}"},
        cwd=user,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
    )
    try:
        _ask(process, 1, "initialize", {"clientInfo": {"name": "chie", "version": "1"}})
        listed = _ask(process, 2, "mcpServerStatus/list", {})
        return {server["name"]: set(server["tools"]) for server in listed["data"]}
    finally:
        process.kill()
        process.communicate()


def _ask(process: "subprocess.Popen[str]", number: int, method: str, params: dict[str, Any]) -> dict[str, Any]:
    assert process.stdin
    assert process.stdout
    process.stdin.write(json.dumps({"jsonrpc": "2.0", "id": number, "method": method, "params": params}) + "\n")
    process.stdin.flush()
    for line in process.stdout:
        message = json.loads(line)
        if message.get("id") == number:
            result: dict[str, Any] = message["result"]
            return result
    raise AssertionError("codex ended")


def test_claude_code_starts_what_was_written_and_forgets_it_when_it_is_removed(user: Path) -> None:
    run("claude", "mcp", "add", "--scope", "user", "other", "--", "true", home=user)
    before = (user / ".claude.json").read_bytes()
    connect(user, "claude-code")
    listed = run("claude", "mcp", "list", home=user)
    assert any(line.startswith("knowledge: ") and "✔ Connected" in line for line in listed.splitlines()), listed
    connect(user, "claude-code", "--remove")
    content = json.loads((user / ".claude.json").read_text())
    assert content["mcpServers"] == json.loads(before)["mcpServers"]
    assert "knowledge" not in run("claude", "mcp", "list", home=user)


def test_claude_code_brings_the_token_that_the_file_only_names(user: Path, guarded: str) -> None:
    connect(user, "claude-code", "--http", guarded, "--token-env", "TEAM_TOKEN")
    assert TOKEN not in (user / ".claude.json").read_text()
    listed = run("claude", "mcp", "list", home=user)
    assert "✔ Connected" in listed, listed


def test_codex_lists_starts_and_forgets_it(user: Path) -> None:
    config = user / ".codex" / "config.toml"
    config.parent.mkdir()
    config.write_text('# mine\n[mcp_servers.other]\ncommand = "true"\nenabled = false\n')
    before = config.read_bytes()
    connect(user, "codex")
    listed = json.loads(run("codex", "mcp", "list", "--json", home=user).partition("[")[2].join(["[", ""]))
    ours = next(server for server in listed if server["name"] == "knowledge")
    assert ours["transport"]["args"] == ["mcp", "knowledge"]
    assert "save_knowledge" in codex_tools(user)["knowledge"]
    connect(user, "codex", "--remove")
    assert config.read_bytes() == before


def test_codex_brings_the_token_that_the_file_only_names(user: Path, guarded: str) -> None:
    connect(user, "codex", "--http", guarded, "--token-env", "TEAM_TOKEN")
    assert "search_knowledge" in codex_tools(user)["knowledge"]


def test_gemini_starts_what_was_written_and_forgets_it(user: Path) -> None:
    settings = user / ".gemini" / "settings.json"
    settings.write_text('{\n  // mine\n  "ui": {"theme": "GitHub"}\n}\n')
    before = settings.read_bytes()
    connect(user, "gemini")
    listed = run("gemini", "mcp", "list", home=user)
    assert "✓ knowledge: " in listed, listed
    connect(user, "gemini", "--remove")
    assert settings.read_bytes() == before
    assert "knowledge" not in run("gemini", "mcp", "list", home=user)


def test_gemini_brings_the_token_that_the_file_only_names(user: Path, guarded: str) -> None:
    connect(user, "gemini", "--http", guarded, "--token-env", "TEAM_TOKEN")
    listed = run("gemini", "mcp", "list", home=user)
    assert "✓ knowledge: " in listed, listed
