"""The command in a client's configuration, which works from any folder, and the variables that go with it."""

import os
import shlex
import shutil
import subprocess
import sys
from collections.abc import Container, Mapping, Sequence
from pathlib import Path

from chie.connect.mcp_clients import StdioServer, installed_server
from chie.errors import ConfigurationError
from chie.installation.environment import Kind, find_kind, find_origin, installed_extras
from chie.settings import home_variables, without_current_folder

# Prefixes of the variables that each server reads.
VARIABLE_PREFIXES = {
    "knowledge": ("CHIE_", "VECTOR_SEARCH_", "GOOGLE_CLOUD_PROJECT", "GOOGLE_APPLICATION_CREDENTIALS"),
    "bedrock-kb": ("AWS_", "BEDROCK_"),
    "n8n": ("N8N_", "CHIE_HOME"),
}

REQUIRED_VARIABLES = {"bedrock-kb": ("BEDROCK_KB_ID", "BEDROCK_MODEL_ARN"), "n8n": ("N8N_URL", "N8N_API_KEY")}
REQUIRED_EXTRAS = {"bedrock-kb": {"bedrock"}}


def find_command(server: str) -> StdioServer:
    """The `chie` that runs now, by path; through uvx if it runs that way, because uv deletes its environments."""
    if find_kind() is Kind.UVX:
        requirement = find_origin().requirement(installed_extras() | REQUIRED_EXTRAS.get(server, set()))
        return StdioServer(_uvx(), ("--from", requirement, "chie", "mcp", server))
    installed = installed_server(server)
    if Path(installed.command).exists():
        return installed
    found = shutil.which("chie")
    if found is None:
        raise ConfigurationError("connect.chie_not_found")
    return StdioServer(str(Path(found).absolute()), installed.args)


def hook_command(client: str, event: str) -> str:
    """The line for a shell that runs `chie hook`, from any folder."""
    server = find_command("knowledge")
    words = [server.command, *server.args[:-2], "hook", client, event]
    return subprocess.list2cmdline(words) if sys.platform == "win32" else shlex.join(words)


def server_variables(server: str, options: Sequence[str], env: Mapping[str, str]) -> dict[str, str | None]:
    """The server's variables that are set in `env`, by name only, and those of `--env`: NAME or NAME=VALUE."""
    found: dict[str, str | None] = {name: None for name in sorted(env) if name.startswith(VARIABLE_PREFIXES[server])}
    for item in options:
        name, given, value = item.partition("=")
        found[name] = value if given else None
    return found


def missing_variables(server: str, available: Container[str]) -> list[str]:
    """The variables without which the server does not start, except those in the `.env` in `CHIE_HOME`."""
    with without_current_folder():  # the server ignores that folder's file too
        stored = home_variables()
    return [
        name
        for name in REQUIRED_VARIABLES.get(server, ())
        if name not in available and not (stored.get(name) or "").strip()
    ]


def missing_extras(server: str) -> set[str]:
    """uvx installs what is missing; other installations need a command."""
    return set() if find_kind() is Kind.UVX else REQUIRED_EXTRAS.get(server, set()) - installed_extras()


def _uvx() -> str:
    uv = os.environ.get("UV")
    sibling = Path(uv).with_name("uvx.exe" if sys.platform == "win32" else "uvx") if uv else None
    found = str(sibling) if sibling and sibling.exists() else shutil.which("uvx")
    if found is None:
        raise ConfigurationError("connect.uvx_not_found")
    return found
