"""Errors of a call through a connection."""

from anyio import BrokenResourceError, ClosedResourceError
from httpx2 import HTTPError
from mcp import MCPError

from chie.errors import ServiceError


class ConnectionLostError(ServiceError):
    """The server disconnected before or while the tool ran."""


class InvalidResultError(ServiceError):
    """The server is connected, but its result violates its own schema or the protocol."""


# All that a request to a server raises, whatever is wrong with the server or with what it sends.
FAILURES = (
    *(MCPError, TimeoutError, RuntimeError, ValueError, OSError, ConnectionLostError),
    *(HTTPError, ExceptionGroup, ClosedResourceError, BrokenResourceError),
)
