"""The MCP clients that Chie can be added to, and the form each one's configuration takes."""

import json
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal

from chie.connect.toml_writer import toml_table
from chie.installation.environment import Kind, find_kind

CONTAINER = "chie"  # its name in the compose files

Language = Literal["shell", "json", "toml"]


@dataclass(frozen=True)
class StdioServer:
    """A server that the client starts itself. A variable without a value is passed on from the client's environment."""

    command: str
    args: tuple[str, ...] = ()
    env: Mapping[str, str | None] = field(default_factory=dict)


@dataclass(frozen=True)
class HttpServer:
    """A running server. `token_env` names the variable that holds its token; `token` is the token in clear text."""

    url: str
    token_env: str | None = None
    token: str | None = field(default=None, repr=False)


@dataclass(frozen=True)
class McpClient:
    """`key` is the table of servers in `file`; `env_reference` is how it refers to a variable, None if it cannot.

    `transport_types` are the client's names for stdio and HTTP, for clients that require a `type`.
    """

    id: str
    name: str
    file: str
    key: str = "mcpServers"
    env_reference: str | None = "${%s}"
    transport_types: tuple[str, str] | None = None
    supports_http: bool = True
    add_command: str | None = None
    next_step: str = "Restart it to see the tools."

    @property
    def language(self) -> Literal["json", "toml"]:
        return "toml" if self.file.endswith(".toml") else "json"

    def entry(self, server: StdioServer | HttpServer) -> dict[str, Any]:
        """The value stored under the server's name."""
        if self.language == "toml":
            return _codex_entry(server)
        kind = {"type": self.transport_types[isinstance(server, HttpServer)]} if self.transport_types else {}
        if isinstance(server, StdioServer):
            env = {name: self._value(name, value) for name, value in server.env.items()}
            return kind | {"command": server.command, "args": list(server.args)} | ({"env": env} if env else {})
        token = server.token or (self._value(server.token_env, None) if server.token_env else None)
        return kind | {"url": server.url} | ({"headers": {"Authorization": f"Bearer {token}"}} if token else {})

    def render(self, entries: Mapping[str, Mapping[str, Any]]) -> str:
        """A whole configuration file with only these entries."""
        if self.language == "toml":
            return "\n".join(toml_table((self.key, name), entry) for name, entry in entries.items())
        return json.dumps({self.key: entries}, indent=2, ensure_ascii=False) + "\n"

    def _value(self, name: str, value: str | None) -> str:
        if value is not None:
            return value
        assert self.env_reference is not None, "callers check `env_reference` first"  # noqa: S101
        return self.env_reference % name


def _codex_entry(server: StdioServer | HttpServer) -> dict[str, Any]:
    """Codex lists the variables to pass on by name, apart from those with values."""
    if isinstance(server, StdioServer):
        passed = [name for name, value in server.env.items() if value is None]
        given = {name: value for name, value in server.env.items() if value is not None}
        entry: dict[str, Any] = {"command": server.command, "args": list(server.args)}
        return entry | ({"env_vars": passed} if passed else {}) | ({"env": given} if given else {})
    if server.token:
        return {"url": server.url, "http_headers": {"Authorization": f"Bearer {server.token}"}}
    return {"url": server.url} | ({"bearer_token_env_var": server.token_env} if server.token_env else {})


MCP_CLIENTS = (
    McpClient(
        "claude-code",
        "Claude Code",
        "~/.claude.json",
        transport_types=("stdio", "http"),
        add_command="claude mcp add --scope user --transport http {name} {url}",
        next_step="`claude mcp list` shows whether it connects.",
    ),
    McpClient(
        "claude-desktop",
        "Claude Desktop",
        "claude_desktop_config.json",
        env_reference=None,
        supports_http=False,
        next_step="Quit and reopen Claude Desktop to see the tools.",
    ),
    McpClient("cursor", "Cursor", "~/.cursor/mcp.json", env_reference="${env:%s}"),
    McpClient("kiro", "Kiro", "~/.kiro/settings/mcp.json"),
    McpClient(
        "vscode",
        "VS Code",
        "mcp.json",
        key="servers",
        env_reference="${env:%s}",
        transport_types=("stdio", "http"),
    ),
    McpClient("codex", "Codex", "~/.codex/config.toml", key="mcp_servers", next_step="`codex mcp list` shows it."),
    McpClient(
        "gemini",
        "Gemini",
        "~/.gemini/settings.json",
        transport_types=("stdio", "http"),
        next_step="`gemini mcp list` shows whether it connects.",
    ),
)


@dataclass(frozen=True)
class Snippet:
    """`file` is the configuration file that the text belongs in, or None for a command to run."""

    id: str
    name: str
    file: str | None
    language: Language
    text: str


TOKEN_PLACEHOLDER = "YOUR_TOKEN"  # noqa: S105 - for the user to replace


def snippets(base_url: str, servers: Sequence[str], *, token_required: bool = False) -> list[Snippet]:
    """For each client, the text that connects it to these servers of the Chie at `base_url`."""
    token = TOKEN_PLACEHOLDER if token_required else None
    urls = {server: f"{base_url}/mcp/{server}" for server in servers}
    return [_snippet(client, urls, token) for client in MCP_CLIENTS]


def _snippet(client: McpClient, urls: Mapping[str, str], token: str | None) -> Snippet:
    if client.add_command:
        header = f' --header "Authorization: Bearer {token}"' if token else ""
        text = "\n".join(client.add_command.format(name=name, url=url) + header for name, url in urls.items())
        return Snippet(client.id, client.name, None, "shell", text)
    entries = {
        name: client.entry(HttpServer(url, token=token) if client.supports_http else installed_server(name))
        for name, url in urls.items()
    }
    return Snippet(client.id, client.name, client.file, client.language, client.render(entries).rstrip("\n"))


def installed_server(server: str) -> StdioServer:
    """The `chie` next to this Python, by its absolute path: clients start it from any folder, outside a container."""
    if find_kind() is Kind.CONTAINER:
        return StdioServer("docker", ("exec", "-i", CONTAINER, "chie", "mcp", server))
    name = "chie.exe" if sys.platform == "win32" else "chie"
    return StdioServer(str(Path(sys.executable).with_name(name)), ("mcp", server))
