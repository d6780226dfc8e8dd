"""Response headers that restrict what browsers may do."""

from typing import TYPE_CHECKING

from starlette.datastructures import MutableHeaders

if TYPE_CHECKING:
    from starlette.types import ASGIApp, Message, Receive, Scope, Send

NO_CONTENT_POLICY = "default-src 'none'; frame-ancestors 'none'; base-uri 'none'; form-action 'none'"
STYLES_ONLY_POLICY = f"{NO_CONTENT_POLICY}; style-src 'unsafe-inline'"  # for a single-file page without scripts
HEADERS = {
    "Content-Security-Policy": NO_CONTENT_POLICY,
    "Referrer-Policy": "no-referrer",
    "X-Content-Type-Options": "nosniff",
    "X-Frame-Options": "DENY",
    "Cross-Origin-Resource-Policy": "same-origin",
}
UNCACHED_PREFIXES = ("/api/", "/v1/", "/mcp", "/metrics")


class SecurityHeaders:
    """Adds the headers that a response does not set itself."""

    def __init__(self, app: "ASGIApp") -> None:
        self._app = app

    async def __call__(self, scope: "Scope", receive: "Receive", send: "Send") -> None:
        if scope["type"] != "http":
            return await self._app(scope, receive, send)

        async def send_with_headers(message: "Message") -> None:
            if message["type"] == "http.response.start":
                _add_headers(scope, message)
            await send(message)

        return await self._app(scope, receive, send_with_headers)


def _add_headers(scope: "Scope", message: "Message") -> None:
    headers = MutableHeaders(raw=list(message.get("headers", ())))
    for name, value in HEADERS.items():
        headers.setdefault(name, value)
    if scope["path"].startswith(UNCACHED_PREFIXES):
        headers.setdefault("Cache-Control", "no-store")
    message["headers"] = headers.raw
