"""`servers.json` and `agents.json`: their content and the errors for invalid content."""

import json
from pathlib import Path
from typing import Any

import pytest

from chie.chat.agents.agents_file import read_agents
from chie.chat.agents.builtin import KINDS
from chie.chat.agents.dependencies import AgentSpec
from chie.chat.settings import ChatSettings
from chie.chat.toolbox.servers_file import ServerSpec, read_servers
from chie.errors import ConfigurationError


def servers(home: Path, text: str) -> dict[str, ServerSpec]:
    home.mkdir(exist_ok=True)
    (home / "servers.json").write_text(text, encoding="utf-8")
    return read_servers(ChatSettings())


def agents(home: Path, content: Any) -> list[AgentSpec]:
    home.mkdir(exist_ok=True)
    text = content if isinstance(content, str) else json.dumps(content, indent=2)
    (home / "agents.json").write_text(text, encoding="utf-8")
    kinds = {name: KINDS[name] for name in ("openai", "default")}
    return read_agents(ChatSettings(), kinds=kinds, servers={"knowledge", "fetch"})


SEED = """{
  "mcp-server-fetch": {
    "command": "npx",
    "args": ["-y", "@modelcontextprotocol/server-fetch"],
    "env": {}
  }
}"""


@pytest.mark.req("CH-7")
def test_format_of_the_seed_is_read(home: Path) -> None:
    specs = servers(home, SEED)
    assert list(specs) == ["mcp-server-fetch"], "a server keeps the name that the file gives it"
    spec = specs["mcp-server-fetch"]
    assert (spec.command, spec.args, spec.env) == ("npx", ("-y", "@modelcontextprotocol/server-fetch"), {})


def test_common_wrapper_and_http_servers_are_read(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GITHUB_TOKEN", "ghp_1")
    text = """{"mcpServers": {"github": {
        "type": "http", "url": "https://example.com/mcp", "headers": {"Authorization": "Bearer ${GITHUB_TOKEN}"},
        "autoApprove": ["get_*"], "disabledTools": ["delete_*"], "alwaysAsk": true, "timeout": 5}}}"""
    spec = servers(home, text)["github"]
    assert spec.headers["Authorization"].get_secret_value() == "Bearer ghp_1"
    assert (spec.approved_tools, spec.disabled_tools, spec.timeout) == (("get_*",), ("delete_*",), 5)
    assert spec.always_ask
    assert "ghp_1" not in repr(spec)


def test_variables_come_from_the_environment_the_env_file_or_a_default(
    home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("ROOT_FOLDER", "/srv")
    Path(".env").write_text("FROM_FILE=file\n", encoding="utf-8")
    text = '{"a": {"command": "x", "args": ["${ROOT_FOLDER}/notes", "${FROM_FILE}", "${NOT_SET:-plan b}"]}}'
    assert servers(home, text)["a"].args == ("/srv/notes", "file", "plan b")


def test_missing_file_means_no_servers() -> None:
    assert read_servers(ChatSettings()) == {}


def test_disabled_server_is_left_out(home: Path) -> None:
    assert servers(home, '{"a": {"command": "x", "disabled": true}, "fetch": {"command": "y", "disabled": true}}') == {}


def test_tabs_and_escapes_do_not_shift_the_line(home: Path) -> None:
    with pytest.raises(ConfigurationError, match=r"line 3: `a\.args` must be a list"):
        servers(home, '{"a": {\n\t\t"command": "C:\\\\x\\/\\u3042",\n\t\t"args": "x"}}')


@pytest.mark.parametrize(
    ("text", "code", "line", "field"),
    [
        ("[]", "servers_not_object", 1, "the file"),
        ('{"mcpServers":\n[]}', "servers_not_object", 1, "`mcpServers`"),
        ('{\n"a": {\n"comand": "x",\n"url": "http://x"}}', "field_unknown", 3, "`a.comand`"),
        ('{\n"a": {}\n}', "command_or_url", 2, "`a`"),
        ('{\n"a": {"command": "x", "url": "http://y"}\n}', "command_or_url", 2, "`a`"),
        ('{\n"a": {"url": "ftp://y"}\n}', "url_scheme_invalid", 2, "`a`"),
        ('{\n"a": {"command":\n"x",\n"args": [\n"ok",\n7]}}', "not_string", 6, "`a.args[1]`"),
        ('{\n"a": {"command": "x",\n"env": {\n"KEY": "${NOPE}"}}}', "variable_missing", 4, "`a.env.KEY`"),
        ('{"a": {"command": "x", "timeout": 0}}', "value_invalid", 1, "`a.timeout`"),
        ('{"a": {"command": "x",\n"type": "pigeon"}}', "value_not_allowed", 2, "`a.type`"),
        ('{"a": {"command": "x",\n"disabled": 7}}', "value_invalid", 2, "`a.disabled`"),
        ('{"a": "x"}', "not_object", 1, "`a`"),
    ],
)
def test_invalid_servers_are_reported_by_line_and_field(
    home: Path, text: str, code: str, line: int, field: str
) -> None:
    with pytest.raises(ConfigurationError) as caught:
        servers(home, text)
    check(caught.value, home / "servers.json", code, line, field)


def check(error: ConfigurationError, path: Path, code: str, line: int, field: str) -> None:
    params = error.reason.params
    assert (error.code, params["path"], params["line"]) == (f"files.{code}", str(path), line)
    assert str(params["field"]) == field
    assert error.message.startswith(f"{path}, line {line}: {field} ")


def test_text_that_is_not_json_is_reported_by_line_and_column(home: Path) -> None:
    with pytest.raises(ConfigurationError) as caught:
        servers(home, '{\n  "a": {,}\n}')
    assert caught.value.code == "files.not_json"
    assert caught.value.message.startswith(f"{home / 'servers.json'}, line 2, column 9: this is not valid JSON (")


@pytest.mark.parametrize("name", ["\x7f", "\ufffe", "k" * 1_100], ids=["delete", "no character", "long"])
def test_field_is_reported_where_the_line_is_unknown(home: Path, name: str) -> None:
    with pytest.raises(ConfigurationError, match=rf"servers\.json, line \?: `{name}\.args` must be a list"):
        servers(home, json.dumps({name: {"command": "x", "args": "y"}}, ensure_ascii=False))


def test_server_may_not_have_the_name_of_a_builtin_one_unless_disabled(home: Path) -> None:
    home.mkdir()
    file = home / "servers.json"
    file.write_text('{"mcpServers": {\n"a": {"command": "x"},\n"knowledge": {"command": "x"}}}')
    with pytest.raises(ConfigurationError) as caught:
        read_servers(ChatSettings(), ["knowledge"])
    check(caught.value, file, "server_name_reserved", 3, "`mcpServers.knowledge`")
    file.write_text('{"knowledge": {"command": "x", "disabled": true}}')
    assert "knowledge" not in read_servers(ChatSettings(), ["knowledge"])


def test_configured_file_must_exist(tmp_path: Path) -> None:
    with pytest.raises(ConfigurationError, match=r"mine\.json does not exist") as caught:
        read_servers(ChatSettings(chie_servers_file=tmp_path / "mine.json"))
    assert caught.value.code == "files.not_found"


def test_file_that_is_not_text_is_rejected(home: Path) -> None:
    home.mkdir()
    (home / "servers.json").write_bytes(b"\xff\xfe\x00")
    with pytest.raises(ConfigurationError) as caught:
        read_servers(ChatSettings())
    assert caught.value.code == "files.unreadable"


def test_agent_is_read_with_all_its_fields(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
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
    [spec] = agents(home, {"agents": [entry]})
    profile = spec.profile
    assert (spec.build, profile.id) == (KINDS["openai"], "reviewer")
    assert (profile.name, profile.api_key) == ("レビュアー", "gsk-1")
    assert (profile.servers, profile.tools, profile.approved_tools) == (("knowledge",), ("search_*",), ("save_*",))
    assert "gsk-1" not in repr(spec)


def test_list_of_agents_needs_no_wrapper(home: Path) -> None:
    [spec] = agents(home, [{"id": "a", "kind": "default"}])
    assert (spec.profile.servers, spec.profile.tools) == (None, ("*",))


@pytest.mark.parametrize(
    ("content", "code", "line", "field"),
    [
        ({"agents": {}}, "agents_not_list", 2, "`agents`"),
        ('{\n"agent": [{"id": "a", "kind": "openai"}]}', "field_unknown", 2, "`agent`"),
        ('{"agents": [],\n"Agents": []}', "field_unknown", 2, "`Agents`"),
        ('[\n{"kind": "openai"}]', "field_missing", 2, "`[0].id`"),
        ('[\n{"id": "a b",\n"kind": "openai"}]', "value_invalid", 2, "`[0].id`"),
        ('[\n{"id": "a",\n"kind": "pigeon"}]', "value_not_allowed", 3, "`[0].kind`"),
        (
            '{"agents": [\n{"id": "a", "kind": "openai",\n"servers": [\n"fetch",\n"nope"]}]}',
            "server_unknown",
            5,
            "`agents[0].servers[1]`",
        ),
        ('[{"id": "a", "kind": "openai"},\n{"id": "a", "kind": "openai"}]', "agent_id_duplicate", 2, "`[1].id`"),
        ('[{"id": "a", "kind": "openai",\n"prompt": "x"}]', "field_unknown", 2, "`[0].prompt`"),
    ],
)
def test_invalid_agents_are_reported_by_line_and_field(
    home: Path, content: Any, code: str, line: int, field: str
) -> None:
    with pytest.raises(ConfigurationError) as caught:
        agents(home, content)
    check(caught.value, home / "agents.json", code, line, field)


def test_allowed_values_are_listed(home: Path) -> None:
    with pytest.raises(ConfigurationError, match=r"must be one of default, openai\.$"):
        agents(home, [{"id": "a", "kind": "pigeon"}])
    with pytest.raises(ConfigurationError, match=r"must be one of fetch, knowledge\. Add other servers to"):
        agents(home, [{"id": "a", "kind": "openai", "servers": ["nope"]}])
