"""Bounds what a server may send: a message that is too large or cannot be read becomes an error at once.

Otherwise a call waits out its timeout, because a message that cannot be parsed answers no request, while a message of
100 MB is collected in memory. Over stdio, the SDK lets us choose the text encoding of the program's output; ours
decodes whole lines and checks each. Over HTTP, a hook limits the size of a response; the SDK reports unreadable ones
itself.
"""

import codecs
import json
import logging
import re
from collections.abc import AsyncIterator
from functools import cache

import httpx2
import mcp_types

logger = logging.getLogger(__name__)

MAX_MESSAGE_BYTES = 8 * 1024 * 1024
TOO_LARGE = -32098  # error codes of our own, in the range that JSON-RPC leaves to implementations
UNREADABLE = -32099
UNREADABLE_CODES = (UNREADABLE, mcp_types.PARSE_ERROR)

ENCODING = "chie_mcp_lines"
ENDS_BYTES = 1_000  # of a message that is too large; they should include its id

_ID = re.compile(rb'"id"\s*:\s*(\d{1,18}|"[^"\\]{1,100}")\s*[,}]')
_CONTENT = re.compile(rb'"(?:result|params|error)"')
_SURROGATE = re.compile(
    r"\\\\|\\u[dD][89abAB][0-9a-fA-F]{2}\\u[dD][c-fC-F][0-9a-fA-F]{2}|\\u[dD][89a-fA-F][0-9a-fA-F]{2}"
)


class LineDecoder(codecs.IncrementalDecoder):
    """Returns only whole lines that the SDK can parse."""

    def __init__(self, errors: str = "strict") -> None:
        super().__init__(errors)
        self._line = bytearray()
        self._start = b""  # of a line that is too large and not yet at its end
        self._is_answered = False

    def decode(self, data: bytes, final: bool = False) -> str:  # type: ignore[override]  # noqa: ARG002
        first, *others = bytes(data).split(b"\n")
        lines = [self._add(first)]
        for part in others:
            lines += [self._end_line(), self._add(part)]
        return "".join(lines)

    def reset(self) -> None:
        self._line.clear()
        self._start, self._is_answered = b"", False

    def _add(self, part: bytes) -> str:
        """The error, as soon as the line is too large and its id is known."""
        self._line += part
        if not self._start and len(self._line) <= MAX_MESSAGE_BYTES:
            return ""
        self._start = self._start or bytes(self._line[:ENDS_BYTES])
        del self._line[:-ENDS_BYTES]
        return "" if self._is_answered else self._refuse(_envelope(self._start))

    def _refuse(self, part: bytes) -> str:
        found = _ID.search(part + b",")
        self._is_answered = found is not None
        return _error(found[1], TOO_LARGE) if found else ""

    def _end_line(self) -> str:
        line, is_large = bytes(self._line), bool(self._start)
        refusal = self._refuse(line) if is_large and not self._is_answered else ""
        is_answered = self._is_answered
        self.reset()
        if not is_large:
            return _readable(line)
        if not is_answered:
            logger.warning("a message of more than %d bytes without an id was dropped", MAX_MESSAGE_BYTES)
        return refusal


def _envelope(start: bytes) -> bytes:
    """Up to the content, which may have ids of its own."""
    return _CONTENT.split(start, maxsplit=1)[0]


def _readable(line: bytes) -> str:
    """The line, with lone surrogates replaced; an error in its place if the SDK could not parse it."""
    text = _SURROGATE.sub(_repaired, line.decode("utf-8", errors="replace"))
    try:
        mcp_types.jsonrpc_message_adapter.validate_json(text, by_name=False)
    except ValueError:
        found = _ID.search(_envelope(line[:ENDS_BYTES])) or _ID.search(line[-ENDS_BYTES:])
        if found:
            return _error(found[1], UNREADABLE)
    return text + "\n"


def _repaired(escape: re.Match[str]) -> str:
    """An escaped backslash and a whole pair are kept."""
    return escape[0] if len(escape[0]) in (2, 12) else "\\ufffd"


def _error(request_id: bytes, code: int) -> str:
    error = {"code": code, "message": "The message is too large." if code == TOO_LARGE else "The message is invalid."}
    return json.dumps({"jsonrpc": "2.0", "id": json.loads(request_id), "error": error}) + "\n"


@cache
def register_encoding() -> str:
    """Its name, for `StdioServerParameters`."""
    info = codecs.CodecInfo(codecs.utf_8_encode, codecs.utf_8_decode, incrementaldecoder=LineDecoder, name=ENCODING)
    codecs.register(lambda name: info if name == ENCODING else None)
    return ENCODING


class _LimitedStream(httpx2.AsyncByteStream):
    def __init__(self, stream: httpx2.AsyncByteStream) -> None:
        self._stream = stream

    async def __aiter__(self) -> AsyncIterator[bytes]:
        size = 0
        async for chunk in self._stream:
            size += len(chunk)
            if size > MAX_MESSAGE_BYTES:
                raise httpx2.StreamError("too large")
            yield chunk

    async def aclose(self) -> None:
        await self._stream.aclose()


def create_http_client(
    headers: dict[str, str] | None = None,
    timeout: httpx2.Timeout | None = None,
    auth: httpx2.Auth | None = None,
    *,
    transport: httpx2.AsyncBaseTransport,
) -> httpx2.AsyncClient:
    """The client for a server over HTTP. The SDK follows redirects itself, and limits the events of a stream."""

    async def limit(response: httpx2.Response) -> None:
        is_stream = response.headers.get("content-type", "").startswith("text/event-stream")
        if not is_stream and isinstance(response.stream, httpx2.AsyncByteStream):
            response.stream = _LimitedStream(response.stream)

    timeout = timeout or httpx2.Timeout(30.0, read=300.0)
    encoding = {"Accept-Encoding": "identity"}  # the limit applies to what arrives
    return httpx2.AsyncClient(
        headers={**encoding, **(headers or {})},
        timeout=timeout,
        auth=auth,
        event_hooks={"response": [limit]},
        transport=transport,
    )
