"""Checks of recall and capture: the plugin and the hooks of the clients, and the server that they ask."""

import asyncio
import os
import shlex
import shutil
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from chie import __version__
from chie.connect.settings import ConnectSettings
from chie.doctor.finding import Finding, edit
from chie.errors import ChieError
from chie.messages.catalogue import Message
from chie.settings import load

if TYPE_CHECKING:
    import httpx2

    from chie.connect.hook_config import HookConfig

NAME = "memory"
SERVER = "memory server"
INSTALL = "chie connect claude-code --memory"
START = "chie serve"
TIMEOUT_SECONDS = 5.0


async def check_memory() -> Sequence[Finding]:
    """Nothing is asked and no program is started if no client has Chie's hooks."""
    home = load(ConnectSettings).home.expanduser()
    clients = [*await asyncio.to_thread(_check_plugin, home), *await asyncio.to_thread(_check_hooks, home)]
    if not clients:
        return [Finding(NAME, "off", Message("doctor.memory_not_installed", command=INSTALL))]
    return [*clients, await _check_server()]


def _check_plugin(home: Path) -> list[Finding]:
    from chie.connect.claude_plugin import ClaudePlugin, is_recorded
    from chie.connect.login_file import Login, LoginFile
    from chie.hook.login import DEFAULT_URL, TOKEN

    logins, plugin = LoginFile(home), ClaudePlugin(home)
    if "claude-code" not in logins.clients() and not is_recorded():
        return []
    name = f"{NAME} in Claude Code"
    if shutil.which("claude") is None:
        return [Finding(name, "warning", Message("connect.claude_not_found"), INSTALL)]
    try:
        found = plugin.find()
    except ChieError as error:
        return [Finding(name, "problem", error.reason, INSTALL)]
    if found is None or not found.enabled:
        return [Finding(name, "problem", Message("doctor.plugin_missing"), INSTALL)]
    own = found.folder == plugin.folder
    if found.version != __version__ or (own and not plugin.is_current(logins.get() or Login(DEFAULT_URL, TOKEN))):
        message = Message("doctor.plugin_outdated", version=found.version, current=__version__)
        return [Finding(name, "warning", message, INSTALL)]
    return [Finding(name, "ok", Message("doctor.plugin_ok", version=found.version))]


def _check_hooks(home: Path) -> list[Finding]:
    from chie.connect.hook_config import HOOK_CLIENTS, HookConfig
    from chie.connect.mcp_clients import MCP_CLIENTS

    configs = [HookConfig(client, home) for client in MCP_CLIENTS if client.id in HOOK_CLIENTS]
    return [finding for config in configs if (finding := _check_config(config))]


def _check_config(config: "HookConfig") -> Finding | None:
    name, fix = f"{NAME} in {config.client.name}", f"chie connect {config.client.id} --memory"
    try:
        commands = config.commands()
    except ChieError as error:
        return Finding(name, "warning", error.reason, edit(config.path))
    if not commands:
        return None
    if any(not shutil.which((shlex.split(line) or [""])[0]) for line in commands):
        return Finding(name, "problem", Message("doctor.hook_program_missing", path=str(config.path)), fix)
    if not config.is_connected():
        return Finding(name, "warning", Message("doctor.hooks_incomplete", path=str(config.path)), fix)
    return Finding(name, "ok", Message("doctor.hooks_ok", path=str(config.path)))


async def _check_server() -> Finding:
    """Reached with the URL and the token that the hooks use."""
    import httpx2

    from chie.hook.login import find_login

    url, token = find_login(os.environ)
    headers = {"Authorization": f"Bearer {token}"} if token else {}
    try:
        async with httpx2.AsyncClient(timeout=TIMEOUT_SECONDS, trust_env=False) as client:
            response = await client.get(f"{url}/hooks/status", headers=headers)
    except (httpx2.HTTPError, httpx2.InvalidURL, ValueError):
        return Finding(SERVER, "problem", Message("doctor.memory_unreachable", url=url), START)
    return _judge(response, url)


def _judge(response: "httpx2.Response", url: str) -> Finding:
    if response.status_code in (401, 403):
        message = Message("doctor.memory_token_refused", url=url)
        return Finding(SERVER, "problem", message, 'export CHIE_TOKEN="…"')
    if response.status_code == 404:
        return Finding(SERVER, "warning", Message("doctor.memory_not_served", url=url), START)
    try:
        last = response.json().get("last_call") if response.status_code == 200 else None
    except (ValueError, AttributeError):
        last = None
    if response.status_code != 200:
        return Finding(SERVER, "problem", Message("doctor.memory_unreachable", url=url), START)
    if not isinstance(last, str):
        return Finding(SERVER, "ok", Message("doctor.memory_not_called", url=url))
    return Finding(SERVER, "ok", Message("doctor.memory_ok", url=url, time=last))
