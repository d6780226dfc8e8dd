"""Every error that Chie raises on purpose.

    ChieError
    ├── ConfigurationError    a setting is missing or wrong; the operator fixes it and restarts
    ├── ValidationError       an argument is missing or wrong; the caller fixes it and calls again
    ├── NotFoundError         the named thing does not exist; the caller names another
    ├── ConflictError         the thing has changed since the caller read it; the caller reads it again
    ├── AuthenticationError   the caller could not be identified
    ├── ForbiddenError        the caller is known but not allowed to do this
    ├── LimitError            the caller has used up what they may use for now
    └── ServiceError          something outside the call failed; trying again may help
        └── StorageError      our own store failed; nothing half-done was kept

An error is raised with a code and named parameters; its text comes from the catalogue in `chie.messages`. The text says
what happened and what to do next, and is safe to show to anybody: it holds no secret, no argument value and no stack.
Each edge (MCP, HTTP, SSE, CLI) has one translator. Nothing compares texts; compare types or codes.
"""

from typing import Any

from chie.messages.catalogue import Message, Param

BUSY_CODES = frozenset({"database.file_locked", "database.lock_timeout", "database.pool_exhausted"})
"""Of storage errors that end by themselves, such as while a backup is restored. Over HTTP they are a 503."""


class ChieError(Exception):
    """`raise NotFoundError("knowledge.note_not_found", id=note_id)`; a ready `Message` may take the code's place."""

    def __init__(self, code: str | Message, /, **params: Param) -> None:
        self.reason = code if isinstance(code, Message) else Message(code, **params)
        super().__init__(self.reason.code)

    @property
    def code(self) -> str:
        return self.reason.code

    @property
    def message(self) -> str:
        """The English text."""
        return str(self.reason)

    def __str__(self) -> str:
        return self.message

    def details(self) -> dict[str, Any]:
        """The error as JSON. Subclasses add keys and never remove any."""
        return {
            "error": True,
            "error_type": type(self).__name__,
            "message": self.message,
            "code": self.code,
            "params": self.reason.json_params(),
        }


class ConfigurationError(ChieError):
    """Shown to the operator at startup, and as the module's state until it is fixed."""


class ValidationError(ChieError):
    """Shown to the caller, who can call again with other arguments."""


class NotFoundError(ChieError):
    """Shown to the caller; also covers things the caller may not know to exist."""


class ConflictError(ChieError):
    """Shown to the caller, whose view of the thing is out of date."""


class AuthenticationError(ChieError):
    """Shown to the caller, or to the owner of the credentials that Chie itself uses."""


class ForbiddenError(ChieError):
    """Shown to the caller, who needs permission from somebody else."""


class LimitError(ChieError):
    """Shown to the caller, who waits `seconds` or asks for a higher limit."""

    def __init__(self, code: str | Message, /, *, seconds: int, **params: Param) -> None:
        super().__init__(code, **params)
        self.seconds = seconds


class ServiceError(ChieError):
    """Shown to the caller; the cause is logged."""


class StorageError(ServiceError):
    """Shown to the caller; names the file or server and how to fix it."""
