"""`servers.json` and `agents.json`: what is in them, and how one learns of a mistake."""

import json
import sys
from pathlib import Path
from typing import Any

import pytest

from chie.chat.agents.file import read_agents
from chie.chat.settings import ChatSettings
from chie.chat.toolbox.servers_file import ServerSpec, read_servers
from chie.errors import ConfigurationError


@pytest.fixture(autouse=True)
def no_programs(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """No fetch server is installed unless a test says so."""
    monkeypatch.setenv("PATH", "")
    monkeypatch.setattr(sys, "executable", str(tmp_path / "python"))


def servers(home: Path, text: str) -> dict[str, ServerSpec]:
    home.mkdir(exist_ok=True)
    (home / "servers.json").write_text(text, encoding="utf-8")
    return read_servers(ChatSettings())


def agents(home: Path, content: Any) -> list[Any]:
    home.mkdir(exist_ok=True)
    text = content if isinstance(content, str) else json.dumps(content, indent=2)
    (home / "agents.json").write_text(text, encoding="utf-8")
    return read_agents(ChatSettings(), kinds={"openai", "default"}, servers={"knowledge", "fetch"})


SEED = """{
  "mcp-server-time": {
    "command": "uvx",
    "args": ["mcp-server-time"],
    "env": {}
  }
}"""


@pytest.mark.req("CH-7")
def test_the_seeds_form_is_read(home: Path) -> None:
    spec = servers(home, SEED)["mcp-server-time"]
    assert (spec.command, spec.args, spec.env) == ("uvx", ("mcp-server-time",), {})


def test_the_usual_wrapper_and_http_servers_are_read(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GITHUB_TOKEN", "ghp_1")
    text = """{"mcpServers": {"github": {
        "type": "http", "url": "https://example.com/mcp", "headers": {"Authorization": "Bearer ${GITHUB_TOKEN}"},
        "autoApprove": ["get_*"], "disabledTools": ["delete_*"], "timeout": 5}}}"""
    spec = servers(home, text)["github"]
    assert spec.headers["Authorization"].get_secret_value() == "Bearer ghp_1"
    assert (spec.approved_tools, spec.disabled_tools, spec.timeout) == (("get_*",), ("delete_*",), 5)
    assert "ghp_1" not in repr(spec)


def test_variables_come_from_the_environment_the_env_file_or_a_default(
    home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("ROOT_FOLDER", "/srv")
    Path(".env").write_text("FROM_FILE=file\n", encoding="utf-8")
    text = '{"a": {"command": "x", "args": ["${ROOT_FOLDER}/notes", "${FROM_FILE}", "${NOT_SET:-plan b}"]}}'
    assert servers(home, text)["a"].args == ("/srv/notes", "file", "plan b")


def test_no_file_is_no_servers() -> None:
    assert read_servers(ChatSettings()) == {}


def test_a_disabled_server_is_not_there(home: Path) -> None:
    assert servers(home, '{"a": {"command": "x", "disabled": true}, "fetch": {"command": "y", "disabled": true}}') == {}


def test_the_fetch_server_is_found_where_it_is_installed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    program = tmp_path / "bin" / "mcp-server-fetch"
    program.parent.mkdir()
    program.touch(mode=0o755)
    monkeypatch.setenv("PATH", str(program.parent))
    assert read_servers(ChatSettings())["fetch"].command == str(program)


def test_the_fetch_server_may_go_by_its_packages_name(home: Path) -> None:
    found = servers(home, '{"mcp-server-fetch": {"command": "uvx", "args": ["mcp-server-fetch"]}}')
    assert list(found) == ["fetch"]


def test_tabs_and_escapes_do_not_shift_the_line(home: Path) -> None:
    with pytest.raises(ConfigurationError, match=r"line 3: a\.args must be a list"):
        servers(home, '{"a": {\n\t\t"command": "C:\\\\x\\/\\u3042",\n\t\t"args": "x"}}')


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ('{\n  "a": {,}\n}', "line 2, column 9: this is not JSON"),
        ("[]", "line 1: the file must be an object that has a server's name for each key"),
        ('{"mcpServers":\n[]}', "line 1: mcpServers must be an object"),
        ('{\n"a": {\n"comand": "x",\n"url": "http://x"}}', "line 3: a.comand is not a field that is known here"),
        ('{\n"a": {}\n}', "line 2: a needs either command, for a program, or url"),
        ('{\n"a": {"command": "x", "url": "http://y"}\n}', "line 2: a needs either command"),
        ('{\n"a": {"url": "ftp://y"}\n}', "line 2: a has a url that does not begin with http"),
        ('{\n"a": {"command":\n"x",\n"args": [\n"ok",\n7]}}', r"line 6: a.args\[1\] must be a string"),
        (
            '{\n"a": {"command": "x",\n"env": {\n"KEY": "${NOPE}"}}}',
            "line 4: a.env.KEY needs the environment variable NOPE",
        ),
        ('{"a": {"command": "x", "timeout": 0}}', "line 1: a.timeout has a wrong value"),
        ('{"a": {"command": "x",\n"type": "pigeon"}}', "line 2: a.type must be one of 'stdio', 'http'"),
        ('{"a": "x"}', "line 1: a must be an object"),
    ],
)
def test_a_mistake_in_servers_is_told_by_line_and_field(home: Path, text: str, message: str) -> None:
    with pytest.raises(ConfigurationError, match=rf"servers\.json, {message}"):
        servers(home, text)


@pytest.mark.parametrize("name", ["\x7f", "\ufffe", "k" * 1_100], ids=["delete", "no character", "long"])
def test_a_mistake_is_told_by_its_field_where_the_line_cannot_be_known(home: Path, name: str) -> None:
    with pytest.raises(ConfigurationError, match=rf"servers\.json, line \?: {name}\.args must be a list"):
        servers(home, json.dumps({name: {"command": "x", "args": "y"}}, ensure_ascii=False))


def test_a_server_may_not_take_a_rooms_name_unless_it_is_left_out(home: Path) -> None:
    home.mkdir()
    file = home / "servers.json"
    file.write_text('{"mcpServers": {\n"a": {"command": "x"},\n"knowledge": {"command": "x"}}}')
    with pytest.raises(ConfigurationError) as refused:
        read_servers(ChatSettings(), ["knowledge"])
    assert refused.value.message == (
        f"{file}, line 3: mcpServers.knowledge has the name of a room of the house. Give this server another."
    )
    file.write_text('{"knowledge": {"command": "x", "disabled": true}}')
    assert "knowledge" not in read_servers(ChatSettings(), ["knowledge"])


def test_a_file_that_was_named_must_exist(tmp_path: Path) -> None:
    with pytest.raises(ConfigurationError, match=r"mine\.json does not exist"):
        read_servers(ChatSettings(chie_servers_file=tmp_path / "mine.json"))


def test_a_file_that_is_no_text_is_refused(home: Path) -> None:
    home.mkdir()
    (home / "servers.json").write_bytes(b"\xff\xfe\x00")
    with pytest.raises(ConfigurationError, match="cannot be read as UTF-8"):
        read_servers(ChatSettings())


def test_an_agent_is_read_with_all_its_fields(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GROQ_KEY", "gsk-1")
    entry = {
        "id": "reviewer",
        "kind": "openai",
        "name": "レビュアー",
        "description": "Reads code.",
        "model": "qwen3",
        "base_url": "http://127.0.0.1:9999/v1",
        "api_key": "${GROQ_KEY}",
        "system_prompt": "Be kind.",
        "servers": ["knowledge"],
        "tools": ["search_*"],
        "approved_tools": ["save_*"],
    }
    [wanted] = agents(home, {"agents": [entry]})
    profile = wanted.profile
    assert (wanted.kind, profile.id, profile.name, profile.api_key) == ("openai", "reviewer", "レビュアー", "gsk-1")
    assert (profile.servers, profile.tools, profile.approved_tools) == (("knowledge",), ("search_*",), ("save_*",))
    assert "gsk-1" not in repr(wanted)


def test_a_bare_list_of_agents_will_do(home: Path) -> None:
    [wanted] = agents(home, [{"id": "a", "kind": "default"}])
    assert (wanted.profile.servers, wanted.profile.tools) == (None, ("*",))


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ({"agents": {}}, "line 2: agents must be a list of agents"),
        ('{\n"agent": [{"id": "a", "kind": "openai"}]}', "line 2: agent is not a field that is known here"),
        ('{"agents": [],\n"Agents": []}', "line 2: Agents is not a field that is known here"),
        ('[\n{"kind": "openai"}]', r"line 2: \[0\].id is missing"),
        ('[\n{"id": "a b",\n"kind": "openai"}]', r"line 2: \[0\].id has a wrong value"),
        ('[\n{"id": "a",\n"kind": "pigeon"}]', r"line 3: \[0\].kind must be one of default, openai"),
        (
            '{"agents": [\n{"id": "a", "kind": "openai",\n"servers": [\n"fetch",\n"nope"]}]}',
            r"line 5: agents\[0\].servers\[1\] must be one of fetch, knowledge; add others to servers.json",
        ),
        (
            '[{"id": "a", "kind": "openai"},\n{"id": "a", "kind": "openai"}]',
            r"line 2: \[1\].id is the id of an earlier",
        ),
        ('[{"id": "a", "kind": "openai",\n"prompt": "x"}]', r"line 2: \[0\].prompt is not a field that is known"),
    ],
)
def test_a_mistake_in_agents_is_told_by_line_and_field(home: Path, content: Any, message: str) -> None:
    with pytest.raises(ConfigurationError, match=rf"agents\.json, {message}"):
        agents(home, content)
