"""`chie connect` with every client and system, on configuration files that users have edited."""

import json
import os
import pty
import subprocess
import tomllib
from pathlib import Path, PurePosixPath
from typing import Any

import pytest
from click.testing import CliRunner, Result
from tests.app.processes import BIN

from chie.cli import main
from chie.connect.config_edit import ClientConfig, is_own
from chie.connect.config_paths import config_path
from chie.connect.mcp_clients import MCP_CLIENTS
from chie.connect.program import REQUIRED_VARIABLES, find_command
from chie.errors import ConfigurationError, ConflictError
from chie.installation.commands import install_extra
from chie.messages.catalogue import Message
from chie.servers import create_server

FILES = {
    "claude-code": ".claude.json",
    "claude-desktop": ".config/Claude/claude_desktop_config.json",
    "cursor": ".cursor/mcp.json",
    "kiro": ".kiro/settings/mcp.json",
    "vscode": ".config/Code/User/mcp.json",
    "codex": ".codex/config.toml",
    "gemini": ".gemini/settings.json",
}
CHIE = str(BIN / "chie")
BASE_URL = "http://127.0.0.1:8080"
SERVER_URL = f"{BASE_URL}/mcp/knowledge"

COMMENTED = '\ufeff{\r\n\t// mine\r\n\t"mcpServers": {\r\n\t\t"x": {"command": "y",}, // 知恵\r\n\t},\r\n}'.encode()
TABLES = b"# mine\r\nmodel = \"m\"   # kept\r\n\r\n[mcp_servers.x]\r\ncommand = 'y'\r\n[tools]\r\nweb = true"


@pytest.fixture(autouse=True)
def user(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty home folder on Linux, without variables that relocate configuration files."""
    for name in ("XDG_CONFIG_HOME", "CLAUDE_CONFIG_DIR", "CODEX_HOME", "APPDATA"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("HOME", str(tmp_path / "user"))
    monkeypatch.setattr("chie.connect.config_paths.config_path.__defaults__", (None, "linux"))
    monkeypatch.delenv("CHIE_HOME")
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "data"))
    return tmp_path / "user"


def message(code: str, **params: str) -> str:
    return str(Message(code, **params))


def connect(*arguments: str) -> Result:
    return CliRunner().invoke(main, ["connect", *arguments])


def read(file: Path) -> Any:
    text = file.read_text("utf-8")
    return tomllib.loads(text) if file.suffix == ".toml" else json.loads(text)


def expected(client: str) -> dict[str, Any]:
    entry: dict[str, Any] = {"command": CHIE, "args": ["mcp", "knowledge"]}
    return {"type": "stdio", **entry} if client in ("claude-code", "vscode", "gemini") else entry


@pytest.mark.parametrize("client", FILES)
def test_server_is_written_in_the_form_of_each_client(user: Path, client: str) -> None:
    result = connect(client, "--yes")
    assert result.exit_code == 0, result.output
    key = {"vscode": "servers", "codex": "mcp_servers"}.get(client, "mcpServers")
    assert read(user / FILES[client]) == {key: {"knowledge": expected(client)}}
    assert "to knowledge. " in result.output
    again = connect(client, "--yes")
    assert "is already connected" in again.output
    assert connect(client, "--remove", "--yes").exit_code == 0
    assert not (user / FILES[client]).exists()
    assert "is not connected" in connect(client, "--remove").output


@pytest.mark.parametrize("client", [client for client in FILES if client != "claude-desktop"])
def test_url_is_written_with_the_token_by_name_only(user: Path, client: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TEAM_TOKEN", "sesame-open")
    result = connect(client, "--http", BASE_URL, "--token-env", "TEAM_TOKEN", "--yes")
    entry = next(iter(read(user / FILES[client]).values()))["knowledge"]
    references = {"cursor": "${env:TEAM_TOKEN}", "vscode": "${env:TEAM_TOKEN}"}
    if client == "codex":
        assert entry == {"url": SERVER_URL, "bearer_token_env_var": "TEAM_TOKEN"}
    else:
        assert entry["url"] == SERVER_URL
        assert entry["headers"] == {"Authorization": f"Bearer {references.get(client, '${TEAM_TOKEN}')}"}
        assert entry.get("type") == ("http" if client in ("claude-code", "vscode", "gemini") else None)
    assert "sesame" not in result.output
    assert "TEAM_TOKEN" in result.output


def test_token_is_written_in_clear_text_only_on_request_and_never_shown(
    user: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TEAM_TOKEN", "sesame-open")
    result = connect("kiro", "--http", BASE_URL, "--token-env", "TEAM_TOKEN", "--write-token", "--yes")
    entry = read(user / FILES["kiro"])["mcpServers"]["knowledge"]
    assert entry["headers"] == {"Authorization": "Bearer sesame-open"}
    assert "sesame" not in result.output
    assert (user / FILES["kiro"]).stat().st_mode & 0o077 == 0


@pytest.mark.parametrize("client", FILES)
@pytest.mark.parametrize("ending", ["", "\n"])
def test_removal_restores_the_file_byte_for_byte(user: Path, client: str, ending: str) -> None:
    file = user / FILES[client]
    file.parent.mkdir(parents=True, exist_ok=True)
    before = (TABLES if client == "codex" else COMMENTED) + ending.encode()
    if client == "vscode":
        before = before.replace(b"mcpServers", b"servers")
    file.write_bytes(before)
    file.chmod(0o640)
    assert connect(client, "--server", "n8n", "--server", "knowledge", "--yes").exit_code == 0
    after = file.read_bytes()
    assert after != before
    assert all(line in after.splitlines() for line in before.splitlines())
    assert after.count(b"\n") == after.count(b"\r\n") + (ending == "\n")
    backup = next(file.parent.glob("*.chie-backup"))
    assert (backup.read_bytes(), backup.stat().st_mode & 0o777) == (before, 0o640)
    assert connect(client, "--server", "n8n", "--remove", "--yes").exit_code == 0
    assert connect(client, "--remove", "--yes").exit_code == 0
    assert file.read_bytes() == before
    assert file.stat().st_mode & 0o777 == 0o640


def test_replaced_entry_comes_back_on_removal(user: Path) -> None:
    file = user / FILES["cursor"]
    file.parent.mkdir(parents=True)
    before = '{"mcpServers": {"n8n": {"command": "npx", "args": ["n8n-mcp"]}}}'
    file.write_text(before)
    rejected = connect("cursor", "--server", "n8n", "--remove", "--yes")
    assert message("connect.foreign_server", path=str(file), server="n8n") in rejected.output
    connect("cursor", "--server", "n8n", "--yes")
    assert is_own(read(file)["mcpServers"]["n8n"])
    connect("cursor", "--server", "n8n", "--remove", "--yes")
    assert file.read_text() == before


OWN: list[dict[str, Any]] = [
    {"command": "chie", "args": ["mcp", "n8n"]},
    {"command": "C:\\Users\\aki\\bin\\chie.exe", "args": ["mcp", "n8n"]},
    {"command": "/opt/chie/bin/knowledge-gateway"},
    {"command": "/bin/uvx", "args": ["--from", "chie==0.1.0", "chie", "mcp", "n8n"]},
    {"command": "uvx", "args": ["--from", "dist/chie-0.1.0-py3-none-any.whl", "knowledge-gateway"]},
    {"command": "uvx.exe", "args": ["--offline", "--from", "git+https://git.example/x@1f0c", "chie", "mcp", "n8n"]},
    {"command": "uvx", "args": ["chie@0.1.0", "mcp", "n8n"]},
    {"command": "uvx", "args": ["--from=/folder/chie", "chie", "mcp", "n8n"]},
    {"url": "https://chie.example/mcp/n8n/"},
    {"type": "http", "url": "http://127.0.0.1:8080/below/mcp/bedrock-kb"},
]
FOREIGN: list[Any] = [
    {"url": "https://mcp.notion.com/mcp"},
    {"url": "https://other.example/mcp/calendar"},
    {"url": "https://other.example/n8n"},
    {"url": "http://[host]:1/mcp"},
    {"url": 5},
    {"command": "npx", "args": ["-y", "@x/fs", "/home/chie"]},
    {"command": "uvx", "args": ["mcp-server-git", "--user", "chie"]},
    {"command": "uvx", "args": ["--from", "chie", "other"]},
    {"command": "uvx", "args": ["--from"]},
    {"command": "uvx", "args": 5},
    {"command": "x", "args": 5},
    {"command": ["chie"]},
    "chie",
    None,
]


def test_server_is_recognized_by_its_program_or_url_only() -> None:
    assert [entry for entry in OWN if not is_own(entry)] == []
    assert [entry for entry in FOREIGN if is_own(entry)] == []


@pytest.mark.parametrize("entry", FOREIGN)
def test_foreign_server_is_never_removed(user: Path, entry: Any) -> None:
    file = user / FILES["cursor"]
    file.parent.mkdir(parents=True)
    before = json.dumps({"mcpServers": {"n8n": entry}})
    file.write_text(before)
    rejected = connect("cursor", "--server", "n8n", "--remove", "--yes")
    assert message("connect.foreign_server", path=str(file), server="n8n") in rejected.output
    assert file.read_text() == before


def test_url_with_any_path_is_recognized_by_the_receipt(user: Path) -> None:
    """Clients add fields to an entry; a different server under the same name is not ours."""
    file = user / FILES["kiro"]
    assert connect("kiro", "--http", "https://team.example/notes", "--yes").exit_code == 0
    written = read(file)
    written["mcpServers"]["knowledge"]["disabled"] = False
    file.write_text(json.dumps(written))
    assert connect("kiro", "--remove", "--yes").exit_code == 0
    assert read(file).get("mcpServers", {}) == {}
    assert connect("kiro", "--http", "https://team.example/notes", "--yes").exit_code == 0
    file.write_text(json.dumps({"mcpServers": {"knowledge": {"url": "https://other.example/mcp"}}}))
    assert (
        message("connect.foreign_server", path=str(file), server="knowledge")
        in connect("kiro", "--remove", "--yes").output
    )


def test_removal_without_a_name_removes_all_of_our_servers(user: Path) -> None:
    file = user / FILES["cursor"]
    file.parent.mkdir(parents=True)
    file.write_text(json.dumps({"mcpServers": {"other": {"command": "x"}}}))
    connect("cursor", "--server", "n8n", "--server", "bedrock-kb", "--yes")
    assert "Disconnected Cursor from bedrock-kb, n8n." in connect("cursor", "--remove", "--yes").output
    assert read(file) == {"mcpServers": {"other": {"command": "x"}}}
    assert "is not connected" in connect("cursor", "--remove", "--yes").output


@pytest.mark.usefixtures("user")
def test_removal_lists_only_servers_that_were_there() -> None:
    connect("cursor", "--server", "n8n", "--yes")
    result = connect("cursor", "--server", "n8n", "--server", "knowledge", "--remove", "--yes")
    assert "Disconnected Cursor from n8n." in result.output


def test_changes_by_other_programs_survive_the_removal(user: Path) -> None:
    connect("claude-code", "--yes")
    file = user / FILES["claude-code"]
    content = read(file)
    content["mcpServers"]["other"] = {"command": "x"}
    file.write_text(json.dumps({"started": 3, **content}, indent=2))
    assert connect("claude-code", "--remove", "--yes").exit_code == 0
    assert read(file) == {"started": 3, "mcpServers": {"other": {"command": "x"}}}


def test_table_that_we_added_is_removed_with_our_last_server(user: Path) -> None:
    user.mkdir()
    file = user / FILES["claude-code"]
    file.write_text('{"started": 1}')
    connect("claude-code", "--server", "knowledge", "--server", "n8n", "--yes")
    file.write_text(json.dumps(read(file) | {"started": 2}, indent=2))
    connect("claude-code", "--server", "knowledge", "--remove", "--yes")
    assert set(read(file)) == {"started", "mcpServers"}
    connect("claude-code", "--server", "n8n", "--remove", "--yes")
    assert read(file) == {"started": 2}


def test_concurrent_write_by_the_client_is_not_overwritten(user: Path, home: Path) -> None:
    user.mkdir()
    file = user / FILES["claude-code"]
    file.write_text("{}")
    config = ClientConfig(next(client for client in MCP_CLIENTS if client.id == "claude-code"), home)
    plan = config.plan_adding({"knowledge": {"command": "chie"}})
    file.write_text('{"written": "meanwhile"}')
    with pytest.raises(ConflictError) as conflict:
        config.apply(plan)
    assert conflict.value.code == "connect.file_changed"
    assert file.read_text() == '{"written": "meanwhile"}'
    assert list(user.iterdir()) == [file]


def test_unwritable_chie_home_does_not_prevent_connecting(
    user: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "file").touch()
    monkeypatch.setenv("CHIE_HOME", str(tmp_path / "file" / "home"))
    assert connect("codex", "--yes").exit_code == 0
    assert connect("codex", "--remove", "--yes").exit_code == 0
    assert read(user / FILES["codex"]) == {}


def test_removal_works_without_a_receipt(user: Path, tmp_path: Path) -> None:
    connect("codex", "--yes")
    (tmp_path / "data" / "chie" / "connections.json").write_text("{broken")
    assert connect("codex", "--remove", "--yes").exit_code == 0
    assert read(user / FILES["codex"]) == {}


def test_symlink_stays_a_symlink(user: Path, tmp_path: Path) -> None:
    real = tmp_path / "dotfiles.json"
    real.write_text("{}")
    user.mkdir()
    (user / ".claude.json").symlink_to(real)
    connect("claude-code", "--yes")
    assert (user / ".claude.json").is_symlink()
    assert "knowledge" in real.read_text()


@pytest.mark.parametrize(
    ("client", "text", "position"),
    [("cursor", b'{\n  "a": 1\n  "b": 2\n}', "line 3, column 3"), ("codex", b"a = 1\nb = \n", "line 2, column 5")],
)
def test_invalid_file_is_left_unchanged_and_the_position_shown(
    user: Path, client: str, text: bytes, position: str
) -> None:
    file = user / FILES[client]
    file.parent.mkdir(parents=True)
    file.write_bytes(text)
    for arguments in ((client, "--yes"), (client, "--remove", "--yes")):
        result = connect(*arguments)
        assert result.exit_code == 1
        assert f"{file} is not valid, so it was left as it is: {position}: " in result.output
    assert file.read_bytes() == text
    assert list(file.parent.iterdir()) == [file]


def test_nothing_is_written_without_a_terminal_to_ask(user: Path) -> None:
    result = connect("cursor")
    assert result.exit_code == 1
    assert message("connect.confirmation_required") in result.output
    assert '+    "knowledge": {' in result.output
    assert not user.exists()


@pytest.mark.parametrize(("answer", "written"), [("y\n", True), ("n\n", False)])
def test_change_is_shown_and_confirmed(user: Path, answer: str, *, written: bool) -> None:
    ours, theirs = pty.openpty()
    with subprocess.Popen([CHIE, "connect", "cursor"], stdin=theirs, stdout=subprocess.PIPE, text=True) as process:
        os.close(theirs)
        os.write(ours, answer.encode())
        assert process.stdout
        shown = process.stdout.read()
    os.close(ours)
    assert '"knowledge": {' in shown
    assert "Write this?" in shown
    assert (user / FILES["cursor"]).exists() is written


def test_foreign_secrets_are_not_shown_next_to_our_entry(user: Path) -> None:
    file = user / FILES["cursor"]
    file.parent.mkdir(parents=True)
    file.write_text('{\n  "mcpServers": {\n    "x": {"headers": {"Authorization": "Bearer abc-def-ghi"}}\n  }\n}\n')
    assert "abc-def" not in connect("cursor", "--yes").output


@pytest.mark.parametrize("arguments", [(), ("--remove",)])
def test_foreign_secrets_are_not_shown_in_a_single_line_file(
    user: Path, monkeypatch: pytest.MonkeyPatch, arguments: tuple[str, ...]
) -> None:
    monkeypatch.setenv("TEAM_TOKEN", "sesame-open")
    file = user / FILES["cursor"]
    file.parent.mkdir(parents=True)
    file.write_text(
        '{"a": {"password": "hidden-one"}, "mcpServers": {"x": {"env": {"TOKEN": "hidden-two"}}}, "secret": "hidden-3"}'
    )
    added = connect("cursor", "--http", BASE_URL, "--token-env", "TEAM_TOKEN", "--yes")
    assert '"Authorization": "Bearer ${env:TEAM_TOKEN}"' in added.output, "our own entry stays readable"
    shown = connect("cursor", "--yes", *arguments).output + added.output
    assert "knowledge" in shown
    assert "hidden" not in shown
    assert "hidden-two" in file.read_text()


def test_passed_on_variable_is_readable_in_the_diff(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("N8N_API_KEY", "n8n-secret-key")
    shown = connect("claude-code", "--server", "n8n", "--yes").output
    assert '"N8N_API_KEY": "${N8N_API_KEY}"' in shown
    assert "secret" not in shown


def test_variables_are_passed_by_name_unless_a_value_is_given(user: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("N8N_API_KEY", "n8n-secret-key")
    result = connect("claude-code", "--server", "n8n", "--env", "N8N_URL=http://127.0.0.1:5678", "--yes")
    entry = read(user / FILES["claude-code"])["mcpServers"]["n8n"]
    assert entry["env"] == {"N8N_API_KEY": "${N8N_API_KEY}", "N8N_URL": "http://127.0.0.1:5678"}
    assert "gets N8N_API_KEY by name" in result.output
    connect("codex", "--server", "n8n", "--env", "N8N_URL=http://127.0.0.1:5678", "--yes")
    entry = read(user / FILES["codex"])["mcp_servers"]["n8n"]
    assert (entry["env_vars"], entry["env"]) == (["N8N_API_KEY"], {"N8N_URL": "http://127.0.0.1:5678"})
    result = connect("claude-desktop", "--server", "n8n", "--yes")
    assert "does not get N8N_API_KEY" in result.output
    assert "secret" not in (user / FILES["claude-desktop"]).read_text()


@pytest.mark.parametrize(
    ("arguments", "code"),
    [
        (("claude-desktop", "--http", BASE_URL), "http_not_supported"),
        (("claude-desktop", "--env", "N8N_URL"), "env_not_passed_on"),
        *(
            (("cursor", "--http", url), "http_not_a_url")
            for url in ("", "ftp://x", "http://", "http://[", "http://h:abc", "http://h:99999", "http://h:0")
        ),
        (("cursor", "--http", "http://user:pass@127.0.0.1"), "http_with_password"),
        (
            ("cursor", "--http", f"{BASE_URL}/mcp/n8n", "--server", "n8n", "--server", "knowledge"),
            "http_path_with_many_servers",
        ),
        (("cursor", "--http", BASE_URL, "--env", "A=1"), "env_with_http"),
        (("cursor", "--token-env", "T"), "token_env_without_http"),
        (("cursor", "--http", BASE_URL, "--token-env", "NOT_SET", "--write-token"), "token_env_not_set"),
        (("cursor", "--http", BASE_URL, "--write-token"), "write_token_without_token_env"),
        (("cursor", "--write-token"), "write_token_without_token_env"),
        (("cursor", "--env", "=x"), "env_without_name"),
        (("cursor", "--env", ""), "env_without_name"),
        (("claude-desktop", "--env", ""), "env_without_name"),
        (("cursor", "--remove", "--print"), "print_with_remove"),
    ],
)
def test_conflicting_options_are_rejected(user: Path, arguments: tuple[str, ...], code: str) -> None:
    result = connect(*arguments, "--yes")
    assert result.exit_code == 1
    assert message(f"connect.{code}", client="Claude Desktop", variable="N8N_URL") in result.output
    assert not user.exists()


def test_symlink_loop_is_reported(user: Path) -> None:
    user.mkdir()
    (user / ".claude.json").symlink_to(user / ".claude.json")
    result = connect("claude-code", "--yes")
    assert result.exit_code == 1
    assert result.output.startswith(f"Error: {user / '.claude.json'} cannot be used: Too many levels of symbolic links")


def test_file_that_is_not_text_is_left_unchanged(user: Path) -> None:
    user.mkdir()
    (user / ".claude.json").write_bytes(b"\xff\xfe{\x00}\x00")
    result = connect("claude-code", "--yes")
    assert message("connect.file_not_utf8", path=str(user / ".claude.json")) in result.output
    assert (user / ".claude.json").read_bytes() == b"\xff\xfe{\x00}\x00"


@pytest.mark.parametrize("client", FILES)
def test_print_shows_exactly_what_would_be_written(user: Path, client: str) -> None:
    printed = CliRunner().invoke(main, ["connect", client, "--print"])
    assert printed.stderr == f"{user / FILES[client]}:\n"
    assert not user.exists()
    connect(client, "--yes")
    assert printed.stdout == (user / FILES[client]).read_text()


@pytest.mark.parametrize(
    ("system", "env", "client", "path"),
    [
        (
            "darwin",
            {"HOME": "/Users/a"},
            "claude-desktop",
            "/Users/a/Library/Application Support/Claude/claude_desktop_config.json",
        ),
        ("darwin", {"HOME": "/Users/a"}, "vscode", "/Users/a/Library/Application Support/Code/User/mcp.json"),
        ("darwin", {"HOME": "/Users/a"}, "gemini", "/Users/a/.gemini/settings.json"),
        (
            "win32",
            {"USERPROFILE": "C:/U", "APPDATA": "D:/Data"},
            "claude-desktop",
            "D:/Data/Claude/claude_desktop_config.json",
        ),
        ("win32", {"USERPROFILE": "C:/U"}, "vscode", "C:/U/AppData/Roaming/Code/User/mcp.json"),
        ("win32", {"USERPROFILE": "C:/U"}, "codex", "C:/U/.codex/config.toml"),
        ("linux", {"HOME": "/h", "XDG_CONFIG_HOME": "/x"}, "vscode", "/x/Code/User/mcp.json"),
        ("linux", {"HOME": "/h"}, "claude-desktop", "/h/.config/Claude/claude_desktop_config.json"),
        ("linux", {"HOME": "/h", "CODEX_HOME": "/c"}, "codex", "/c/config.toml"),
        ("linux", {"HOME": "/h", "CLAUDE_CONFIG_DIR": "/c"}, "claude-code", "/c/.claude.json"),
        ("linux", {"HOME": "/h"}, "kiro", "/h/.kiro/settings/mcp.json"),
    ],
)
def test_config_path_on_each_system(system: str, env: dict[str, str], client: str, path: str) -> None:
    found = config_path(next(known for known in MCP_CLIENTS if known.id == client), env, system)
    assert PurePosixPath(found.as_posix()) == PurePosixPath(path)


def test_command_uses_uvx_when_started_through_uvx(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """uv deletes its environments, so their paths must not be written."""
    uvx = tmp_path / "uvx"
    uvx.touch()
    monkeypatch.setenv("UV", str(tmp_path / "uv"))
    monkeypatch.setattr("sys.prefix", str(tmp_path / "cache" / "archive-v0" / "abc"))
    program = find_command("knowledge")
    assert program.command == str(uvx)
    assert program.args[0] == "--from"
    assert program.args[2:] == ("chie", "mcp", "knowledge")


class TestMissingVariables:
    """A server that lacks a variable does not start, and a client shows only that it has no tools."""

    @pytest.mark.parametrize("server", REQUIRED_VARIABLES)
    def test_they_are_those_that_the_server_itself_asks_for(self, server: str) -> None:
        with pytest.raises(ConfigurationError) as error:
            create_server(server)
        assert error.value.reason.params["variables"] == list(REQUIRED_VARIABLES[server])

    @pytest.mark.parametrize("options", [("--yes",), ("--print",), ("--yes", "--server", "knowledge")])
    def test_they_are_named(self, options: tuple[str, ...]) -> None:
        result = connect("cursor", "--server", "n8n", *options)
        assert result.exit_code == 0
        warning = "n8n will not start without N8N_URL and N8N_API_KEY. "
        assert f"{warning}Set them where Cursor starts and add --env N8N_URL --env N8N_API_KEY, or" in result.stderr
        again = connect("cursor", "--server", "n8n", "--yes")
        assert warning in again.stderr

    def test_those_that_the_server_will_find_are_not(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setenv("N8N_URL", "http://127.0.0.1:5678")
        monkeypatch.setenv("N8N_API_KEY", " ")
        assert "will not start without N8N_API_KEY. " in connect("kiro", "--server", "n8n", "--print").stderr
        assert "without" not in connect("kiro", "--server", "n8n", "--env", "N8N_API_KEY", "--print").stderr
        assert "without" not in connect("kiro", "--server", "n8n", "--http", BASE_URL, "--print").stderr
        (tmp_path / ".env").write_text("N8N_API_KEY=x\n")  # the server ignores the file in the current folder
        assert "without N8N_API_KEY" in connect("kiro", "--server", "n8n", "--print").stderr
        stored = tmp_path / "data" / "chie" / ".env"
        stored.parent.mkdir(parents=True)
        stored.write_text("N8N_API_KEY=x\n")
        assert "without" not in connect("kiro", "--server", "n8n", "--print").stderr
        assert f"or write it into {stored}." in connect("claude-desktop", "--server", "n8n", "--print").stderr

    def test_a_client_that_passes_nothing_on_needs_values(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setenv("N8N_URL", "http://127.0.0.1:5678")
        shown = connect("claude-desktop", "--server", "n8n", "--env", "N8N_API_KEY=k", "--print").stderr
        assert "n8n will not start without N8N_URL. Add --env N8N_URL=VALUE, or write" in shown

    def test_a_missing_package_is_named_with_its_command(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr("chie.connect.program.installed_extras", set)
        shown = connect("kiro", "--server", "bedrock-kb", "--print").stderr
        assert f"A package is missing. Run `{install_extra('bedrock')}`." in shown
