"""`chie doctor` on recall: the plugin, the hooks, and the server that they ask."""

import json
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner
from tests.fakes.claude_program import write_claude
from tests.fakes.hook_server import HookServer

from chie.cli import main
from chie.doctor.memory import check_memory
from chie.doctor.runner import Check, run_checks
from chie.messages.catalogue import Message

pytestmark = pytest.mark.req("ME-14")

DEAD = "http://127.0.0.1:9"
CALLED = "2026-11-15T12:00:00Z"


@pytest.fixture(autouse=True)
def user(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    for name in ("XDG_CONFIG_HOME", "CLAUDE_CONFIG_DIR", "CODEX_HOME"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("HOME", str(tmp_path / "user"))
    return tmp_path / "user"


@pytest.fixture
def claude(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    state = write_claude(tmp_path / "bin")
    monkeypatch.setenv("PATH", f"{tmp_path / 'bin'}:{os.environ['PATH']}")
    return state


@pytest.fixture
def server() -> Iterator[HookServer]:
    with HookServer({"/hooks/status": {"last_call": CALLED}}) as server:
        yield server


def connect(client: str, url: str) -> None:
    result = CliRunner().invoke(main, ["connect", client, "--memory", "--http", url, "--yes"])
    assert result.exit_code == 0, result.output


def findings() -> dict[str, tuple[str, Message]]:
    report = run_checks([Check("memory", check_memory, "fix")])
    return {finding.check: (finding.state, finding.message) for finding in report.findings}


def test_memory_that_is_not_set_up_is_off() -> None:
    state, message = findings()["memory"]
    assert (state, message.code) == ("off", "doctor.memory_not_installed")


@pytest.mark.usefixtures("claude")
def test_everything_in_order(server: HookServer, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CHIE_TOKEN", "tok-123")
    for client in ("claude-code", "codex", "gemini", "cursor"):
        connect(client, server.url)
    found = findings()
    assert {name: state for name, (state, _) in found.items()} == dict.fromkeys(
        ("memory in Claude Code", "memory in Cursor", "memory in Codex", "memory in Gemini", "memory server"), "ok"
    )
    assert found["memory server"][1].params["time"] == CALLED
    assert server.calls[-1].headers["authorization"] == "Bearer tok-123"


@pytest.mark.parametrize(
    ("answer", "status", "state", "code"),
    [
        ({"last_call": None}, 200, "ok", "doctor.memory_not_called"),
        (b"<html>", 200, "ok", "doctor.memory_not_called"),
        (b"x", 401, "problem", "doctor.memory_token_refused"),
        (b"x", 404, "warning", "doctor.memory_not_served"),
        (b"x", 500, "problem", "doctor.memory_unreachable"),
    ],
)
def test_server_is_judged_by_its_answer(answer: Any, status: int, state: str, code: str) -> None:
    with HookServer({"/hooks/status": answer}, status=status) as server:
        connect("codex", server.url)
        found = findings()["memory server"]
    assert (found[0], found[1].code) == (state, code)


def test_dead_server_is_a_problem() -> None:
    connect("codex", DEAD)
    state, message = findings()["memory server"]
    assert (state, message.code) == ("problem", "doctor.memory_unreachable")
    assert DEAD in message.text("ja")


def test_plugin_that_is_gone_or_old_is_named(claude: Path, home: Path, server: HookServer) -> None:
    connect("claude-code", server.url)
    (home / "claude-code-plugin" / "hooks" / "hooks.json").write_text("{}")
    state, message = findings()["memory in Claude Code"]
    assert (state, message.code) == ("warning", "doctor.plugin_outdated")
    content = json.loads(claude.read_text())
    claude.write_text(json.dumps({**content, "plugins": {}}))
    state, message = findings()["memory in Claude Code"]
    assert (state, message.code) == ("problem", "doctor.plugin_missing")


def test_claude_code_that_is_gone_is_a_warning(
    claude: Path, server: HookServer, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    connect("claude-code", server.url)
    claude.with_name("claude").unlink()
    monkeypatch.setenv("PATH", str(tmp_path))
    state, message = findings()["memory in Claude Code"]
    assert (state, message.code) == ("warning", "connect.claude_not_found")


def test_hooks_with_a_lost_program_or_a_gap_are_named(user: Path, server: HookServer) -> None:
    connect("cursor", server.url)
    file = user / ".cursor" / "hooks.json"
    whole = file.read_text()
    content = json.loads(whole)
    del content["hooks"]["stop"]
    file.write_text(json.dumps(content))
    assert findings()["memory in Cursor"][1].code == "doctor.hooks_incomplete"
    command = content["hooks"]["sessionStart"][0]["command"]
    file.write_text(whole.replace(command.split()[0], "/gone/chie"))
    assert findings()["memory in Cursor"][1].code == "doctor.hook_program_missing"
    file.write_text("{")
    assert findings()["memory in Cursor"][0] == "warning"
