"""Checks of the programs on this machine: versions and the port."""

import platform
import sqlite3
from collections.abc import Sequence
from typing import TYPE_CHECKING

from chie import __version__
from chie.doctor.finding import Finding
from chie.messages.catalogue import Message

if TYPE_CHECKING:
    import httpx2

FREE_PORT = "chie serve --port 0"
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


async def _is_protected(client: "httpx2.AsyncClient", url: str) -> bool:
    """With authentication on, `/health` gives no details, but the challenge names Chie."""
    response = await client.get(f"{url}/api/me")
    return 'realm="Chie"' in response.headers.get("www-authenticate", "")
