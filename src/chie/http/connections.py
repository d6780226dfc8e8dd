"""Limits on TCP connections: a time for a request's header, and a number per client address and in total.

Without them, as many connections as the process may have open files would keep everybody else out.
"""

import asyncio
import logging
import sys
from collections import Counter
from collections.abc import Callable
from time import monotonic
from typing import Any

from uvicorn.protocols.http.h11_impl import H11Protocol

HEADER_SECONDS = 10.0
MAX_CONNECTIONS = 10_000
MIN_RESERVE = 64  # open files for databases, tools and connections accepted but not yet counted
DEFAULT_OPEN_FILES = 1_024
LOG_SECONDS = 60.0
BUSY = b"HTTP/1.1 503 Service Unavailable\r\nretry-after: 5\r\ncontent-length: 0\r\nconnection: close\r\n\r\n"
ACCEPT_FAILED = "socket.accept() out of system resource"  # asyncio's words; it logs them for each waiting connection

logger = logging.getLogger(__name__)


class RareLog:
    """Logs a warning that would repeat with every connection at most once a minute."""

    def __init__(self, text: str) -> None:
        self._text = text
        self._logged: float | None = None

    def __call__(self, *values: object) -> None:
        now = monotonic()
        if self._logged is None or now - self._logged > LOG_SECONDS:
            logger.warning(self._text, *values)
            self._logged = now


class Connections:
    """The open connections of this process. Over the limit, a new one replaces one that waits for a request."""

    def __init__(self) -> None:
        open_files = _open_files()
        reserve = max(MIN_RESERVE, open_files // 4)
        self.total = max(1, min(MAX_CONNECTIONS, open_files - reserve))
        self.per_address = max(1, self.total // 2)
        self.backlog = max(1, min(2_048, reserve // 2))  # asyncio accepts as many before it counts one
        self._open: Counter[str] = Counter()
        self._waiting: dict[LimitedProtocol, None] = {}  # the longest first
        self._log = RareLog("too many connections: at most %d in total and %d per address; those without a request end")

    def add(self, connection: "LimitedProtocol") -> bool:
        """Whether it may stay."""
        self._open[connection.address] += 1
        if self._open[connection.address] > self.per_address:
            return self._free_slot(lambda other: other.address == connection.address)
        return self._open.total() <= self.total or self._free_slot(lambda _: True)

    def remove(self, connection: "LimitedProtocol") -> None:
        self._waiting.pop(connection, None)
        self._open[connection.address] -= 1
        if not self._open[connection.address]:
            del self._open[connection.address]

    def set_waiting(self, connection: "LimitedProtocol", *, waiting: bool) -> None:
        if waiting:
            self._waiting.setdefault(connection)
        else:
            self._waiting.pop(connection, None)

    def _free_slot(self, may_end: Callable[["LimitedProtocol"], bool]) -> bool:
        self._log(self.total, self.per_address)
        oldest = next(filter(may_end, self._waiting), None)
        if oldest is None:
            return False
        del self._waiting[oldest]
        oldest.transport.abort()
        return True

    def protocol(self, **options: Any) -> "LimitedProtocol":  # noqa: ANN401 - what uvicorn passes
        return LimitedProtocol(self, **options)


class LimitedProtocol(H11Protocol):
    """A connection that ends if a request's header takes too long."""

    def __init__(self, limits: Connections, **options: Any) -> None:  # noqa: ANN401
        super().__init__(**options)
        self.address = "?"
        self._limits = limits
        self._timeout: asyncio.TimerHandle | None = None

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        super().connection_made(transport)
        self.address = self.client[0] if self.client else "?"
        if self._limits.add(self):
            self._watch()
        else:
            transport.write(BUSY)
            transport.close()

    def connection_lost(self, exc: Exception | None) -> None:
        self._stop_timeout()
        self._limits.remove(self)
        super().connection_lost(exc)

    def data_received(self, data: bytes) -> None:
        super().data_received(data)
        self._watch()

    def on_response_complete(self) -> None:
        super().on_response_complete()
        self._watch()

    def _watch(self) -> None:
        """uvicorn ends an idle connection after a response; the time from the first byte of a header is ours."""
        answered = getattr(self.cycle, "response_complete", True)  # there is no cycle before the first request
        waiting = answered and not self.transport.is_closing()
        self._limits.set_waiting(self, waiting=waiting)
        if not waiting:
            self._stop_timeout()
        elif self._timeout is None and self.timeout_keep_alive_task is None:
            self._timeout = self.loop.call_later(HEADER_SECONDS, self.transport.abort)

    def _stop_timeout(self) -> None:
        if self._timeout:
            self._timeout.cancel()
            self._timeout = None


def log_accept_errors_once(loop: asyncio.AbstractEventLoop) -> None:
    log = RareLog("cannot accept connections: %s; raise the limit of open files (`ulimit -n`)")

    def handle(loop: asyncio.AbstractEventLoop, context: dict[str, Any]) -> None:
        if context["message"] == ACCEPT_FAILED:
            log(context["exception"])
        else:
            loop.default_exception_handler(context)

    loop.set_exception_handler(handle)


def _open_files() -> int:
    if sys.platform == "win32":
        return DEFAULT_OPEN_FILES
    import resource

    soft, _ = resource.getrlimit(resource.RLIMIT_NOFILE)
    return MAX_CONNECTIONS * 2 if soft == resource.RLIM_INFINITY else soft
