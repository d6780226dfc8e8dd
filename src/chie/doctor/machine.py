"""Checks of the programs on this machine: versions and the port."""

import asyncio
import platform
import sqlite3
from collections.abc import Sequence
from typing import TYPE_CHECKING

from chie import __version__
from chie.doctor.finding import Finding
from chie.errors import ChieError
from chie.installation.environment import Kind, find_kind
from chie.messages.catalogue import Message
from chie.service.managers import find_manager
from chie.settings import home_folder

if TYPE_CHECKING:
    import httpx2

FREE_PORT = "chie serve --port 0"
INSTALL_SERVICE = "chie service install"
SHOW_SERVICE = "chie service status"
HEALTH_TIMEOUT_SECONDS = 5.0


async def check_versions() -> Sequence[Finding]:
    try:
        with sqlite3.connect(":memory:") as connection:
            connection.execute("CREATE VIRTUAL TABLE words USING fts5 (tokens)")
    except sqlite3.Error:
        missing = Message("doctor.fts5_missing", sqlite=sqlite3.sqlite_version)
        return [Finding("versions", "problem", missing, "uv python install 3.13")]
    versions = Message(
        "doctor.versions", chie=__version__, python=platform.python_version(), sqlite=sqlite3.sqlite_version
    )
    return [Finding("versions", "ok", versions)]


async def check_port(port: int) -> Sequence[Finding]:
    """Whether the port is free, or Chie itself listens on it."""
    import httpx2

    url = f"http://127.0.0.1:{port}"
    try:
        async with httpx2.AsyncClient(timeout=HEALTH_TIMEOUT_SECONDS, trust_env=False) as client:
            is_chie = "servers" in (await client.get(f"{url}/health")).json() or await _is_protected(client, url)
    except httpx2.ConnectError:
        return [Finding("port", "ok", Message("doctor.port_free", port=port))]
    except (httpx2.HTTPError, ValueError, TypeError):
        is_chie = False
    if is_chie:
        return [Finding("port", "ok", Message("doctor.port_used_by_chie", url=url))]
    return [Finding("port", "warning", Message("doctor.port_taken", port=port), FREE_PORT)]


async def check_service() -> Sequence[Finding]:
    """Whether the service runs, if there is one: without it, assistants connected over HTTP have no tools."""
    if find_kind() in (Kind.CONTAINER, Kind.UVX):  # which cannot have one
        return []
    home = home_folder().expanduser().absolute()
    try:
        manager = find_manager(home)
        if not manager.file.is_file():
            return [Finding("service", "off", Message("doctor.service_not_installed", command=INSTALL_SERVICE))]
        state = await asyncio.to_thread(manager.state)
    except ChieError as error:
        return [Finding("service", "warning", error.reason, SHOW_SERVICE)]
    if state.running:
        return [Finding("service", "ok", Message("doctor.service_ok", state=state.detail))]
    stopped = Message("doctor.service_stopped", state=state.detail, log=manager.log_command(home))
    return [Finding("service", "problem", stopped, INSTALL_SERVICE)]


async def _is_protected(client: "httpx2.AsyncClient", url: str) -> bool:
    """With authentication on, `/health` gives no details, but the challenge names Chie."""
    response = await client.get(f"{url}/api/me")
    return 'realm="Chie"' in response.headers.get("www-authenticate", "")
