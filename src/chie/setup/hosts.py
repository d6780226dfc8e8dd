"""The assistants that can use our servers, and what each wants written in its configuration: one table."""

import json
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
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


PLACEHOLDER = "Bearer YOUR_TOKEN"


def snippets(address: str, servers: Sequence[str], *, asks: bool = False) -> list[Snippet]:
    """For each assistant what connects it with these servers of the house at `address`; `asks` is for one that wants
    to know who they are."""
    urls = {server: f"{address}/mcp/{server}" for server in servers}
    hosts = HOSTS_WITH_TOKEN if asks else HOSTS
    return [Snippet(host.id, host.name, host.file, host.language, host.write(urls)) for host in hosts]


def _commands(urls: Mapping[str, str], more: str = "") -> str:
    return "\n".join(f"claude mcp add --transport http {name} {url}{more}" for name, url in urls.items())


def _programs(urls: Mapping[str, str]) -> str:
    """Claude Desktop starts programs; it wants their whole path."""
    program = Path(sys.executable).with_name("chie")
    return _servers({name: {"command": str(program), "args": ["mcp", name]} for name in urls})


def _addresses(urls: Mapping[str, str], **more: object) -> str:
    return _servers({name: {"url": url, **more} for name, url in urls.items()})


def _typed_addresses(urls: Mapping[str, str], **more: object) -> str:
    return _servers({name: {"type": "http", "url": url, **more} for name, url in urls.items()})


def _tables(urls: Mapping[str, str], more: str = "") -> str:
    return "\n\n".join(f"[mcp_servers.{name}]\nurl = {json.dumps(url)}{more}" for name, url in urls.items())


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

_HEADERS = {"Authorization": PLACEHOLDER}

# Claude Desktop starts programs of its own, which nobody asks.
HOSTS_WITH_TOKEN = (
    replace(HOSTS[0], write=partial(_commands, more=f' --header "Authorization: {PLACEHOLDER}"')),
    HOSTS[1],
    replace(HOSTS[2], write=partial(_addresses, headers=_HEADERS)),
    replace(HOSTS[3], write=partial(_addresses, headers=_HEADERS)),
    replace(HOSTS[4], write=partial(_tables, more=f'\nhttp_headers = {{ Authorization = "{PLACEHOLDER}" }}')),
    replace(HOSTS[5], write=partial(_typed_addresses, headers=_HEADERS)),
)
