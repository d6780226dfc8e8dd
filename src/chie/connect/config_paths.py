"""Where each assistant keeps its configuration on each system."""

import os
import sys
from collections.abc import Mapping
from pathlib import Path

from chie.connect.mcp_clients import Host

FOLDERS = {"claude-code": "CLAUDE_CONFIG_DIR", "codex": "CODEX_HOME"}  # variables that move what is else in the home
APPLICATIONS = {"claude-desktop": Path("Claude"), "vscode": Path("Code/User")}


def config_path(host: Host, env: Mapping[str, str] | None = None, system: str = sys.platform) -> Path:
    env = os.environ if env is None else env
    if host.id in APPLICATIONS:
        return _applications(env, system) / APPLICATIONS[host.id] / host.file
    if moved := env.get(FOLDERS.get(host.id, "")):
        return Path(moved).expanduser() / Path(host.file).name
    return _home(env, system) / host.file.removeprefix("~/")


def _applications(env: Mapping[str, str], system: str) -> Path:
    home = _home(env, system)
    if system == "darwin":
        return home / "Library" / "Application Support"
    if system == "win32":
        return Path(env.get("APPDATA") or home / "AppData" / "Roaming")
    return Path(env.get("XDG_CONFIG_HOME") or home / ".config")


def _home(env: Mapping[str, str], system: str) -> Path:
    named = env.get("USERPROFILE" if system == "win32" else "HOME")
    return Path(named) if named else Path.home()
