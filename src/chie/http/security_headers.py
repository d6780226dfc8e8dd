"""Around everything: headers that browsers heed, and bodies that must arrive whole and in time."""

import asyncio
from contextlib import suppress
from typing import TYPE_CHECKING

from starlette.datastructures import MutableHeaders

from chie.access.middleware import refusal

if TYPE_CHECKING:
    from collections.abc import MutableMapping
    from typing import Any

    from starlette.types import ASGIApp, Message, Receive, Scope, Send

NOTHING = "default-src 'none'; frame-ancestors 'none'; base-uri 'none'; form-action 'none'"
STYLED = f"{NOTHING}; style-src 'unsafe-inline'"  # for a page of ours that is one file and runs nothing
HEADERS = {
    "Content-Security-Policy": NOTHING,
    "Referrer-Policy": "no-referrer",
    "X-Content-Type-Options": "nosniff",
    "X-Frame-Options": "DENY",
    "Cross-Origin-Resource-Policy": "same-origin",
}
MAX_MCP_BODY = 4 * 1024 * 1024  # what the MCP SDK takes, said in our words

SLOWEST = 50_000  # bytes a second: a large upload over a slow line is no attack

TOO_SLOW = "the body did not arrive in time. Send it faster, or in parts."
TOO_LARGE = f"the body is too large: at most {MAX_MCP_BODY // 1024 // 1024} MiB. Send less at a time."


class Shield:
    def __init__(self, app: "ASGIApp", *, body_seconds: float) -> None:
        self._app = app
        self._seconds = body_seconds

    async def __call__(self, scope: "Scope", receive: "Receive", send: "Send") -> None:
        if scope["type"] != "http":
            return await self._app(scope, receive, send)

        async def with_headers(message: "Message") -> None:
            if message["type"] == "http.response.start":
                _protect(scope, message)
            await send(message)

        return await Body(scope, receive, with_headers, self._seconds).carry(self._app)


class Body:
    """One request's body on its way in. Whatever the app makes of a body that was cut, the caller gets our answer."""

    def __init__(self, scope: "Scope", receive: "Receive", send: "Send", seconds: float) -> None:
        self._scope = scope
        self._receive = receive
        self._send = send
        self._patience = asyncio.get_running_loop().time() + seconds
        self._limit = MAX_MCP_BODY if scope["path"].startswith("/mcp") else None
        self._size = 0
        self._whole = False
        self._started = False
        self._cut: tuple[int, str] | None = None

    async def carry(self, app: "ASGIApp") -> None:
        length = dict(self._scope["headers"]).get(b"content-length", b"0")
        if self._limit is not None and length.isdigit() and int(length) > self._limit:
            self._cut = (413, TOO_LARGE)
            return await self._answer()
        with suppress(_CutError):
            await app(self._scope, self.receive, self.send)
        if self._cut and not self._started:
            await self._answer()
        return None

    async def receive(self) -> "Message":
        if self._whole:
            return await self._receive()
        try:
            async with asyncio.timeout_at(self._patience + self._size / SLOWEST):
                message = await self._receive()
        except TimeoutError:
            raise self._refuse(408, TOO_SLOW) from None
        self._size += len(message.get("body", b""))
        self._whole = message["type"] != "http.request" or not message.get("more_body", False)
        if self._limit is not None and self._size > self._limit:
            raise self._refuse(413, TOO_LARGE)
        return message

    async def send(self, message: "Message") -> None:
        if self._cut and not self._started:
            return
        self._started = True
        await self._send(message)

    def _refuse(self, status: int, reason: str) -> "_CutError":
        self._cut = (status, reason)
        return _CutError(reason)

    async def _answer(self) -> None:
        assert self._cut is not None  # noqa: S101 - only called where it was cut
        status, reason = self._cut
        await refusal(self._scope, status, reason)(self._scope, self._receive, self._send)


class _CutError(Exception):
    """Ends the app's reading; never shown."""


def _protect(scope: "Scope", message: "MutableMapping[str, Any]") -> None:
    """What an answer says itself stays."""
    headers = MutableHeaders(raw=list(message.get("headers", ())))
    for name, value in HEADERS.items():
        headers.setdefault(name, value)
    if scope["path"].startswith(("/api/", "/v1/", "/mcp", "/metrics")):
        headers.setdefault("Cache-Control", "no-store")
    message["headers"] = headers.raw
