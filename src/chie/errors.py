"""Every error that Chie raises on purpose.

    ChieError
    ├── ConfigurationError    a setting is missing or wrong; the operator mends it, then starts again
    ├── ValidationError       an argument is missing or wrong; the caller mends it, then calls again
    ├── NotFoundError         the thing named does not exist; the caller names another
    ├── ConflictError         somebody else changed the thing meanwhile; the caller looks again
    ├── AuthenticationError   who the caller is could not be established
    ├── ForbiddenError        the caller is known, and may not do this
    └── ServiceError          something outside the call failed; trying again may help
        └── StorageError      our own store failed; nothing half-done was kept

A message says what happened and what to do next, and is safe to show to anybody: it holds no secret, no
argument's value and no stack. Each edge (MCP, HTTP, CLI) has one translator; the message crosses it unchanged.
"""

from typing import Any


class ChieError(Exception):
    """The root; `message` is shown to people and to their assistants."""

    def __init__(self, message: str) -> None:
        super().__init__(message)
        self.message = message

    def details(self) -> dict[str, Any]:
        """What a machine may read of it; children add to it, they never take away."""
        return {"error": True, "error_type": type(self).__name__, "message": self.message}


class ConfigurationError(ChieError):
    """Shown to the operator when the process starts, and as a room's state while it stays unmended."""


class ValidationError(ChieError):
    """Shown to the caller, who can call again with other arguments."""


class NotFoundError(ChieError):
    """Shown to the caller; also stands for what the caller may not know to exist."""


class ConflictError(ChieError):
    """Shown to the caller, who has an old view of the thing."""


class AuthenticationError(ChieError):
    """Shown to the caller, or to whoever owns the credentials that Chie itself uses."""


class ForbiddenError(ChieError):
    """Shown to the caller, who needs somebody else's permission."""


class ServiceError(ChieError):
    """Shown to the caller; the cause is logged."""


class StorageError(ServiceError):
    """Shown to the caller; says which file or server it was and how to mend it."""
