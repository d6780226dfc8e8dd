"""Which MCP servers there are. A room is imported when its server is made."""

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
    """One room's server, with its settings from the environment; ConfigurationError if they are wanting."""
    server: Server = import_module(SERVERS[name]).create_server()
    return server


def load_servers() -> "dict[str, Server | ConfigurationError]":
    """Every room's server, or what its configuration lacks."""
    rooms: dict[str, Server | ConfigurationError] = {}
    for name in SERVERS:
        try:
            rooms[name] = create_server(name)
        except ConfigurationError as error:
            rooms[name] = error
    return rooms
