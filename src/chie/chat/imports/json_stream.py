"""The elements of a JSON array, one at a time and each within limits, so that memory does not grow with the file."""

from codecs import getincrementaldecoder
from collections.abc import Callable, Iterator
from enum import Enum
from typing import Any

import ijson

CHUNK = 64 * 1024
PAUSE = 16 * 1024**2  # bytes, after which the caller may do something else
MAX_DEPTH = 100  # of an element that is kept
MAX_OPEN = 1_000_000  # arrays and objects in each other, before the file counts as broken
MAX_VALUES = 1_000_000  # of an element, keys included

_OPENING, _CLOSING = frozenset({"start_map", "start_array"}), frozenset({"end_map", "end_array"})


class BrokenArrayError(ValueError):
    """It is no array, or it ends too early."""


class Omitted(Enum):
    """In place of an element: it is over a limit, or more has to be read first."""

    TOO_LARGE = "too large"
    TOO_DEEP = "too deep"
    PENDING = "pending"


def elements(read: Callable[[int], bytes], *, limit: int) -> Iterator[Any]:
    """Each element, or the reason why it is left out. One with more characters than `limit` is too large; a single
    object is one element."""
    source = _Source(read, limit)
    events = ijson.basic_parse(source, buf_size=CHUNK, use_float=True, multiple_values=True)
    try:
        yield from _elements(events, source, limit)
    except (ijson.JSONError, OverflowError) as error:
        raise BrokenArrayError from error


def _elements(events: Iterator[tuple[str, Any]], source: "_Source", limit: int) -> Iterator[Any]:
    kind, value = next(events, ("", None))
    is_array = kind == "start_array"
    if kind not in _OPENING:
        raise BrokenArrayError
    element = _Element(limit)
    if not is_array:
        element.add(kind, value)
    for kind, value in events:
        source.silent = 0
        if is_array and kind == "end_array" and not element.depth:
            return
        if element.add(kind, value):
            yield element.omitted or element.value
            if not is_array:
                return
            element = _Element(limit)
        elif source.unreported > PAUSE:
            source.unreported = 0
            yield Omitted.PENDING
    raise BrokenArrayError


class _Source:
    """Bytes as valid UTF-8 without a byte order mark. A single text that is longer than an element breaks the file: the
    parser would have to keep it whole."""

    def __init__(self, read: Callable[[int], bytes], limit: int) -> None:
        self._read = read
        self._decoder = getincrementaldecoder("utf-8-sig")("replace")
        self._limit = limit + 2 * CHUNK
        self.silent = 0  # bytes since the last event
        self.unreported = 0  # bytes since the last pause

    def read(self, size: int) -> bytes:
        if not size:  # asks for the type
            return b""
        while data := self._read(CHUNK):
            self.silent += len(data)
            self.unreported += len(data)
            if self.silent > self._limit:
                raise BrokenArrayError
            if text := self._decoder.decode(data):
                return text.encode()
        return self._decoder.decode(b"", final=True).encode()


class _Element:
    """A value that is put together from events, until it is over a limit."""

    def __init__(self, limit: int) -> None:
        self.value: Any = None
        self.omitted: Omitted | None = None
        self.depth = 0
        self._characters, self._values = limit, MAX_VALUES  # that are left
        self._open: list[Any] = []
        self._key = ""

    def add(self, kind: str, value: Any) -> bool:  # noqa: ANN401
        """Whether the element is complete."""
        if self.omitted is None:
            self._keep(kind, value)
        self.depth += (kind in _OPENING) - (kind in _CLOSING)
        if self.depth > MAX_OPEN:
            raise BrokenArrayError
        return self.depth == 0

    def _keep(self, kind: str, value: Any) -> None:  # noqa: ANN401
        if kind in _CLOSING:
            self._open.pop()
            return
        self._values -= 1
        if isinstance(value, str):
            self._characters -= len(value)
        if self._values < 0 or self._characters < 0:
            self._omit(Omitted.TOO_LARGE)
        elif kind == "map_key":
            self._key = value
        elif kind in _OPENING:
            container: dict[str, Any] | list[Any] = {} if kind == "start_map" else []
            self._put(container)
            self._open.append(container)
            if len(self._open) > MAX_DEPTH:
                self._omit(Omitted.TOO_DEEP)
        else:
            self._put(value)

    def _put(self, value: Any) -> None:  # noqa: ANN401
        if not self._open:
            self.value = value
        elif isinstance(self._open[-1], dict):
            self._open[-1][self._key] = value
        else:
            self._open[-1].append(value)

    def _omit(self, reason: Omitted) -> None:
        self.omitted, self.value, self._open = reason, None, []
