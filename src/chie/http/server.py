"""Runs an ASGI app with uvicorn, alone or as one of several workers."""

import asyncio
import os
from collections.abc import Callable
from contextlib import suppress
from typing import TYPE_CHECKING, Any, cast

from chie import background
from chie.errors import ConfigurationError
from chie.http.draining import Draining
from chie.http.values import is_loopback
from chie.http.workers import WorkerSocket, listen, urls_of

if TYPE_CHECKING:
    from socket import socket

    import uvicorn
    from starlette.types import ASGIApp

SHUTDOWN_SECONDS = 5
TRUSTED_PROXIES = "FORWARDED_ALLOW_IPS"  # uvicorn's: addresses of proxies whose `X-Forwarded-For` counts


def run_http(
    app: "ASGIApp", *, host: str, port: int, announce: Callable[..., None], allow_remote: bool = False
) -> None:
    """Serve until stopped. `announce` gets the URLs as soon as clients can connect.

    `allow_remote` permits a host beyond loopback; pass it when callers are authenticated. A worker serves the listener
    of its supervisor, which announces the URLs.
    """
    import uvicorn

    from chie.http.connections import Connections

    if not allow_remote:
        require_loopback(host)
    worker = WorkerSocket.inherited()
    with worker.listener if worker else listen(host, port) as listener:
        if worker is None:
            announce(*urls_of(listener))
        draining = Draining(app)
        connections = Connections()
        config = uvicorn.Config(
            draining,
            ws="none",
            log_config=None,
            access_log=False,
            server_header=False,
            http=cast("Any", connections.protocol),
            backlog=connections.backlog,
            # any local program could claim to forward for an address of its choice
            proxy_headers=TRUSTED_PROXIES in os.environ,
            timeout_graceful_shutdown=SHUTDOWN_SECONDS,
        )
        with suppress(KeyboardInterrupt):  # raised again by uvicorn after a complete shutdown
            _server(config, draining, worker).run(sockets=[listener])


def require_loopback(host: str) -> None:
    if not is_loopback(host):
        raise ConfigurationError("http.open_address", host=host)


def _server(config: "uvicorn.Config", draining: Draining, worker: WorkerSocket | None) -> "uvicorn.Server":
    import uvicorn

    from chie.http.connections import log_accept_errors_once

    class DrainingServer(uvicorn.Server):
        async def startup(self, sockets: "list[socket] | None" = None) -> None:
            log_accept_errors_once(asyncio.get_running_loop())
            await super().startup(sockets)
            if worker:
                worker.report_ready(self)

        async def shutdown(self, sockets: "list[socket] | None" = None) -> None:
            """uvicorn stops accepting, then waits for open connections, which are drained meanwhile."""
            task = background.once(draining.drain(), "draining")
            await super().shutdown(sockets)
            task.cancel()

    return DrainingServer(config)
