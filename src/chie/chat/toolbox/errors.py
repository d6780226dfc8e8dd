"""Errors of a call through a connection."""

from chie.errors import ServiceError


class ConnectionLostError(ServiceError):
    """The server disconnected before or while the tool ran."""


class InvalidResultError(ServiceError):
    """The server is connected, but its result violates its own schema or the protocol."""
