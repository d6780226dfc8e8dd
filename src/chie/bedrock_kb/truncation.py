"""Detects event streams that end inside an event.

The SDK takes a stream that stops in the middle of an event for a complete one. Every event begins with its length,
which reveals the truncation.
"""

from collections.abc import Iterator
from typing import Any, Protocol

LENGTH_BYTES = 4  # an event begins with its total length


class TruncatedStreamError(Exception):
    """Internal; it is translated into a ServiceError."""


class Body(Protocol):
    def stream(self) -> Iterator[bytes]: ...

    def close(self) -> None: ...


class CheckedBody:
    """A response body that raises if it ends inside an event."""

    def __init__(self, body: Body) -> None:
        self._body = body
        self._length = b""
        self._remaining = 0

    def stream(self) -> Iterator[bytes]:
        for chunk in self._body.stream():
            self._count(chunk)
            yield chunk
        if self._remaining or self._length:
            raise TruncatedStreamError("the stream ended inside an event")

    def close(self) -> None:
        self._body.close()

    def _count(self, chunk: bytes) -> None:
        while chunk:
            if self._remaining:
                taken = min(self._remaining, len(chunk))
                self._remaining -= taken
            else:
                taken = min(LENGTH_BYTES - len(self._length), len(chunk))
                self._length += chunk[:taken]
                if len(self._length) == LENGTH_BYTES:
                    self._remaining = max(int.from_bytes(self._length) - LENGTH_BYTES, 0)
                    self._length = b""
            chunk = chunk[taken:]


def detect_truncation(response_dict: dict[str, Any], **_: object) -> None:
    """A `before-parse` handler of the SDK."""
    if response_dict["status_code"] < 300:
        response_dict["body"] = CheckedBody(response_dict["body"])
