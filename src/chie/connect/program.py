"""The command in a client's configuration, which works from any folder, and the variables that go with it."""

import json
import os
import shutil
import sys
from collections.abc import Mapping, Sequence
from importlib.metadata import PackageNotFoundError, distribution
from pathlib import Path

from chie import __version__
from chie.connect.mcp_clients import StdioServer, installed_server
from chie.errors import ConfigurationError

# Prefixes of the variables that each server reads.
VARIABLE_PREFIXES = {
    "knowledge": ("CHIE_", "VECTOR_SEARCH_", "GOOGLE_CLOUD_PROJECT", "GOOGLE_APPLICATION_CREDENTIALS"),
    "bedrock-kb": ("AWS_", "BEDROCK_"),
    "n8n": ("N8N_", "CHIE_HOME"),
}


def find_command(server: str) -> StdioServer:
    """The `chie` that runs now, by path; through uvx if it runs that way, because uv deletes its environments."""
    if _is_ephemeral(Path(sys.prefix)):
        return StdioServer(_uvx(), ("--from", _requirement(), "chie", "mcp", server))
    installed = installed_server(server)
    if Path(installed.command).exists():
        return installed
    found = shutil.which("chie")
    if found is None:
        raise ConfigurationError("connect.chie_not_found")
    return StdioServer(str(Path(found).absolute()), installed.args)


def server_variables(server: str, options: Sequence[str], env: Mapping[str, str]) -> dict[str, str | None]:
    """The server's variables that are set in `env`, by name only, and those of `--env`: NAME or NAME=VALUE."""
    found: dict[str, str | None] = {name: None for name in sorted(env) if name.startswith(VARIABLE_PREFIXES[server])}
    for item in options:
        name, given, value = item.partition("=")
        found[name] = value if given else None
    return found


def _is_ephemeral(prefix: Path) -> bool:
    """uvx creates its environments in uv's cache."""
    cache = os.environ.get("UV_CACHE_DIR")
    if cache and prefix.is_relative_to(cache):
        return True
    return any(part.startswith(("archive-v", "environments-v")) for part in prefix.parts)


def _uvx() -> str:
    uv = os.environ.get("UV")
    sibling = Path(uv).with_name("uvx.exe" if sys.platform == "win32" else "uvx") if uv else None
    found = str(sibling) if sibling and sibling.exists() else shutil.which("uvx")
    if found is None:
        raise ConfigurationError("connect.uvx_not_found")
    return found


def _requirement() -> str:
    """The requirement to give uvx: the URL or folder that this Chie was installed from, else the release."""
    try:
        origin = distribution("chie").read_text("direct_url.json")
    except PackageNotFoundError:
        origin = None
    if origin is None:
        return f"chie=={__version__}"
    about = json.loads(origin)
    url: str = about["url"]
    if version := about.get("vcs_info"):
        return f"{version['vcs']}+{url}@{version['commit_id']}"
    return url.removeprefix("file://")
