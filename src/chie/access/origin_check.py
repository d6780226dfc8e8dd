"""Checks the Host and Origin headers, so that other web sites cannot use a server on their reader's machine."""

from collections.abc import Collection
from fnmatch import fnmatchcase
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from starlette.datastructures import Headers

from chie.errors import ForbiddenError
from chie.http.responses import rejection
from chie.messages.catalogue import Message

if TYPE_CHECKING:
    from starlette.types import ASGIApp, Receive, Scope, Send
    from starlette.types import Message as AsgiMessage

    from chie.access.authentication import Authenticator

REASONS = {403: Message("access.origin_not_allowed"), 421: Message("access.host_not_allowed")}


class OriginCheck:
    """With authentication required, any Host will do: a proxy in front may send its own.

    Behind a proxy, health probes of the platform use undocumented host names, so /health accepts any.
    """

    def __init__(self, app: "ASGIApp", authenticator: "Authenticator") -> None:
        self._app = app
        self._authenticator = authenticator

    async def __call__(self, scope: "Scope", receive: "Receive", send: "Send") -> None:
        proxy = self._authenticator.proxy
        if scope["type"] != "http" or (proxy.behind_proxy_auth and scope["path"] == "/health"):
            await self._app(scope, receive, send)
        elif not self._authenticator.required:
            await self._check_host(scope, receive, send)
        elif is_same_origin(scope, self._authenticator.origins):
            await self._app(scope, receive, send)
        else:
            await _rejection(scope, 403)(scope, receive, send)

    async def _check_host(self, scope: "Scope", receive: "Receive", send: "Send") -> None:
        """FastMCP's middleware checks Host and Origin; its responses are replaced by ours."""
        from fastmcp.server.http import HostOriginGuardMiddleware

        passed = False

        async def app(scope: "Scope", receive: "Receive", send: "Send") -> None:
            nonlocal passed
            passed = True
            await self._app(scope, receive, send)

        async def send_own_rejection(message: "AsgiMessage") -> None:
            if passed:
                await send(message)
            elif message["type"] == "http.response.start":
                await _rejection(scope, message["status"])(scope, receive, send)

        hosts, origins = self._authenticator.proxy.allowed_hosts, self._authenticator.origins
        await HostOriginGuardMiddleware(app, hosts or None, origins or None)(scope, receive, send_own_rejection)


def require_same_origin(scope: "Scope", allowed: Collection[str] = ()) -> None:
    """Credentials that a browser adds by itself count only on our own page, not on `CHIE_ALLOWED_ORIGINS`."""
    if not is_same_origin(scope, allowed):
        raise ForbiddenError("access.cross_site_request")


def is_same_origin(scope: "Scope", allowed: Collection[str] = ()) -> bool:
    """Browsers send the origin of the page; other clients send none and pass."""
    headers = Headers(scope=scope)
    origin = headers.get("origin")
    if origin is None:
        return headers.get("sec-fetch-site") in (None, "same-origin", "none")
    is_allowed = any(fnmatchcase(origin.lower(), pattern) for pattern in allowed)
    try:
        return is_allowed or urlsplit(origin).netloc.lower() == headers.get("host", "").lower()
    except ValueError:  # malformed, which no browser sends
        return False


def _rejection(scope: "Scope", status: int) -> "ASGIApp":
    return rejection(scope, status, REASONS[status])
