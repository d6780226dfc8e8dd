"""Limits what a request may send: the size of its body, the time it takes to arrive, and no NUL in its URL."""

import asyncio
import re
from collections.abc import Mapping
from contextlib import suppress
from typing import TYPE_CHECKING

from chie.http.responses import error_response, rejection
from chie.messages.catalogue import Message

if TYPE_CHECKING:
    from starlette.types import ASGIApp, Receive, Scope, Send
    from starlette.types import Message as AsgiMessage

MEBIBYTE = 1024 * 1024
MAX_BODY_BYTES = 4 * MEBIBYTE  # the MCP SDK has the same limit, but an error text of its own
MIN_BYTES_PER_SECOND = 50_000  # a large upload over a slow line is no attack


class BodyLimit:
    """`larger` maps paths to the bytes they accept beyond the usual limit; `*` is any one segment. `seconds` is for a
    body of any size."""

    def __init__(self, app: "ASGIApp", *, seconds: float, larger: Mapping[str, int] | None = None) -> None:
        self._app = app
        self._seconds = seconds
        self._larger = {path: size for path, size in (larger or {}).items() if "*" not in path}
        self._patterns = [(_pattern(path), size) for path, size in (larger or {}).items() if "*" in path]

    async def __call__(self, scope: "Scope", receive: "Receive", send: "Send") -> None:
        if scope["type"] != "http":
            return await self._app(scope, receive, send)
        if "\x00" in scope["path"] or b"%00" in scope["query_string"]:
            return await rejection(scope, 400, Message("http.nul_in_url"))(scope, receive, send)
        limit = self.limit(scope["path"])
        return await _LimitedRequest(scope, receive, send, limit, self._seconds).run(self._app)

    def limit(self, path: str) -> int:
        matching = (size for pattern, size in self._patterns if pattern.fullmatch(path))
        return self._larger.get(path) or next(matching, MAX_BODY_BYTES)


def _pattern(path: str) -> re.Pattern[str]:
    return re.compile(re.escape(path).replace(r"\*", "[^/]+"))


class _LimitedRequest:
    """One request. Whatever response the app derives from a truncated body, the client gets ours."""

    def __init__(self, scope: "Scope", receive: "Receive", send: "Send", limit: int, seconds: float) -> None:
        self._scope = scope
        self._receive = receive
        self._send = send
        self._limit = limit
        self._deadline = asyncio.get_running_loop().time() + seconds
        self._size = 0
        self._complete = False
        self._started = False
        self._rejected: tuple[int, Message] | None = None

    async def run(self, app: "ASGIApp") -> None:
        length = dict(self._scope["headers"]).get(b"content-length", b"0")
        if length.isdigit() and int(length) > self._limit:
            self._reject(413, self._too_large())
        else:
            with suppress(_BodyRejectedError):
                await app(self._scope, self.receive, self.send)
        if self._rejected and not self._started:
            await self._respond(*self._rejected)

    async def receive(self) -> "AsgiMessage":
        if self._complete:
            return await self._receive()
        try:
            async with asyncio.timeout_at(self._deadline + self._size / MIN_BYTES_PER_SECOND):
                message = await self._receive()
        except TimeoutError:
            raise self._reject(408, Message("http.body_timeout")) from None
        self._size += len(message.get("body", b""))
        self._complete = message["type"] != "http.request" or not message.get("more_body", False)
        if self._size > self._limit:
            raise self._reject(413, self._too_large())
        return message

    async def send(self, message: "AsgiMessage") -> None:
        if self._rejected and not self._started:
            return
        self._started = True
        await self._send(message)

    async def _respond(self, status: int, reason: Message) -> None:
        """A body that is too large is left to the server to discard: closing at once could lose the response."""
        respond = rejection if status == 408 else error_response
        await respond(self._scope, status, reason)(self._scope, self._receive, self._send)

    def _too_large(self) -> Message:
        return Message("http.body_too_large", limit=self._limit // MEBIBYTE)

    def _reject(self, status: int, reason: Message) -> "_BodyRejectedError":
        self._rejected = (status, reason)
        return _BodyRejectedError()


class _BodyRejectedError(Exception):
    """Ends the app's reading; never leaves this module."""
