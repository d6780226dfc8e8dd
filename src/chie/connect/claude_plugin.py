"""The plugin for Claude Code: a copy with this machine's URL and `chie`, installed with Claude Code's own commands."""

import json
import os
import shutil
import socket
import subprocess
import tempfile
from contextlib import suppress
from dataclasses import dataclass
from ipaddress import ip_address
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from chie.connect.login_file import Login
from chie.connect.program import hook_command
from chie.errors import ConfigurationError, ServiceError
from chie.files import make_folder

SOURCE = Path(__file__).parent / "plugin"
NAME = "chie"
ID = f"{NAME}@{NAME}"  # the plugin in the marketplace of the same name
FOLDER = "claude-code-plugin"  # in CHIE_HOME: an installed package may move, as uvx's environments do
COMMAND_TIMEOUT_SECONDS = 60
HOOK_TIMEOUT_SECONDS = 2  # of a command, which takes time to start and gives up after a second itself


@dataclass(frozen=True)
class Installed:
    """What Claude Code says of the plugin. `folder` is None if it was installed from elsewhere, such as GitHub."""

    version: str
    enabled: bool
    folder: Path | None


class ClaudePlugin:
    def __init__(self, home: Path) -> None:
        self.folder = home / FOLDER

    def is_current(self, login: Login) -> bool:
        """Whether the same plugin is installed and enabled."""
        found = self.find()
        same = found is not None and found.enabled and found.folder == self.folder
        return same and self._files() == rendered(login)

    def install(self, login: Login) -> None:
        program = find_program()
        if self.find() is not None:
            self._uninstall(program)
        files = rendered(login)
        _replace(self.folder, files)
        _run(program, "marketplace", "add", str(self.folder))
        _run(program, "install", ID)

    def remove(self) -> bool:
        """False if there was nothing to remove."""
        found = self.find()
        if found is not None:
            self._uninstall(find_program())
        if self.folder.exists():
            shutil.rmtree(self.folder)
            return True
        return found is not None

    def find(self) -> Installed | None:
        """None if it is not installed, or Claude Code is not."""
        for plugin in _list_plugins():
            if plugin.get("id") == ID:
                folder = plugin.get("readFromFolder") or _marketplace_folder()
                enabled = plugin.get("enabled") is not False
                return Installed(str(plugin.get("version")), enabled, Path(folder) if folder else None)
        return None

    def _files(self) -> dict[str, bytes]:
        return _read(self.folder) if self.folder.is_dir() else {}

    def _uninstall(self, program: str) -> None:
        """Claude Code keeps copies of what it has uninstalled; a copy may hold a token."""
        _run(program, "uninstall", ID)
        _run(program, "marketplace", "remove", NAME)
        shutil.rmtree(_config_folder() / "plugins" / "cache" / NAME, ignore_errors=True)


def is_recorded() -> bool:
    """Whether Claude Code's own list has the plugin; read from its file, because its program takes a second."""
    try:
        return ID in (_config_folder() / "plugins" / "installed_plugins.json").read_text("utf-8")
    except (OSError, UnicodeDecodeError):
        return False


def rendered(login: Login) -> dict[str, bytes]:
    """The plugin's files by their relative paths."""
    files = _read(SOURCE)
    hooks = json.loads(files["hooks/hooks.json"])
    commands = _needs_commands(login.url)
    for event, groups in hooks["hooks"].items():
        groups[1:] = [] if commands else groups[1:]  # a command for every call of a tool that saves does its part too
        for group in groups:
            is_command = commands or group["hooks"][0]["type"] == "command"
            group["hooks"] = [_hook(event, login, command=is_command)]
    files["hooks/hooks.json"] = _dumped(hooks)
    servers = json.loads(files[".mcp.json"])
    servers["mcpServers"]["knowledge"] |= {
        "url": f"{login.url}/mcp/knowledge",
        "headers": {"Authorization": f"Bearer {login.token or f'${{{login.token_env}:-}}'}"},
    }
    files[".mcp.json"] = _dumped(servers)
    return files


def _hook(event: str, login: Login, *, command: bool) -> dict[str, Any]:
    if command:
        line = hook_command("claude-code", event)
        return {"type": "command", "command": line, "timeout": HOOK_TIMEOUT_SECONDS}
    return {
        "type": "http",
        "url": f"{login.url}/hooks/claude-code",
        "headers": {"Authorization": f"Bearer {login.token or f'${login.token_env}'}"},
        **({} if login.token else {"allowedEnvVars": [login.token_env]}),
        "timeout": 1,
    }


def _needs_commands(url: str) -> bool:
    """Claude Code sends HTTP hooks to this machine and to public addresses, but not into private networks."""
    host = urlsplit(url).hostname or ""
    try:
        found = {ip_address(entry[4][0]) for entry in socket.getaddrinfo(host, None)}
    except (OSError, ValueError):
        return True
    return any(not address.is_loopback and not address.is_global for address in found)


def _read(folder: Path) -> dict[str, bytes]:
    files = (file for file in folder.rglob("*") if file.is_file() and "__pycache__" not in file.parts)
    return {file.relative_to(folder).as_posix(): file.read_bytes() for file in files}


def _replace(folder: Path, files: dict[str, bytes]) -> None:
    """Written beside it first: a half-written plugin would be loaded by the next session."""
    make_folder(folder.parent)
    draft = Path(tempfile.mkdtemp(prefix=f".{FOLDER}-", dir=folder.parent))
    for name, content in files.items():
        (draft / name).parent.mkdir(parents=True, exist_ok=True)
        (draft / name).write_bytes(content)
        (draft / name).chmod(0o600)
    with suppress(FileNotFoundError):
        shutil.rmtree(folder)
    draft.replace(folder)


def _dumped(content: object) -> bytes:
    return (json.dumps(content, indent=2, ensure_ascii=False) + "\n").encode()


def find_program() -> str:
    """The path of `claude`; ConfigurationError if there is none."""
    found = shutil.which("claude")
    if found is None:
        raise ConfigurationError("connect.claude_not_found")
    return found


def _config_folder() -> Path:
    return Path(os.environ.get("CLAUDE_CONFIG_DIR") or Path.home() / ".claude").expanduser()


def _list_plugins() -> list[dict[str, Any]]:
    program = shutil.which("claude")
    return _parsed(_run(program, "list", "--json")) if program else []


def _marketplace_folder() -> str | None:
    """Versions that copy a plugin do not name its folder."""
    for marketplace in _parsed(_run(find_program(), "marketplace", "list", "--json")):
        if marketplace.get("name") == NAME:
            return marketplace.get("path")
    return None


def _parsed(printed: str) -> list[dict[str, Any]]:
    try:
        found = json.loads(printed or "[]")
    except (ValueError, RecursionError) as error:
        raise ServiceError(
            "connect.claude_failed", command="claude plugin list --json", reason=printed[:200]
        ) from error
    return [entry for entry in found if isinstance(entry, dict)] if isinstance(found, list) else []


def _run(program: str, *arguments: str) -> str:
    command = "claude plugin " + " ".join(arguments)
    try:
        done = subprocess.run(  # noqa: S603 - Claude Code's own program, with our arguments
            [program, "plugin", *arguments],
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            encoding="utf-8",
            errors="replace",
            timeout=COMMAND_TIMEOUT_SECONDS,
            check=False,
        )
    except (OSError, subprocess.TimeoutExpired) as error:
        raise ServiceError("connect.claude_failed", command=command, reason=type(error).__name__) from error
    if done.returncode:
        lines = (done.stderr or done.stdout).strip().splitlines()
        raise ServiceError("connect.claude_failed", command=command, reason=lines[-1] if lines else "")
    return done.stdout
