"""The path of each client's configuration file on each operating system."""

import os
import sys
from collections.abc import Mapping
from pathlib import Path

from chie.connect.mcp_clients import McpClient

FOLDER_VARIABLES = {"claude-code": "CLAUDE_CONFIG_DIR", "codex": "CODEX_HOME"}  # override a folder in the home folder
APPLICATION_FOLDERS = {"claude-desktop": Path("Claude"), "vscode": Path("Code/User")}


def config_path(client: McpClient, env: Mapping[str, str] | None = None, system: str = sys.platform) -> Path:
    env = os.environ if env is None else env
    if client.id in APPLICATION_FOLDERS:
        return _application_data(env, system) / APPLICATION_FOLDERS[client.id] / client.file
    if folder := env.get(FOLDER_VARIABLES.get(client.id, "")):
        return Path(folder).expanduser() / Path(client.file).name
    return _user_home(env, system) / client.file.removeprefix("~/")


def _application_data(env: Mapping[str, str], system: str) -> Path:
    home = _user_home(env, system)
    if system == "darwin":
        return home / "Library" / "Application Support"
    if system == "win32":
        return Path(env.get("APPDATA") or home / "AppData" / "Roaming")
    return Path(env.get("XDG_CONFIG_HOME") or home / ".config")


def _user_home(env: Mapping[str, str], system: str) -> Path:
    value = env.get("USERPROFILE" if system == "win32" else "HOME")
    return Path(value) if value else Path.home()
