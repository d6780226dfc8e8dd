"""All that stands before an app that answers HTTP: the shield, the guard against other web sites, and the door."""

from collections.abc import Collection
from typing import TYPE_CHECKING

from starlette.responses import JSONResponse

from chie.access.authentication import Authenticator
from chie.access.middleware import Door, comes_from_us
from chie.http.security_headers import Shield

if TYPE_CHECKING:
    from starlette.types import ASGIApp, Message, Receive, Scope, Send

REFUSED = {
    421: "this is not an address of Chie. Open it as http://127.0.0.1 or http://localhost with its port.",
    403: "another web site may not use this Chie. Open Chie's own page instead.",
}

CORS_HEADERS = (
    "Authorization Content-Type Last-Event-ID Mcp-Protocol-Version Mcp-Session-Id Mcp-Method Mcp-Name X-Chie-Token"
).split()


def protect(app: "ASGIApp", authenticator: Authenticator, *, open_paths: Collection[str] = ()) -> "ASGIApp":
    """Outermost last."""
    from starlette.middleware.cors import CORSMiddleware

    app = Door(app, authenticator, open_paths)
    if origins := authenticator.settings.allowed_origins:
        app = CORSMiddleware(
            app,
            allow_origins=origins,
            allow_methods=["GET", "POST", "PUT", "PATCH", "DELETE"],
            allow_headers=CORS_HEADERS,
            expose_headers=["X-Chie-Session", "X-Chie-Message", "X-Request-Id", "Mcp-Session-Id", "Retry-After"],
        )
    return Shield(request_guard(app, authenticator), body_seconds=authenticator.settings.body_seconds)


def request_guard(app: "ASGIApp", authenticator: Authenticator) -> "ASGIApp":
    """Refuses a Host or Origin that is not ours: no web page shall reach a server on its reader's machine.

    Where everybody has to say who they are, a strange Host does no harm, and a proxy in front may well send one.
    Behind a proxy the platform's own probes ask for /health under names that nobody documents, so there any will do.
    """
    from fastmcp.server.http import HostOriginGuardMiddleware

    hosts, origins = authenticator.proxy.allowed_hosts, authenticator.origins

    async def guarded(scope: "Scope", receive: "Receive", send: "Send") -> None:
        passed = False

        async def inner(scope: "Scope", receive: "Receive", send: "Send") -> None:
            nonlocal passed
            passed = True
            await app(scope, receive, send)

        async def answer(message: "Message") -> None:
            if passed:
                await send(message)
            elif message["type"] == "http.response.start":
                await _refused(message["status"])(scope, receive, send)

        if scope["type"] != "http" or (authenticator.proxy.behind_proxy_auth and scope["path"] == "/health"):
            await app(scope, receive, send)
        elif authenticator.required:
            await (inner if comes_from_us(scope, origins) else _refused(403))(scope, receive, send)
        else:
            await HostOriginGuardMiddleware(inner, hosts or None, origins or None)(scope, receive, answer)

    return guarded


def _refused(status: int) -> JSONResponse:
    return JSONResponse({"detail": REFUSED[status]}, status_code=status)
