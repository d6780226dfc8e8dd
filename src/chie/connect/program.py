"""Which command a host is told to run: one that works from any folder, and the variables that go with it."""

import json
import os
import shutil
import sys
from collections.abc import Mapping, Sequence
from importlib.metadata import PackageNotFoundError, distribution
from pathlib import Path

from chie import __version__
from chie.connect.mcp_clients import Program, beside_python
from chie.errors import ConfigurationError

# What a server reads, by the beginnings of the names.
VARIABLES = {
    "knowledge": ("CHIE_", "VECTOR_SEARCH_", "GOOGLE_CLOUD_PROJECT", "GOOGLE_APPLICATION_CREDENTIALS"),
    "bedrock-kb": ("AWS_", "BEDROCK_"),
    "n8n": ("N8N_", "CHIE_HOME"),
}


def find_program(server: str) -> Program:
    """The `chie` that runs now; through uvx, whose folders do not last, where it runs that way."""
    if _is_passing(Path(sys.prefix)):
        return Program(_uvx(), ("--from", _requirement(), "chie", "mcp", server))
    beside = beside_python(server)
    if Path(beside.command).exists():
        return beside
    found = shutil.which("chie")
    if found is None:
        raise ConfigurationError("the program chie was not found. Install Chie with pip or uv, then try again.")
    return Program(str(Path(found).absolute()), beside.args)


def variables(server: str, wanted: Sequence[str], env: Mapping[str, str]) -> dict[str, str | None]:
    """Those of the server that are set here, by name alone, and what was asked for: a NAME, or NAME=VALUE."""
    found: dict[str, str | None] = {name: None for name in sorted(env) if name.startswith(VARIABLES[server])}
    for item in wanted:
        name, given, value = item.partition("=")
        found[name] = value if given else None
    return found


def _is_passing(prefix: Path) -> bool:
    """uvx makes environments in uv's cache."""
    cache = os.environ.get("UV_CACHE_DIR")
    if cache and prefix.is_relative_to(cache):
        return True
    return any(part.startswith(("archive-v", "environments-v")) for part in prefix.parts)


def _uvx() -> str:
    uv = os.environ.get("UV")
    beside = Path(uv).with_name("uvx.exe" if sys.platform == "win32" else "uvx") if uv else None
    found = str(beside) if beside and beside.exists() else shutil.which("uvx")
    if found is None:
        raise ConfigurationError("uvx was not found, though Chie runs through it. Put it on the PATH, then try again.")
    return found


def _requirement() -> str:
    """Where this Chie came from, as uvx wants it: an address or a folder if it was one, else the release."""
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
