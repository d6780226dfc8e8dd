"""Checks the Host and Origin headers, so that other web sites cannot use a server on their reader's machine."""

from collections.abc import Collection
from fnmatch import fnmatchcase
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from starlette.datastructures import Headers

from chie.access.proxy import base_url
from chie.errors import ForbiddenError
from chie.http.responses import SAFE_METHODS, rejection
from chie.messages.catalogue import Message

if TYPE_CHECKING:
    from starlette.types import ASGIApp, Receive, Scope, Send
    from starlette.types import Message as AsgiMessage

    from chie.access.authentication import Authenticator
    from chie.access.proxy import ProxySettings

DEFAULT_PORTS = {"http": 80, "https": 443}
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
        elif self._authenticator.required:
            await self._check_origin(scope, receive, send)
        else:
            await self._check_host(scope, receive, send)

    async def _check_origin(self, scope: "Scope", receive: "Receive", send: "Send") -> None:
        allowed = self._is_link(scope) or self._is_listed(scope) or is_same_origin(scope, self._authenticator.proxy)
        await (self._app if allowed else _rejection(scope, 403))(scope, receive, send)

    def _is_link(self, scope: "Scope") -> bool:
        """Without users there is no cookie to misuse, and a link on another site may lead to our page."""
        return (
            not self._authenticator.required
            and scope["method"] in SAFE_METHODS
            and "origin" not in Headers(scope=scope)
        )

    def _is_listed(self, scope: "Scope") -> bool:
        origin = Headers(scope=scope).get("origin", "").lower()
        return _matches(origin, self._authenticator.settings.allowed_origins)

    async def _check_host(self, scope: "Scope", receive: "Receive", send: "Send") -> None:
        """FastMCP's middleware checks the Host only, since any loopback origin would pass it; its response is ours."""
        from fastmcp.server.http import HostOriginGuardMiddleware

        passed = False

        async def app(scope: "Scope", receive: "Receive", send: "Send") -> None:
            nonlocal passed
            passed = True
            await self._check_origin(scope, receive, send)

        async def send_own_rejection(message: "AsgiMessage") -> None:
            if passed:
                await send(message)
            elif message["type"] == "http.response.start":
                await _rejection(scope, message["status"])(scope, receive, send)

        hosts = self._authenticator.proxy.allowed_hosts
        await HostOriginGuardMiddleware(app, hosts or None, ["*"])(scope, receive, send_own_rejection)


def require_same_origin(scope: "Scope", proxy: "ProxySettings") -> None:
    """Credentials that a browser adds by itself count only on our own page, not on `CHIE_ALLOWED_ORIGINS`."""
    if not is_same_origin(scope, proxy):
        raise ForbiddenError("access.cross_site_request")


def is_same_origin(scope: "Scope", proxy: "ProxySettings") -> bool:
    """Whether the request is from our own page: same scheme, host and port. Clients other than browsers pass.

    Browsers send the page's Origin, and Sec-Fetch-Site over TLS and to loopback. A page can set neither.
    """
    headers = Headers(scope=scope)
    origin, site = headers.get("origin"), headers.get("sec-fetch-site")
    if origin is None:
        return site in (None, "same-origin", "none")
    if site in ("cross-site", "same-site"):
        return False
    own = _normalized(origin)
    if own is None:
        return False
    if own == _normalized(base_url(scope)) or _matches(own, proxy.origins):
        return True
    # behind a proxy that changes the scheme, or a tunnel that changes the host, only the browser knows
    return site == "same-origin" and (_is_own_host(own, headers.get("host", "")) or _matches(own, proxy.tunnel_origins))


def _normalized(origin: str) -> str | None:
    """In lower case, without the default port; None if malformed, which no browser sends."""
    try:
        parts = urlsplit(origin.lower())
        port = parts.port
    except ValueError:
        return None
    host = parts.netloc.rpartition(":")[0] if port is not None else parts.netloc
    return f"{parts.scheme}://{host}" + ("" if port in (None, DEFAULT_PORTS.get(parts.scheme)) else f":{port}")


def _is_own_host(origin: str, host: str) -> bool:
    return origin in (_normalized(f"http://{host}"), _normalized(f"https://{host}"))


def _matches(origin: str, patterns: Collection[str]) -> bool:
    return any(fnmatchcase(origin, pattern) for pattern in patterns)


def _rejection(scope: "Scope", status: int) -> "ASGIApp":
    return rejection(scope, status, REASONS[status])
