"""`chie connect`, as a person types it; every host, every system, and files that people have made their own."""

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
from chie.connect.config_edit import Connection, is_ours
from chie.connect.config_paths import config_path
from chie.connect.mcp_clients import HOSTS
from chie.connect.program import find_program
from chie.errors import ConflictError

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
HOUSE = "http://127.0.0.1:8080"
URL = f"{HOUSE}/mcp/knowledge"

COMMENTED = '\ufeff{\r\n\t// mine\r\n\t"mcpServers": {\r\n\t\t"x": {"command": "y",}, // 知恵\r\n\t},\r\n}'.encode()
TABLES = b"# mine\r\nmodel = \"m\"   # kept\r\n\r\n[mcp_servers.x]\r\ncommand = 'y'\r\n[tools]\r\nweb = true"


@pytest.fixture(autouse=True)
def user(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A home of their own, on Linux, without anything that moves files elsewhere."""
    for name in ("XDG_CONFIG_HOME", "CLAUDE_CONFIG_DIR", "CODEX_HOME", "APPDATA"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("HOME", str(tmp_path / "user"))
    monkeypatch.setattr("chie.connect.config_paths.config_path.__defaults__", (None, "linux"))
    monkeypatch.delenv("CHIE_HOME")
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "data"))
    return tmp_path / "user"


def connect(*arguments: str) -> Result:
    return CliRunner().invoke(main, ["connect", *arguments])


def read(file: Path) -> Any:
    text = file.read_text("utf-8")
    return tomllib.loads(text) if file.suffix == ".toml" else json.loads(text)


def expected(host: str) -> dict[str, Any]:
    entry: dict[str, Any] = {"command": CHIE, "args": ["mcp", "knowledge"]}
    return {"type": "stdio", **entry} if host in ("claude-code", "vscode", "gemini") else entry


@pytest.mark.parametrize("host", FILES)
def test_a_host_gets_our_server_in_its_own_file_and_form(user: Path, host: str) -> None:
    result = connect(host, "--yes")
    assert result.exit_code == 0, result.output
    key = {"vscode": "servers", "codex": "mcp_servers"}.get(host, "mcpServers")
    assert read(user / FILES[host]) == {key: {"knowledge": expected(host)}}
    assert "knows knowledge now" in result.output
    again = connect(host, "--yes")
    assert "is connected already" in again.output
    assert connect(host, "--remove", "--yes").exit_code == 0
    assert not (user / FILES[host]).exists()
    assert "is not connected" in connect(host, "--remove").output


@pytest.mark.parametrize("host", [host for host in FILES if host != "claude-desktop"])
def test_an_address_is_written_with_its_token_by_name_only(
    user: Path, host: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TEAM_TOKEN", "sesame-open")
    result = connect(host, "--http", HOUSE, "--token-env", "TEAM_TOKEN", "--yes")
    entry = next(iter(read(user / FILES[host]).values()))["knowledge"]
    references = {"cursor": "${env:TEAM_TOKEN}", "vscode": "${env:TEAM_TOKEN}"}
    if host == "codex":
        assert entry == {"url": URL, "bearer_token_env_var": "TEAM_TOKEN"}
    else:
        assert entry["url"] == URL
        assert entry["headers"] == {"Authorization": f"Bearer {references.get(host, '${TEAM_TOKEN}')}"}
        assert entry.get("type") == ("http" if host in ("claude-code", "vscode", "gemini") else None)
    assert "sesame" not in result.output
    assert "TEAM_TOKEN" in result.output


def test_a_token_is_written_in_clear_only_when_asked_and_never_shown(
    user: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TEAM_TOKEN", "sesame-open")
    result = connect("kiro", "--http", HOUSE, "--token-env", "TEAM_TOKEN", "--write-token", "--yes")
    entry = read(user / FILES["kiro"])["mcpServers"]["knowledge"]
    assert entry["headers"] == {"Authorization": "Bearer sesame-open"}
    assert "sesame" not in result.output
    assert (user / FILES["kiro"]).stat().st_mode & 0o077 == 0


@pytest.mark.parametrize("host", FILES)
@pytest.mark.parametrize("ending", ["", "\n"])
def test_the_way_back_is_exact_to_the_byte(user: Path, host: str, ending: str) -> None:
    file = user / FILES[host]
    file.parent.mkdir(parents=True, exist_ok=True)
    before = (TABLES if host == "codex" else COMMENTED) + ending.encode()
    if host == "vscode":
        before = before.replace(b"mcpServers", b"servers")
    file.write_bytes(before)
    file.chmod(0o640)
    assert connect(host, "--server", "n8n", "--server", "knowledge", "--yes").exit_code == 0
    after = file.read_bytes()
    assert after != before
    assert all(line in after.splitlines() for line in before.splitlines())
    assert after.count(b"\n") == after.count(b"\r\n") + (ending == "\n")
    backup = next(file.parent.glob("*.chie-backup"))
    assert (backup.read_bytes(), backup.stat().st_mode & 0o777) == (before, 0o640)
    assert connect(host, "--server", "n8n", "--remove", "--yes").exit_code == 0
    assert connect(host, "--remove", "--yes").exit_code == 0
    assert file.read_bytes() == before
    assert file.stat().st_mode & 0o777 == 0o640


def test_an_entry_of_somebody_elses_comes_back_when_ours_goes(user: Path) -> None:
    file = user / FILES["cursor"]
    file.parent.mkdir(parents=True)
    before = '{"mcpServers": {"n8n": {"command": "npx", "args": ["n8n-mcp"]}}}'
    file.write_text(before)
    refused = connect("cursor", "--server", "n8n", "--remove", "--yes")
    assert "has a server n8n that is not ours" in refused.output
    connect("cursor", "--server", "n8n", "--yes")
    assert is_ours(read(file)["mcpServers"]["n8n"])
    connect("cursor", "--server", "n8n", "--remove", "--yes")
    assert file.read_text() == before


OURS: list[dict[str, Any]] = [
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
OTHERS: list[Any] = [
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


def test_a_server_is_ours_by_its_program_or_address_alone() -> None:
    assert [entry for entry in OURS if not is_ours(entry)] == []
    assert [entry for entry in OTHERS if is_ours(entry)] == []


@pytest.mark.parametrize("entry", OTHERS)
def test_a_server_of_others_is_never_taken_out(user: Path, entry: Any) -> None:
    file = user / FILES["cursor"]
    file.parent.mkdir(parents=True)
    before = json.dumps({"mcpServers": {"n8n": entry}})
    file.write_text(before)
    refused = connect("cursor", "--server", "n8n", "--remove", "--yes")
    assert "has a server n8n that is not ours" in refused.output
    assert file.read_text() == before


def test_an_address_of_any_path_is_known_by_what_we_remember(user: Path) -> None:
    """A host adds fields of its own; another server under that name is not what we wrote."""
    file = user / FILES["kiro"]
    assert connect("kiro", "--http", "https://team.example/notes", "--yes").exit_code == 0
    written = read(file)
    written["mcpServers"]["knowledge"]["disabled"] = False
    file.write_text(json.dumps(written))
    assert connect("kiro", "--remove", "--yes").exit_code == 0
    assert read(file).get("mcpServers", {}) == {}
    assert connect("kiro", "--http", "https://team.example/notes", "--yes").exit_code == 0
    file.write_text(json.dumps({"mcpServers": {"knowledge": {"url": "https://other.example/mcp"}}}))
    assert "is not ours" in connect("kiro", "--remove", "--yes").output


def test_without_a_name_all_of_ours_go_and_are_named(user: Path) -> None:
    file = user / FILES["cursor"]
    file.parent.mkdir(parents=True)
    file.write_text(json.dumps({"mcpServers": {"other": {"command": "x"}}}))
    connect("cursor", "--server", "n8n", "--server", "bedrock-kb", "--yes")
    assert "no longer knows bedrock-kb, n8n." in connect("cursor", "--remove", "--yes").output
    assert read(file) == {"mcpServers": {"other": {"command": "x"}}}
    assert "is not connected" in connect("cursor", "--remove", "--yes").output


@pytest.mark.usefixtures("user")
def test_only_what_was_there_is_said_to_be_gone() -> None:
    connect("cursor", "--server", "n8n", "--yes")
    result = connect("cursor", "--server", "n8n", "--server", "knowledge", "--remove", "--yes")
    assert "no longer knows n8n." in result.output


def test_what_others_wrote_meanwhile_stays_when_ours_goes(user: Path) -> None:
    connect("claude-code", "--yes")
    file = user / FILES["claude-code"]
    content = read(file)
    content["mcpServers"]["other"] = {"command": "x"}
    file.write_text(json.dumps({"started": 3, **content}, indent=2))
    assert connect("claude-code", "--remove", "--yes").exit_code == 0
    assert read(file) == {"started": 3, "mcpServers": {"other": {"command": "x"}}}


def test_the_place_that_we_made_goes_with_our_last_server(user: Path) -> None:
    user.mkdir()
    file = user / FILES["claude-code"]
    file.write_text('{"started": 1}')
    connect("claude-code", "--server", "knowledge", "--server", "n8n", "--yes")
    file.write_text(json.dumps(read(file) | {"started": 2}, indent=2))
    connect("claude-code", "--server", "knowledge", "--remove", "--yes")
    assert set(read(file)) == {"started", "mcpServers"}
    connect("claude-code", "--server", "n8n", "--remove", "--yes")
    assert read(file) == {"started": 2}


def test_a_host_that_writes_at_the_same_moment_is_not_overwritten(user: Path, home: Path) -> None:
    user.mkdir()
    file = user / FILES["claude-code"]
    file.write_text("{}")
    connection = Connection(next(host for host in HOSTS if host.id == "claude-code"), home)
    plan = connection.plan_adding({"knowledge": {"command": "chie"}})
    file.write_text('{"written": "meanwhile"}')
    with pytest.raises(ConflictError, match="was changed by somebody else just now, so it was left alone"):
        connection.carry_out(plan)
    assert file.read_text() == '{"written": "meanwhile"}'
    assert list(user.iterdir()) == [file]


def test_a_home_that_cannot_be_written_does_not_keep_anybody_from_connecting(
    user: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "file").touch()
    monkeypatch.setenv("CHIE_HOME", str(tmp_path / "file" / "home"))
    assert connect("codex", "--yes").exit_code == 0
    assert connect("codex", "--remove", "--yes").exit_code == 0
    assert read(user / FILES["codex"]) == {}


def test_a_lost_memory_costs_nothing_but_exactness(user: Path, tmp_path: Path) -> None:
    connect("codex", "--yes")
    (tmp_path / "data" / "chie" / "connections.json").write_text("{broken")
    assert connect("codex", "--remove", "--yes").exit_code == 0
    assert read(user / FILES["codex"]) == {}


def test_a_link_stays_a_link(user: Path, tmp_path: Path) -> None:
    real = tmp_path / "dotfiles.json"
    real.write_text("{}")
    user.mkdir()
    (user / ".claude.json").symlink_to(real)
    connect("claude-code", "--yes")
    assert (user / ".claude.json").is_symlink()
    assert "knowledge" in real.read_text()


@pytest.mark.parametrize(
    ("host", "text", "place"),
    [("cursor", b'{\n  "a": 1\n  "b": 2\n}', "line 3, column 3"), ("codex", b"a = 1\nb = \n", "line 2, column 5")],
)
def test_a_broken_file_is_left_alone_and_its_place_told(user: Path, host: str, text: bytes, place: str) -> None:
    file = user / FILES[host]
    file.parent.mkdir(parents=True)
    file.write_bytes(text)
    for arguments in ((host, "--yes"), (host, "--remove", "--yes")):
        result = connect(*arguments)
        assert result.exit_code == 1
        assert f"{file} is broken, so it was left alone: {place}: " in result.output
    assert file.read_bytes() == text
    assert list(file.parent.iterdir()) == [file]


def test_where_nobody_can_be_asked_nothing_is_written(user: Path) -> None:
    result = connect("cursor")
    assert result.exit_code == 1
    assert "Add --yes" in result.output
    assert '+    "knowledge": {' in result.output
    assert not user.exists()


@pytest.mark.parametrize(("answer", "written"), [("y\n", True), ("n\n", False)])
def test_a_person_is_shown_the_change_and_asked(user: Path, answer: str, *, written: bool) -> None:
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


def test_secrets_of_others_are_not_shown_beside_ours(user: Path) -> None:
    file = user / FILES["cursor"]
    file.parent.mkdir(parents=True)
    file.write_text('{\n  "mcpServers": {\n    "x": {"headers": {"Authorization": "Bearer abc-def-ghi"}}\n  }\n}\n')
    assert "abc-def" not in connect("cursor", "--yes").output


@pytest.mark.parametrize("arguments", [(), ("--remove",)])
def test_secrets_of_others_are_not_shown_in_a_file_of_one_line(
    user: Path, monkeypatch: pytest.MonkeyPatch, arguments: tuple[str, ...]
) -> None:
    monkeypatch.setenv("TEAM_TOKEN", "sesame-open")
    file = user / FILES["cursor"]
    file.parent.mkdir(parents=True)
    file.write_text(
        '{"a": {"password": "hidden-one"}, "mcpServers": {"x": {"env": {"TOKEN": "hidden-two"}}}, "secret": "hidden-3"}'
    )
    added = connect("cursor", "--http", HOUSE, "--token-env", "TEAM_TOKEN", "--yes")
    assert '"Authorization": "Bearer ${env:TEAM_TOKEN}"' in added.output, "ours stays readable"
    shown = connect("cursor", "--yes", *arguments).output + added.output
    assert "knowledge" in shown
    assert "hidden" not in shown
    assert "hidden-two" in file.read_text()


def test_a_variable_that_is_handed_on_can_be_read_in_the_change(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("N8N_API_KEY", "n8n-secret-key")
    shown = connect("claude-code", "--server", "n8n", "--yes").output
    assert '"N8N_API_KEY": "${N8N_API_KEY}"' in shown
    assert "secret" not in shown


def test_variables_go_by_name_unless_a_value_is_given(user: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("N8N_API_KEY", "n8n-secret-key")
    result = connect("claude-code", "--server", "n8n", "--env", "N8N_URL=http://127.0.0.1:5678", "--yes")
    entry = read(user / FILES["claude-code"])["mcpServers"]["n8n"]
    assert entry["env"] == {"N8N_API_KEY": "${N8N_API_KEY}", "N8N_URL": "http://127.0.0.1:5678"}
    assert "handed N8N_API_KEY by name" in result.output
    connect("codex", "--server", "n8n", "--env", "N8N_URL=http://127.0.0.1:5678", "--yes")
    entry = read(user / FILES["codex"])["mcp_servers"]["n8n"]
    assert (entry["env_vars"], entry["env"]) == (["N8N_API_KEY"], {"N8N_URL": "http://127.0.0.1:5678"})
    result = connect("claude-desktop", "--server", "n8n", "--yes")
    assert "will not know N8N_API_KEY" in result.output
    assert "secret" not in (user / FILES["claude-desktop"]).read_text()


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("claude-desktop", "--http", HOUSE), "reads only programs from its file"),
        (("claude-desktop", "--env", "N8N_URL"), "Write N8N_URL=VALUE"),
        *(
            (("cursor", "--http", address), "--http wants an address such as http://127.0.0.1:8080")
            for address in ("", "ftp://x", "http://", "http://[", "http://h:abc", "http://h:99999", "http://h:0")
        ),
        (("cursor", "--http", "http://user:pass@127.0.0.1"), "shall have no password"),
        (("cursor", "--http", f"{HOUSE}/mcp/n8n", "--server", "n8n", "--server", "knowledge"), "leads to one server"),
        (("cursor", "--http", HOUSE, "--env", "A=1"), "Leave out --env or --http"),
        (("cursor", "--token-env", "T"), "Add --http"),
        (("cursor", "--http", HOUSE, "--token-env", "NOT_SET", "--write-token"), "is not set here"),
        (("cursor", "--http", HOUSE, "--write-token"), "Add --token-env NAME"),
        (("cursor", "--write-token"), "Add --token-env NAME"),
        (("cursor", "--env", "=x"), "Write NAME, or NAME=VALUE"),
        (("cursor", "--env", ""), "Write NAME, or NAME=VALUE"),
        (("claude-desktop", "--env", ""), "Write NAME, or NAME=VALUE"),
        (("cursor", "--remove", "--print"), "Leave out one of the two"),
    ],
)
def test_what_does_not_go_together_is_refused(user: Path, arguments: tuple[str, ...], words: str) -> None:
    result = connect(*arguments, "--yes")
    assert result.exit_code == 1
    assert words in result.output
    assert not user.exists()


def test_links_that_go_in_a_circle_are_told(user: Path) -> None:
    user.mkdir()
    (user / ".claude.json").symlink_to(user / ".claude.json")
    result = connect("claude-code", "--yes")
    assert result.exit_code == 1
    assert result.output.startswith(f"Error: {user / '.claude.json'} cannot be used: Too many levels of symbolic links")


def test_a_file_that_is_no_text_is_left_alone(user: Path) -> None:
    user.mkdir()
    (user / ".claude.json").write_bytes(b"\xff\xfe{\x00}\x00")
    result = connect("claude-code", "--yes")
    assert "is not UTF-8 text" in result.output
    assert (user / ".claude.json").read_bytes() == b"\xff\xfe{\x00}\x00"


@pytest.mark.parametrize("host", FILES)
def test_what_is_printed_is_what_would_be_written(user: Path, host: str) -> None:
    printed = CliRunner().invoke(main, ["connect", host, "--print"])
    assert printed.stderr == f"{user / FILES[host]}:\n"
    assert not user.exists()
    connect(host, "--yes")
    assert printed.stdout == (user / FILES[host]).read_text()


@pytest.mark.parametrize(
    ("system", "env", "host", "path"),
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
def test_the_file_is_looked_for_where_each_system_has_it(
    system: str, env: dict[str, str], host: str, path: str
) -> None:
    found = config_path(next(known for known in HOSTS if known.id == host), env, system)
    assert PurePosixPath(found.as_posix()) == PurePosixPath(path)


def test_through_uvx_the_command_goes_through_uvx_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Its folder is uv's to clean up."""
    uvx = tmp_path / "uvx"
    uvx.touch()
    monkeypatch.setenv("UV", str(tmp_path / "uv"))
    monkeypatch.setattr("sys.prefix", str(tmp_path / "cache" / "archive-v0" / "abc"))
    program = find_program("knowledge")
    assert program.command == str(uvx)
    assert program.args[0] == "--from"
    assert program.args[2:] == ("chie", "mcp", "knowledge")
