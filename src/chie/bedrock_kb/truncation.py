"""Whether an event stream came to its end, or broke off inside an event.

The SDK reads a stream that stops in the middle of an event as one that is complete. The lengths at the head of each
event tell the difference.
"""

from collections.abc import Iterator
from typing import Any, Protocol

PRELUDE = 4  # an event begins with its whole length, in this many bytes


class BrokenStreamError(Exception):
    """Not shown to anybody; it becomes a ServiceError."""


class Body(Protocol):
    def stream(self) -> Iterator[bytes]: ...

    def close(self) -> None: ...


class WholeEvents:
    """A response body that refuses to end inside an event."""

    def __init__(self, body: Body) -> None:
        self._body = body
        self._head = b""
        self._left = 0

    def stream(self) -> Iterator[bytes]:
        for chunk in self._body.stream():
            self._count(chunk)
            yield chunk
        if self._left or self._head:
            raise BrokenStreamError("the stream ended inside an event")

    def close(self) -> None:
        self._body.close()

    def _count(self, chunk: bytes) -> None:
        while chunk:
            if self._left:
                taken = min(self._left, len(chunk))
                self._left -= taken
            else:
                taken = min(PRELUDE - len(self._head), len(chunk))
                self._head += chunk[:taken]
                if len(self._head) == PRELUDE:
                    self._left = max(int.from_bytes(self._head) - PRELUDE, 0)
                    self._head = b""
            chunk = chunk[taken:]


def watch(response_dict: dict[str, Any], **_: object) -> None:
    """A `before-parse` handler of the SDK."""
    if response_dict["status_code"] < 300:
        response_dict["body"] = WholeEvents(response_dict["body"])
