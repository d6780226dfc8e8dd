"""The MCP servers by name. A server's module is imported when the server is created."""

from importlib import import_module
from typing import TYPE_CHECKING

from chie.errors import ConfigurationError

if TYPE_CHECKING:
    from chie.mcp_kit.server import Server

SERVERS = {
    "knowledge": "chie.knowledge.server",
    "bedrock-kb": "chie.bedrock_kb.server",
    "n8n": "chie.n8n.server",
}


def create_server(name: str) -> "Server":
    """The server with its settings from the environment; ConfigurationError if they are missing or wrong."""
    server: Server = import_module(SERVERS[name]).create_server()
    return server


def load_servers() -> "dict[str, Server | ConfigurationError]":
    """Every server, or the error in its configuration."""
    servers: dict[str, Server | ConfigurationError] = {}
    for name in SERVERS:
        try:
            servers[name] = create_server(name)
        except ConfigurationError as error:
            servers[name] = error
    return servers
