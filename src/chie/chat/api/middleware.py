"""Around every request: its name, its log line, its count, and a limit for its body. Plain ASGI, for speed."""

import logging
from collections.abc import Mapping
from time import perf_counter

from fastapi import HTTPException
from starlette.requests import Request
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from chie.chat.api.errors import detail
from chie.chat.metrics import Metrics
from chie.logging import new_request_id

NUL = "the address has a NUL character: send plain text."
MAX_BODY = 4 * 1024 * 1024
LIMITED = ("/api/", "/v1/")
METHODS = frozenset({"GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"})

logger = logging.getLogger(__name__)


class RequestLog:
    """Names the request for all log lines below it, agents' and tools' included, and gives the name to the caller."""

    def __init__(self, app: ASGIApp, metrics: Metrics) -> None:
        self._app = app
        self._metrics = metrics

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            return await self._app(scope, receive, send)
        name, began = new_request_id(), perf_counter()

        async def named(message: Message) -> None:
            if message["type"] == "http.response.start":
                message["headers"] = [*message.get("headers", ()), (b"x-request-id", name.encode())]
                self._note(scope, message["status"], perf_counter() - began)
            await send(message)

        return await self._app(scope, receive, named)

    def _note(self, scope: Scope, status: int, seconds: float) -> None:
        # Whoever makes up names shall not make the count of each last for ever.
        method = scope["method"] if scope["method"] in METHODS else "other"
        self._metrics.request_answered(method, _route(scope), status, seconds)
        level = logging.ERROR if status >= 500 else logging.INFO
        logger.log(level, "%s %s %d in %.1f ms", scope["method"], scope["path"], status, seconds * 1_000)


def _route(scope: Scope) -> str:
    """Its whole path. FastAPI keeps that of a router that was included under a prefix beside the route itself."""
    route = scope.get("fastapi", {}).get("effective_route_context") or scope.get("route")
    return getattr(route, "path", "other")


class Bounds:
    """Refuses what no route of ours can take: a body that is too large, and NUL in an address.

    `larger` has the paths that take more.
    """

    def __init__(self, app: ASGIApp, *, limit: int = MAX_BODY, larger: Mapping[str, int] | None = None) -> None:
        self._app = app
        self._limit = limit
        self._larger = larger or {}

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http" or not scope["path"].startswith(LIMITED):
            return await self._app(scope, receive, send)
        limit = self._larger.get(scope["path"], self._limit)
        length = dict(scope["headers"]).get(b"content-length", b"0")
        if length.isdigit() and int(length) > limit:
            return await detail(Request(scope), 413, _too_large(limit))(scope, receive, send)
        if "\x00" in scope["path"] or b"%00" in scope["query_string"]:
            return await detail(Request(scope), 400, NUL)(scope, receive, send)
        return await self._app(scope, self._counting(receive, limit), send)

    def _counting(self, receive: Receive, limit: int) -> Receive:
        seen = 0

        async def counting() -> Message:
            nonlocal seen
            message = await receive()
            seen += len(message.get("body", b""))
            if seen > limit:
                raise HTTPException(413, _too_large(limit))  # FastAPI, which reads the body, lets this one through
            return message

        return counting


def _too_large(limit: int) -> str:
    return f"the body is too large: at most {limit // 1024 // 1024} MiB. Send less at a time."
