"""One log line and one measurement for each request. Plain ASGI, for speed."""

import logging
from time import perf_counter
from typing import TYPE_CHECKING, Protocol

from chie.logging import new_request_id

if TYPE_CHECKING:
    from starlette.types import ASGIApp, Message, Receive, Scope, Send

METHODS = frozenset({"GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"})
OTHER = "other"

logger = logging.getLogger(__name__)


class Observer(Protocol):
    def __call__(self, method: str, route: str, status: int, seconds: float) -> None: ...


class RequestLog:
    """Gives the request an id that all log lines below it carry, and returns it as `X-Request-Id`."""

    def __init__(self, app: "ASGIApp", observe: Observer) -> None:
        self._app = app
        self._observe = observe

    async def __call__(self, scope: "Scope", receive: "Receive", send: "Send") -> None:
        if scope["type"] != "http":
            return await self._app(scope, receive, send)
        request, began = new_request_id(), perf_counter()

        async def send_with_id(message: "Message") -> None:
            if message["type"] == "http.response.start":
                message["headers"] = [*message.get("headers", ()), (b"x-request-id", request.encode())]
                self._record(scope, message["status"], perf_counter() - began)
            await send(message)

        return await self._app(scope, receive, send_with_id)

    def _record(self, scope: "Scope", status: int, seconds: float) -> None:
        # A label stays in memory for ever, so invented method names share one.
        method = scope["method"] if scope["method"] in METHODS else OTHER
        self._observe(method, _route(scope), status, seconds)
        level = logging.ERROR if status >= 500 else logging.INFO
        logger.log(level, "%s %s %d in %.1f ms", scope["method"], scope["path"], status, seconds * 1_000)


def _route(scope: "Scope") -> str:
    return getattr(scope.get("route"), "path", OTHER)
