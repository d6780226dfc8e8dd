"""`chie connect CLIENT --memory`: the plugin for Claude Code, and hooks in the files of the other clients."""

import json
import os
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result
from tests.app.processes import BIN
from tests.fakes.claude_program import write_claude

from chie import __version__
from chie.cli import main
from chie.connect.claude_plugin import _needs_commands
from chie.hook.clients import CLIENTS
from chie.hook.login import find_login
from chie.messages.catalogue import Message

pytestmark = pytest.mark.req("ME-13", "ME-14")

URL = "http://127.0.0.1:8080"
FILES = {"codex": ".codex/hooks.json", "gemini": ".gemini/settings.json", "cursor": ".cursor/hooks.json"}
SERVERS = {"codex": ".codex/config.toml", "gemini": ".gemini/settings.json", "cursor": ".cursor/mcp.json"}


@pytest.fixture(autouse=True)
def user(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    for name in ("XDG_CONFIG_HOME", "CLAUDE_CONFIG_DIR", "CODEX_HOME"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("HOME", str(tmp_path / "user"))
    monkeypatch.setattr("chie.connect.config_paths.config_path.__defaults__", (None, "linux"))
    (tmp_path / "user").mkdir()
    return tmp_path / "user"


@pytest.fixture
def claude(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    state = write_claude(tmp_path / "bin")
    monkeypatch.setenv("PATH", f"{tmp_path / 'bin'}:{os.environ['PATH']}")
    return state


def connect(*arguments: str) -> Result:
    return CliRunner().invoke(main, ["connect", *arguments])


def plugins(claude: Path) -> dict[str, Any]:
    found: dict[str, Any] = json.loads(claude.read_text())["plugins"]
    return found


def hooks_of(folder: Path) -> dict[str, Any]:
    found: dict[str, Any] = json.loads((folder / "hooks" / "hooks.json").read_text())["hooks"]
    return found


def test_plugin_is_installed_once_and_removed_without_a_trace(claude: Path, home: Path, user: Path) -> None:
    before = sorted(path for path in user.rglob("*") if path.is_file())
    result = connect("claude-code", "--memory", "--yes")
    assert result.exit_code == 0, result.output
    folder = home / "claude-code-plugin"
    assert plugins(claude) == {"chie@chie": {"version": __version__, "folder": str(folder)}}
    hooks = hooks_of(folder)
    assert hooks["SessionStart"][0]["hooks"][0]["command"] == f"{BIN / 'chie'} hook claude-code SessionStart"
    assert hooks["Stop"][0]["hooks"][0]["url"] == f"{URL}/hooks/claude-code"
    assert "CHIE_TOKEN" in result.output
    again = connect("claude-code", "--memory", "--yes")
    assert "already installed" in again.output
    assert connect("claude-code", "--memory", "--remove", "--yes").exit_code == 0
    assert plugins(claude) == {}
    assert not folder.exists()
    assert not (home / "login.json").exists()
    assert sorted(path for path in user.rglob("*") if path.is_file()) == before
    assert "not installed" in connect("claude-code", "--memory", "--remove").output


def test_older_plugin_is_replaced(claude: Path, home: Path) -> None:
    connect("claude-code", "--memory", "--yes")
    manifest = home / "claude-code-plugin" / ".claude-plugin" / "plugin.json"
    manifest.write_text(json.dumps({"name": "chie", "version": "0.0.1"}))
    state = json.loads(claude.read_text())
    state["plugins"]["chie@chie"]["version"] = "0.0.1"
    claude.write_text(json.dumps(state))
    assert connect("claude-code", "--memory", "--yes").exit_code == 0
    assert plugins(claude)["chie@chie"]["version"] == __version__
    assert json.loads(manifest.read_text())["version"] == __version__


def test_plugin_from_elsewhere_is_replaced(claude: Path, home: Path) -> None:
    connect("claude-code", "--memory", "--yes")
    state = json.loads(claude.read_text())
    state["plugins"]["chie@chie"]["folder"] = "/elsewhere"
    claude.write_text(json.dumps(state))
    assert connect("claude-code", "--memory", "--yes").exit_code == 0
    assert plugins(claude)["chie@chie"]["folder"] == str(home / "claude-code-plugin")


@pytest.mark.usefixtures("claude")
def test_url_and_name_of_the_token_are_written_and_remembered(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TEAM", "sesame-open")
    result = connect("claude-code", "--memory", "--http", "http://127.0.0.1:9000/", "--token-env", "TEAM", "--yes")
    assert result.exit_code == 0, result.output
    folder = home / "claude-code-plugin"
    hook = hooks_of(folder)["UserPromptSubmit"][0]["hooks"][0]
    assert hook["url"] == "http://127.0.0.1:9000/hooks/claude-code"
    assert (hook["headers"], hook["allowedEnvVars"]) == ({"Authorization": "Bearer $TEAM"}, ["TEAM"])
    server = json.loads((folder / ".mcp.json").read_text())["mcpServers"]["knowledge"]
    assert server["url"] == "http://127.0.0.1:9000/mcp/knowledge"
    assert server["headers"] == {"Authorization": "Bearer ${TEAM:-}"}
    assert find_login(os.environ) == ("http://127.0.0.1:9000", "sesame-open")
    texts = [file.read_text() for file in home.rglob("*") if file.is_file()]
    assert not any("sesame" in text for text in [*texts, result.output])
    assert "already installed" in connect("claude-code", "--memory", "--yes").output  # with what was stored


@pytest.mark.usefixtures("claude")
def test_token_is_written_only_on_request_and_for_its_owner(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    missing = connect("claude-code", "--memory", "--write-token", "--yes")
    assert str(Message("connect.token_env_not_set")) in missing.output
    monkeypatch.setenv("CHIE_TOKEN", "sesame-open")
    result = connect("claude-code", "--memory", "--write-token", "--yes")
    assert "sesame" not in result.output
    hook = hooks_of(home / "claude-code-plugin")["Stop"][0]["hooks"][0]
    assert hook["headers"] == {"Authorization": "Bearer sesame-open"}
    assert "allowedEnvVars" not in hook
    monkeypatch.delenv("CHIE_TOKEN")
    assert find_login(os.environ) == (URL, "sesame-open")
    for file in (home / "login.json", home / "claude-code-plugin" / ".mcp.json"):
        assert file.stat().st_mode & 0o077 == 0


def test_private_network_is_reached_by_commands() -> None:
    """Claude Code refuses to send HTTP hooks there."""
    assert _needs_commands("https://192.168.1.20")
    assert _needs_commands("http://[fd00::1]:8080")
    assert not _needs_commands("http://127.0.0.1:8080")
    assert not _needs_commands("http://[::1]:8080")
    assert not _needs_commands("https://203.0.114.7")


@pytest.mark.usefixtures("claude")
def test_plugin_for_a_private_network_has_command_hooks_alone(home: Path) -> None:
    assert connect("claude-code", "--memory", "--http", "http://10.1.2.3:8080", "--yes").exit_code == 0
    for event, groups in hooks_of(home / "claude-code-plugin").items():
        hook = groups[0]["hooks"][0]
        assert (hook["type"], hook["command"]) == ("command", f"{BIN / 'chie'} hook claude-code {event}")


@pytest.mark.parametrize("language", ["en", "ja"])
def test_missing_claude_is_named(language: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    result = connect("claude-code", "--memory", "--yes")
    assert result.exit_code == 1
    assert str(Message("connect.claude_not_found")) in result.output
    assert "Installs" not in result.output
    assert "claude" in Message("connect.claude_not_found").text("ja" if language == "ja" else "en")


def test_error_of_claude_is_shown(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write_claude(tmp_path / "broken", broken=True)
    monkeypatch.setenv("PATH", f"{tmp_path / 'broken'}:{os.environ['PATH']}")
    result = connect("claude-code", "--memory", "--yes")
    assert result.exit_code == 1
    assert "the disk is full" in result.output


@pytest.mark.usefixtures("claude")
def test_nothing_is_changed_without_confirmation(home: Path, user: Path) -> None:
    for client in ("claude-code", *FILES):
        result = connect(client, "--memory")
        assert str(Message("connect.confirmation_required")) in result.output
    assert not home.exists()
    assert not any((user / file).exists() for file in (*FILES.values(), *SERVERS.values()))


@pytest.mark.parametrize("client", ["kiro", "vscode", "claude-desktop"])
def test_client_without_hooks_is_refused(client: str) -> None:
    result = connect(client, "--memory", "--yes")
    assert result.exit_code == 1
    assert "claude-code, codex, gemini, cursor" in result.output


def test_options_of_other_servers_are_refused() -> None:
    for option in (["--server", "n8n"], ["--env", "A=B"]):
        result = connect("codex", "--memory", *option)
        assert str(Message("connect.memory_with_servers")) in result.output


@pytest.mark.parametrize("client", FILES)
def test_hooks_are_written_and_removed_with_their_server(client: str, user: Path, home: Path) -> None:
    result = connect(client, "--memory", "--yes")
    assert result.exit_code == 0, result.output
    written = json.loads((user / FILES[client]).read_text())
    commands = [json.dumps(items) for items in written["hooks"].values()]
    expected = [f"{BIN / 'chie'} hook {client} {event}" for event in written["hooks"]]
    assert all(line in command for line, command in zip(expected, commands, strict=True))
    assert client in CLIENTS
    assert f"{URL}/mcp/knowledge" in (user / SERVERS[client]).read_text()
    assert "already" in connect(client, "--memory", "--yes").output
    removed = connect(client, "--memory", "--remove", "--yes")
    assert removed.exit_code == 0, removed.output
    assert not (user / FILES[client]).exists()
    assert not (user / SERVERS[client]).exists()
    assert not (home / "login.json").exists()
    assert "no hooks" in connect(client, "--memory", "--remove").output


OTHERS = {
    "codex": '{"hooks": {"Stop": [{"hooks": [{"type": "command", "command": "beep"}]}]}}',
    "gemini": '{\n  // mine\n  "ui": {"theme": "GitHub"},\n  "hooks": {"SessionEnd": [{"hooks": []}]},\n}\n',
    "cursor": '{\n\t"version": 1,\n\t"hooks": {\n\t\t"stop": [{"command": "./audit.sh 知恵"}]\n\t}\n}\n',
}


@pytest.mark.parametrize("client", FILES)
def test_hooks_of_others_stay_byte_for_byte(client: str, user: Path) -> None:
    file = user / FILES[client]
    file.parent.mkdir(parents=True)
    file.write_text(OTHERS[client], encoding="utf-8")
    assert connect(client, "--memory", "--yes").exit_code == 0
    assert file.read_text(encoding="utf-8") != OTHERS[client]
    assert connect(client, "--memory", "--remove", "--yes").exit_code == 0
    assert file.read_text(encoding="utf-8") == OTHERS[client]


@pytest.mark.parametrize("client", ["codex", "cursor"])
def test_hooks_added_later_stay(client: str, user: Path) -> None:
    file = user / FILES[client]
    connect(client, "--memory", "--yes")
    content = json.loads(file.read_text())
    event = "Stop" if client == "codex" else "stop"
    content["hooks"][event].insert(0, {"command": "mine"})
    content["hooks"]["other"] = [{"command": "also mine"}]
    file.write_text(json.dumps(content))
    assert connect(client, "--memory", "--remove", "--yes").exit_code == 0
    left = json.loads(file.read_text())["hooks"]
    assert left == {event: [{"command": "mine"}], "other": [{"command": "also mine"}]}


def test_server_that_was_connected_before_stays(user: Path) -> None:
    connect("cursor", "--yes")
    before = (user / SERVERS["cursor"]).read_text()
    connect("cursor", "--memory", "--yes")
    connect("cursor", "--memory", "--remove", "--yes")
    assert (user / SERVERS["cursor"]).read_text() == before


def test_unreadable_hook_file_is_left_alone(user: Path) -> None:
    file = user / FILES["cursor"]
    file.parent.mkdir()
    for text in ("{", '{"hooks": []}'):
        file.write_text(text)
        result = connect("cursor", "--memory", "--yes")
        assert result.exit_code == 1
        assert str(file) in result.output
        assert file.read_text() == text


@pytest.mark.usefixtures("claude")
def test_hooks_are_printed_without_writing(user: Path) -> None:
    for client in ("claude-code", *FILES):
        result = connect(client, "--memory", "--print")
        assert f"hook {client} " in result.output
        assert "hooks" in result.output
    assert not any((user / file).exists() for file in FILES.values())


@pytest.mark.usefixtures("claude")
def test_login_is_kept_until_the_last_client_is_removed(home: Path) -> None:
    for client in ("claude-code", "codex"):
        assert connect(client, "--memory", "--http", "http://127.0.0.1:9000", "--yes").exit_code == 0
    connect("claude-code", "--memory", "--remove", "--yes")
    assert json.loads((home / "login.json").read_text())["clients"] == ["codex"]
    connect("codex", "--memory", "--remove", "--yes")
    assert not (home / "login.json").exists()
