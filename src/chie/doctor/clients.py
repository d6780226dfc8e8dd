"""Checks the MCP clients that are connected to Chie."""

import asyncio
import shutil
from collections.abc import Sequence
from typing import TYPE_CHECKING

from chie.connect.settings import ConnectSettings
from chie.doctor.finding import Finding, edit
from chie.errors import ChieError
from chie.messages.catalogue import Message
from chie.settings import load

if TYPE_CHECKING:
    from chie.connect.config_edit import ClientConfig

CONNECT = "chie connect claude-code"


async def check_clients() -> Sequence[Finding]:
    """The clients with entries of ours, and whether the programs in those entries exist."""
    from chie.connect.config_edit import ClientConfig
    from chie.connect.mcp_clients import MCP_CLIENTS

    home = load(ConnectSettings).home.expanduser()
    checks = [asyncio.to_thread(_check_client, ClientConfig(client, home)) for client in MCP_CLIENTS]
    found = [finding for findings in await asyncio.gather(*checks) for finding in findings]
    return found or [Finding("MCP clients", "off", Message("doctor.clients_not_connected", command=CONNECT))]


def _check_client(config: "ClientConfig") -> list[Finding]:
    name = config.client.name
    try:
        own = config.own_entries()
    except ChieError as error:
        return [Finding(name, "warning", error.reason, edit(config.path))]
    programs = {server: entry["command"] for server, entry in own.items() if isinstance(entry.get("command"), str)}
    missing = [server for server, command in programs.items() if not shutil.which(command)]
    if missing:
        message = Message("doctor.client_program_missing", path=str(config.path), servers=missing)
        options = [f"--server {server}" for server in missing]
        return [Finding(name, "problem", message, " ".join([f"chie connect {config.client.id}", *options]))]
    return [Finding(name, "ok", Message("doctor.client_connected", servers=list(own)))] if own else []
