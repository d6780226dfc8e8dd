"""The MCP servers by name, and their log files. A server's module is imported when the server is created."""

from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING

from chie.errors import ConfigurationError

if TYPE_CHECKING:
    from chie.mcp_kit.server import Server

SERVERS = {
    "knowledge": "chie.knowledge.server",
    "bedrock-kb": "chie.bedrock_kb.server",
    "n8n": "chie.n8n.server",
}
AGENT_SERVERS = {"fetch": "chie.web_fetch.server"}  # used by agents alone; `servers.json` may replace them
SETTINGS = {"bedrock-kb": "chie.bedrock_kb.config:load_config", "n8n": "chie.n8n.settings:load_settings"}
LOGGING_SERVERS = ("n8n",)  # assistants hide stderr, and changes of live workflows must leave a trace


def create_server(name: str) -> "Server":
    """The server with its settings from the environment; ConfigurationError if they are missing or wrong."""
    server: Server = import_module((SERVERS | AGENT_SERVERS)[name]).create_server()
    return server


def create_stand_alone_server(name: str) -> "Server":
    """For `chie mcp`: a module may offer other tools in a program of its own than in the app."""
    module = import_module(SERVERS[name])
    server: Server = getattr(module, "create_stand_alone_server", module.create_server)()
    return server


def load_servers() -> "dict[str, Server | ConfigurationError]":
    """Every server, or the error in its configuration."""
    servers: dict[str, Server | ConfigurationError] = {}
    for name in SERVERS:
        try:
            _require_settings(name)
            servers[name] = create_server(name)
        except ConfigurationError as error:
            servers[name] = error
    return servers


def _require_settings(name: str) -> None:
    """Raises ConfigurationError without an import of the server: one that is not configured costs no memory."""
    if name in SETTINGS:
        module, _, function = SETTINGS[name].partition(":")
        getattr(import_module(module), function)()


def load_agent_servers() -> "dict[str, Server]":
    return {name: create_server(name) for name in AGENT_SERVERS}


def server_log(server: str, folder: Path | None) -> Path:
    """In `logs` in `CHIE_HOME` by default, never in the folder where an MCP client happens to start the server."""
    return log_folder(folder) / f"{server}.log"


def log_folder(folder: Path | None) -> Path:
    from chie.settings import home_folder

    return folder or home_folder().expanduser() / "logs"


def add_server_logs(folder: Path | None) -> None:
    """For `chie serve`: the errors of these servers go to their files too."""
    from chie.logging import add_error_file

    for server in LOGGING_SERVERS:
        add_error_file(SERVERS[server].rpartition(".")[0], server_log(server, folder))
