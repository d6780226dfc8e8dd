"""The assistants that can use our servers, and what each wants written in its configuration: one table."""

import json
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

Language = Literal["shell", "json", "toml"]


@dataclass(frozen=True)
class Host:
    """`file` is where the text belongs, or None for a command to run."""

    id: str
    name: str
    file: str | None
    language: Language
    write: Callable[[Mapping[str, str]], str]


@dataclass(frozen=True)
class Snippet:
    id: str
    name: str
    file: str | None
    language: Language
    text: str


def snippets(address: str, servers: Sequence[str]) -> list[Snippet]:
    """For each assistant what connects it with these servers of the house at `address`."""
    urls = {server: f"{address}/mcp/{server}" for server in servers}
    return [Snippet(host.id, host.name, host.file, host.language, host.write(urls)) for host in HOSTS]


def _commands(urls: Mapping[str, str]) -> str:
    return "\n".join(f"claude mcp add --transport http {name} {url}" for name, url in urls.items())


def _programs(urls: Mapping[str, str]) -> str:
    """Claude Desktop starts programs; it wants their whole path."""
    program = Path(sys.executable).with_name("chie")
    return _servers({name: {"command": str(program), "args": ["mcp", name]} for name in urls})


def _addresses(urls: Mapping[str, str]) -> str:
    return _servers({name: {"url": url} for name, url in urls.items()})


def _typed_addresses(urls: Mapping[str, str]) -> str:
    return _servers({name: {"type": "http", "url": url} for name, url in urls.items()})


def _tables(urls: Mapping[str, str]) -> str:
    return "\n\n".join(f"[mcp_servers.{name}]\nurl = {json.dumps(url)}" for name, url in urls.items())


def _servers(entries: Mapping[str, Any]) -> str:
    return json.dumps({"mcpServers": entries}, indent=2, ensure_ascii=False)


HOSTS = (
    Host("claude-code", "Claude Code", None, "shell", _commands),
    Host("claude-desktop", "Claude Desktop", "claude_desktop_config.json", "json", _programs),
    Host("cursor", "Cursor", "~/.cursor/mcp.json", "json", _addresses),
    Host("kiro", "Kiro", "~/.kiro/settings/mcp.json", "json", _addresses),
    Host("codex", "Codex", "~/.codex/config.toml", "toml", _tables),
    Host("gemini", "Gemini", "~/.gemini/settings.json", "json", _typed_addresses),
)
