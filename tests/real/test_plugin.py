"""The plugin in the real Claude Code: installed by `chie connect`, and what its hooks send and get."""

import json
import os
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from tests.app.processes import BIN
from tests.fakes.hook_bodies import NAMES, body_name, hook_body
from tests.fakes.hook_server import HookServer
from tests.real.claude_code import ClaudeCode, MessagesApi, Turn
from tests.real.clients import BIN as CLIENTS

from chie.connect.claude_plugin import SOURCE

pytestmark = [pytest.mark.real, pytest.mark.timeout(300), pytest.mark.req("ME-13")]

SAVE = "mcp__plugin_chie_knowledge__save_knowledge"
TOOLS = ("--allowedTools", "Read,Edit,Write,Bash,mcp__plugin_chie_knowledge")


def context(event: str, text: str) -> dict[str, Any]:
    found = {"hookEventName": event, "additionalContext": text}
    return {"hookSpecificOutput": found, "systemMessage": "Chie: 1 note recalled"}


@pytest.fixture
def claude(tmp_path: Path, home: Path) -> ClaudeCode:
    env = {"CHIE_HOME": str(home), "CHIE_TOKEN": "tok-123"}
    return ClaudeCode(tmp_path / "user", tmp_path / "user" / "project", env)


def connect(claude: ClaudeCode, *arguments: str) -> str:
    env = {**claude.environment(), "PATH": f"{CLIENTS}:{os.environ['PATH']}"}
    command = [str(BIN / "chie"), "connect", "claude-code", "--memory", "--yes", *arguments]
    done = subprocess.run(command, env=env, cwd=claude.folder, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def plugins(claude: ClaudeCode) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = json.loads(claude.run("plugin", "list", "--json"))
    return found


@pytest.fixture
def hooks() -> Iterator[HookServer]:
    answers = {
        event: context(event, f"ノート {event}")
        for event in ("SessionStart", "UserPromptSubmit", "PreToolUse", "PostToolUseFailure")
    }
    with HookServer(answers) as server:
        yield server


def test_claude_code_finds_the_plugin_valid(claude: ClaudeCode) -> None:
    for folder in (SOURCE, SOURCE.parents[3]):
        assert "Validation passed" in claude.run("plugin", "validate", str(folder))


def test_plugin_is_installed_updated_and_removed_without_a_trace(claude: ClaudeCode, home: Path) -> None:
    claude.run("plugin", "list")
    settings = claude.home / ".claude" / "settings.json"
    connect(claude)
    (plugin,) = plugins(claude)
    assert (plugin["id"], plugin["enabled"]) == ("chie@chie", True)
    assert "already installed" in connect(claude)
    manifest = home / "claude-code-plugin" / ".claude-plugin" / "plugin.json"
    manifest.write_text(json.dumps({"name": "chie", "version": "0.0.1"}))
    connect(claude)
    assert plugins(claude)[0]["version"] == plugin["version"]
    connect(claude, "--remove")
    assert plugins(claude) == []
    assert "chie" not in settings.read_text()
    assert [path for path in claude.home.rglob("*chie*") if path.is_file()] == []
    assert not (claude.home / ".claude" / "plugins" / "cache" / "chie").exists()
    assert not (home / "claude-code-plugin").exists()
    assert not (home / "login.json").exists()


@pytest.mark.req("ME-1")
def test_hooks_send_the_recorded_bodies_with_the_token(claude: ClaudeCode, hooks: HookServer) -> None:
    """The recordings in `tests/fakes/hooks` are what the tests of the server use."""
    hooks.answers["Stop"] = context("Stop", "Save what was hard.")
    connect(claude, "--http", hooks.url)
    app = claude.folder / "app.py"
    app.write_text("x = 1\n")
    with MessagesApi(
        Turn(tool="Read", input={"file_path": str(app)}),
        Turn(tool="Edit", input={"file_path": str(app), "old_string": "x = 1", "new_string": "x = 2"}),
        Turn(tool="Write", input={"file_path": str(claude.folder / "new.py"), "content": "y = 3\n"}),
        Turn(tool="Bash", input={"command": "echo 'No module named requests' >&2; exit 2", "description": "Run"}),
        Turn(tool="Bash", input={"command": "echo done", "description": "Run again"}),
        Turn("All done."),
        Turn("Nothing to save."),
    ) as api:
        told = claude.ask(api, "Why does the build fail?", *TOOLS)
    sent = {body_name(call.body): call.body for call in hooks.calls if call.path == "/hooks/claude-code"}
    expected = set(NAMES) - {"post_tool_use_save_knowledge"}
    assert set(sent) == expected
    for name in expected:
        assert set(sent[name]) == set(hook_body(name)), name
    assert {call.headers.get("authorization") for call in hooks.calls} == {"Bearer tok-123"}
    assert "ノート SessionStart" in api.texts(0)
    assert "ノート UserPromptSubmit" in api.texts(0)
    assert "ノート PreToolUse" in api.texts(1)
    assert "ノート PostToolUseFailure" not in api.texts(3)
    assert "ノート PostToolUseFailure" in api.texts(4)
    assert "Save what was hard." in api.texts(6)
    assert "Chie: 1 note recalled" in json.dumps(told)


@pytest.mark.req("ME-6")
@pytest.mark.parametrize(
    "server",
    [HookServer(status=401), HookServer(stalled=True), HookServer({"UserPromptSubmit": b"<html>"}), None],
    ids=["refusing", "slow", "garbage", "dead"],
)
def test_prompt_goes_on_without_chie(claude: ClaudeCode, server: HookServer | None) -> None:
    with HookServer() as closed:
        dead = closed.url
    with server or HookServer() as running:
        connect(claude, "--http", running.url if server else dead)
        with MessagesApi(Turn(tool="Bash", input={"command": "exit 3"}), Turn("わかりました")) as api:
            told = claude.ask(api, "Run it", *TOOLS)
            again = claude.ask(api, "And again", *TOOLS)
    assert told[-1]["result"] == "わかりました"
    assert not told[-1]["is_error"]
    named = [message for message in told if "no notes are recalled" in json.dumps(message)]
    if server is None or server.status == 401:
        assert named
    assert [message for message in again if "no notes are recalled" in json.dumps(message)] == []


def test_two_sessions_at_once_have_their_own_ids(claude: ClaudeCode, hooks: HookServer) -> None:
    connect(claude, "--http", hooks.url)
    with MessagesApi(Turn("one"), Turn("two")) as api:
        env = claude.environment(ANTHROPIC_BASE_URL=api.url, ANTHROPIC_API_KEY="test")
        command = [str(CLIENTS / "claude"), "-p", "hello"]
        both = [
            subprocess.Popen(command, env=env, cwd=claude.folder, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE)
            for _ in range(2)
        ]
        assert sorted(process.communicate(timeout=120)[0].strip() for process in both) == [b"one", b"two"]
    assert len({body["session_id"] for body in hooks.bodies("UserPromptSubmit")}) == 2
    assert {body["cwd"] for body in hooks.bodies("SessionStart")} == {str(claude.folder)}
