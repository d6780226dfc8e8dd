"""The assistants that can use our servers, and what each wants written in its configuration: one table."""

import json
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal

Language = Literal["shell", "json", "toml"]


@dataclass(frozen=True)
class Program:
    """A server that the assistant starts itself. A variable without a value is passed on from where it runs."""

    command: str
    args: tuple[str, ...] = ()
    env: Mapping[str, str | None] = field(default_factory=dict)


@dataclass(frozen=True)
class Address:
    """A server that runs already. `token_env` names the variable that has its token; `token` is one in clear."""

    url: str
    token_env: str | None = None
    token: str | None = field(default=None, repr=False)


@dataclass(frozen=True)
class Host:
    """`key` is where its servers stand in `file`; `reference` how it writes a variable, None where it cannot.

    `types` are what it calls the two kinds of server, where it wants to be told. Some take only programs.
    """

    id: str
    name: str
    file: str
    key: str = "mcpServers"
    reference: str | None = "${%s}"
    types: tuple[str, str] | None = None
    takes_addresses: bool = True
    command: str | None = None
    afterwards: str = "Start it again to see the tools."

    @property
    def language(self) -> Literal["json", "toml"]:
        return "toml" if self.file.endswith(".toml") else "json"

    def entry(self, server: Program | Address) -> dict[str, Any]:
        """What stands under the server's name."""
        if self.language == "toml":
            return _toml_entry(server)
        kind = {"type": self.types[isinstance(server, Address)]} if self.types else {}
        if isinstance(server, Program):
            env = {name: self._value(name, value) for name, value in server.env.items()}
            return kind | {"command": server.command, "args": list(server.args)} | ({"env": env} if env else {})
        token = server.token or (self._value(server.token_env, None) if server.token_env else None)
        return kind | {"url": server.url} | ({"headers": {"Authorization": f"Bearer {token}"}} if token else {})

    def render(self, entries: Mapping[str, Mapping[str, Any]]) -> str:
        """The entries as a file that has nothing else."""
        if self.language == "toml":
            return "\n".join(toml_table((self.key, name), entry) for name, entry in entries.items())
        return json.dumps({self.key: entries}, indent=2, ensure_ascii=False) + "\n"

    def _value(self, name: str, value: str | None) -> str:
        if value is not None:
            return value
        assert self.reference is not None, "whoever asks knows what this host can do"  # noqa: S101
        return self.reference % name


def _toml_entry(server: Program | Address) -> dict[str, Any]:
    """Codex passes variables on by their names alone."""
    if isinstance(server, Program):
        passed = [name for name, value in server.env.items() if value is None]
        given = {name: value for name, value in server.env.items() if value is not None}
        entry: dict[str, Any] = {"command": server.command, "args": list(server.args)}
        return entry | ({"env_vars": passed} if passed else {}) | ({"env": given} if given else {})
    if server.token:
        return {"url": server.url, "http_headers": {"Authorization": f"Bearer {server.token}"}}
    return {"url": server.url} | ({"bearer_token_env_var": server.token_env} if server.token_env else {})


def toml_table(path: Sequence[str], entry: Mapping[str, Any]) -> str:
    lines = [f"[{'.'.join(map(_toml_key, path))}]"]
    lines += [f"{_toml_key(key)} = {_toml_value(value)}" for key, value in entry.items()]
    return "\n".join(lines) + "\n"


def _toml_value(value: object) -> str:
    if isinstance(value, dict):
        return "{ " + ", ".join(f"{_toml_key(key)} = {_toml_value(item)}" for key, item in value.items()) + " }"
    if isinstance(value, list):
        return "[" + ", ".join(map(_toml_value, value)) + "]"
    return json.dumps(value, ensure_ascii=False).replace("\x7f", "\\u007f")  # JSON's strings are TOML's, but for this


def _toml_key(key: str) -> str:
    plain = key and key.isascii() and key.replace("-", "").replace("_", "").isalnum()
    return key if plain else _toml_value(key)


HOSTS = (
    Host(
        "claude-code",
        "Claude Code",
        "~/.claude.json",
        types=("stdio", "http"),
        command="claude mcp add --transport http {name} {url}",
        afterwards="`claude mcp list` shows whether it connects.",
    ),
    Host(
        "claude-desktop",
        "Claude Desktop",
        "claude_desktop_config.json",
        reference=None,
        takes_addresses=False,
        afterwards="Quit Claude Desktop and start it again to see the tools.",
    ),
    Host("cursor", "Cursor", "~/.cursor/mcp.json", reference="${env:%s}"),
    Host("kiro", "Kiro", "~/.kiro/settings/mcp.json"),
    Host("vscode", "VS Code", "mcp.json", key="servers", reference="${env:%s}", types=("stdio", "http")),
    Host("codex", "Codex", "~/.codex/config.toml", key="mcp_servers", afterwards="`codex mcp list` shows it."),
    Host(
        "gemini",
        "Gemini",
        "~/.gemini/settings.json",
        types=("stdio", "http"),
        afterwards="`gemini mcp list` shows whether it connects.",
    ),
)


@dataclass(frozen=True)
class Snippet:
    """`file` is where the text belongs, or None for a command to run."""

    id: str
    name: str
    file: str | None
    language: Language
    text: str


PLACEHOLDER = "YOUR_TOKEN"


def snippets(address: str, servers: Sequence[str], *, asks: bool = False) -> list[Snippet]:
    """For each assistant what connects it with these servers of the house at `address`; `asks` is for one that wants
    to know who they are."""
    token = PLACEHOLDER if asks else None
    return [_snippet(host, {server: f"{address}/mcp/{server}" for server in servers}, token) for host in HOSTS]


def _snippet(host: Host, urls: Mapping[str, str], token: str | None) -> Snippet:
    if host.command:
        more = f' --header "Authorization: Bearer {token}"' if token else ""
        text = "\n".join(host.command.format(name=name, url=url) + more for name, url in urls.items())
        return Snippet(host.id, host.name, None, "shell", text)
    entries = {
        name: host.entry(Address(url, token=token) if host.takes_addresses else beside_python(name))
        for name, url in urls.items()
    }
    return Snippet(host.id, host.name, host.file, host.language, host.render(entries).rstrip("\n"))


def beside_python(server: str) -> Program:
    """Hosts want a program's whole path: they start it from anywhere."""
    name = "chie.exe" if sys.platform == "win32" else "chie"
    return Program(str(Path(sys.executable).with_name(name)), ("mcp", server))
