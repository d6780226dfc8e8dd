"""The elements of a JSON array, one at a time: a file of gigabytes takes the memory of its largest element."""

import re
from collections.abc import Callable, Iterator

CHUNK = 1024 * 1024

_OUTSIDE = re.compile(rb'["{}\[\],]')
_INSIDE = re.compile(rb'["\\]')


class BrokenArrayError(ValueError):
    """It is no array, or it ends too early."""


def elements(read: Callable[[int], bytes], *, limit: int) -> Iterator[bytes | None]:
    """The JSON of each element, or None for one with more bytes than the limit. A single object is one element."""
    scanner = _Scanner(limit)
    while chunk := read(CHUNK):
        yield from scanner.feed(chunk)
    yield from scanner.finish()


class _Scanner:
    def __init__(self, limit: int) -> None:
        self._limit = limit
        self._depth = 0
        self._base: int | None = None  # the depth of elements: 1 in an array, 0 for a single object
        self._in_string = self._escaped = self._ended = False
        self._kept = bytearray()
        self._too_large = False

    def feed(self, chunk: bytes) -> Iterator[bytes | None]:
        start = 0
        if self._base is None:
            chunk = chunk.removeprefix(b"\xef\xbb\xbf").lstrip()
            start = self._open(chunk[:1])
        for sign, at in self._signs(chunk, start):
            ends = sign == b"," and self._depth == self._base
            self._depth += (sign in b"{[") - (sign in b"}]")
            self._ended = sign in b"}]" and self._depth == 0
            if ends or self._ended:
                self._keep(chunk[start : at if self._base == 0 else at - 1])
                start = at
                yield from self._taken()
            if self._ended:
                return
        self._keep(chunk[start:])

    def _open(self, sign: bytes) -> int:
        """Where the first element starts."""
        if sign not in (b"[", b"{", b""):
            raise BrokenArrayError
        if sign:
            self._base = self._depth = 1 if sign == b"[" else 0
        return self._depth

    def _signs(self, chunk: bytes, at: int) -> Iterator[tuple[bytes, int]]:
        """Those outside of strings, and where the text after them starts."""
        while at < len(chunk) and not self._ended:
            if self._escaped:
                self._escaped, at = False, at + 1
                continue
            found = (_INSIDE if self._in_string else _OUTSIDE).search(chunk, at)
            if found is None:
                return
            at, sign = found.end(), found[0]
            if self._in_string:
                self._escaped, self._in_string = sign == b"\\", sign != b'"'
            elif sign == b'"':
                self._in_string = True
            else:
                yield sign, at

    def finish(self) -> Iterator[bytes | None]:
        if not self._ended:
            raise BrokenArrayError
        return iter(())

    def _keep(self, data: bytes) -> None:
        if len(self._kept) + len(data) > self._limit:
            self._too_large = True
            self._kept.clear()
        elif not self._too_large:
            self._kept += data

    def _taken(self) -> Iterator[bytes | None]:
        data = bytes(self._kept).strip()
        if self._too_large:
            yield None
        elif data:
            yield data
        self._kept.clear()
        self._too_large = False
