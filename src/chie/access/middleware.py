"""The middleware around an app that serves HTTP, and the part of it that authenticates requests."""

import logging
from collections.abc import Collection, Iterator, Mapping
from functools import partial
from typing import TYPE_CHECKING
from urllib.parse import parse_qsl

from starlette.datastructures import Headers
from starlette.requests import cookie_parser
from starlette.responses import JSONResponse

from chie.access.authentication import Authenticator
from chie.access.identity import UNAUTHENTICATED, USER_KEY, User, become, local_user
from chie.access.origin_check import OriginCheck, require_same_origin
from chie.access.proxy import base_url
from chie.access.revocation import IS_REVOKED_KEY
from chie.access.users import TOKEN_PREFIX
from chie.errors import AuthenticationError, ChieError, ForbiddenError
from chie.http.body_limit import BodyLimit
from chie.http.responses import SAFE_METHODS, rejection
from chie.http.security_headers import SecurityHeaders
from chie.messages.catalogue import Message

if TYPE_CHECKING:
    from starlette.types import ASGIApp, Receive, Scope, Send

COOKIE = "chie_token"
TOKEN_HEADER = "x-chie-token"  # for platforms that keep `Authorization` for themselves  # noqa: S105
PUBLIC_PATHS = frozenset(
    {
        "/health",
        "/api/login",
        "/api/logout",
        "/api/mcp/oauth/callback",  # the redirect comes from another site, so a browser sends no strict cookie with it
        "/api/mcp/oauth/client.json",  # providers read it
    }
)
NOTE_PATHS = ("/api/knowledge", "/mcp/knowledge", "/hooks/")
METADATA_PATH = "/.well-known/oauth-protected-resource"
SECRET_PARAMETERS = frozenset({"access_token", "token", "api_key", "apikey", "key", "authorization", "id_token"})
CORS_HEADERS = (
    "Authorization Content-Type Last-Event-ID Mcp-Protocol-Version Mcp-Session-Id Mcp-Method Mcp-Name X-Chie-Token"
).split()

TOKEN_MISSING = "access.token_missing"  # noqa: S105 - a code

logger = logging.getLogger(__name__)


def protect(
    app: "ASGIApp",
    authenticator: Authenticator,
    *,
    public_paths: Collection[str] = (),
    note_paths: tuple[str, ...] = NOTE_PATHS,
    larger_bodies: Mapping[str, int] | None = None,
) -> "ASGIApp":
    """`app` behind security headers, body limits, the origin check, CORS and authentication, in this order."""
    from starlette.middleware.cors import CORSMiddleware

    app = AuthenticationMiddleware(app, authenticator, public_paths, note_paths)
    if origins := authenticator.settings.allowed_origins:
        app = CORSMiddleware(
            app,
            allow_origins=origins,
            allow_methods=["GET", "POST", "PUT", "PATCH", "DELETE"],
            allow_headers=CORS_HEADERS,
            expose_headers=["X-Chie-Session", "X-Chie-Message", "X-Request-Id", "Mcp-Session-Id", "Retry-After"],
        )
    app = OriginCheck(app, authenticator)
    return SecurityHeaders(BodyLimit(app, seconds=authenticator.settings.body_seconds, larger=larger_bodies))


class AuthenticationMiddleware:
    """Sets the user of each request. `public_paths` are the page's own files, which contain no team data, and paths
    that begin with one of `note_paths` are about notes."""

    def __init__(
        self,
        app: "ASGIApp",
        authenticator: Authenticator,
        public_paths: Collection[str] = (),
        note_paths: tuple[str, ...] = NOTE_PATHS,
    ) -> None:
        self._app = app
        self._authenticator = authenticator
        self._note_paths = note_paths
        self._public = PUBLIC_PATHS | frozenset(public_paths)

    async def __call__(self, scope: "Scope", receive: "Receive", send: "Send") -> None:
        if scope["type"] == "websocket":  # no route accepts one
            return await send({"type": "websocket.close", "code": 1008})
        response = await self._respond(scope) if scope["type"] == "http" else None
        return await (response or self._app)(scope, receive, send)

    async def _respond(self, scope: "Scope") -> JSONResponse | None:
        """The response to a request that may not pass; None sets the user and lets it through."""
        if scope["path"].startswith(METADATA_PATH) and self._authenticator.settings.auth_issuer:
            return self._metadata(scope)
        try:
            scope[USER_KEY] = user = await self._user(scope) if self._authenticator.required else local_user()
        except ChieError as error:
            return self._reject(scope, error)
        if self._authenticator.required and user and (wait := self._authenticator.requests.take(user.id)):
            return too_many_requests(scope, wait)
        if user and user.spaces is not None and not self._is_for_notes(scope["path"]):
            return rejection(scope, 403, Message("access.token_limited"))
        become(user or UNAUTHENTICATED)
        return None

    def _is_for_notes(self, path: str) -> bool:
        """A token that is limited to spaces is for their notes alone: conversations may quote notes of others."""
        return path in self._public or path == "/api/me" or path.startswith(self._note_paths)

    async def _user(self, scope: "Scope") -> User | None:
        """None for an unauthenticated request to a public path."""
        if _has_secret(scope["query_string"]):
            raise ForbiddenError("access.token_in_url")
        try:
            return await self._first_valid(scope, Headers(scope=scope))
        except (AuthenticationError, ForbiddenError):
            if scope["path"] in self._public:
                return None
            raise

    async def _first_valid(self, scope: "Scope", headers: Headers) -> User:
        """A platform may use `Authorization` for itself, so an unknown token there does not hide the others."""
        reason: AuthenticationError | None = None
        for token, is_ambient in self._tokens(scope, headers):
            try:
                user = await self._authenticator.user_of(token)
            except AuthenticationError as error:
                reason = reason or error
                continue
            if is_ambient:
                require_same_origin(scope, self._authenticator.proxy)
            if token.startswith(TOKEN_PREFIX):
                scope[IS_REVOKED_KEY] = partial(self._authenticator.is_revoked, token)
            return user
        raise reason or AuthenticationError("access.token_missing")

    def _tokens(self, scope: "Scope", headers: Headers) -> Iterator[tuple[str, bool]]:
        """The request's tokens, and whether a browser adds each by itself to requests of any site."""
        if token := headers.get(TOKEN_HEADER):
            yield token.strip(), False
        scheme, _, token = headers.get("authorization", "").partition(" ")
        if scheme.lower() == "bearer" and token.strip():
            yield token.strip(), False
        header = self._authenticator.settings.auth_header.lower()
        if header != "authorization" and (token := headers.get(header)):
            yield token.removeprefix("Bearer ").strip(), True  # a proxy adds it to every request of a browser
        if (token := _cookie(headers)) and (scope["method"] in SAFE_METHODS or "origin" in headers):
            yield token, True

    def _reject(self, scope: "Scope", error: ChieError) -> JSONResponse:
        if isinstance(error, ForbiddenError):
            return rejection(scope, 403, error.reason)
        if not isinstance(error, AuthenticationError):
            logger.error("requests cannot be authenticated: %s [%s]", error.message, error.code)
            return rejection(scope, 503, error.reason)
        if error.code != TOKEN_MISSING:
            if wait := failure_delay(self._authenticator, scope):
                return too_many_requests(scope, wait)
            logger.warning("rejected a token for %s [%s]", scope["path"], error.code)
        return rejection(scope, 401, error.reason, {"WWW-Authenticate": self._challenge(scope, error)})

    def _metadata(self, scope: "Scope") -> JSONResponse:
        """Tells MCP clients which provider's tokens are accepted (RFC 9728)."""
        return JSONResponse(
            {
                "resource": base_url(scope) + scope["path"].removeprefix(METADATA_PATH),
                "authorization_servers": [self._authenticator.settings.auth_issuer],
                "bearer_methods_supported": ["header"],
                "resource_name": "Chie",
            }
        )

    def _challenge(self, scope: "Scope", error: AuthenticationError) -> str:
        parts = ['Bearer realm="Chie"']
        if error.code != TOKEN_MISSING:
            parts.append('error="invalid_token"')
        if self._authenticator.settings.auth_issuer and scope["path"].startswith("/mcp"):
            parts.append(f'resource_metadata="{base_url(scope)}{METADATA_PATH}{scope["path"]}"')
        return ", ".join(parts)


def failure_delay(authenticator: Authenticator, scope: "Scope") -> int:
    """Counts a failed attempt of this client; the seconds to wait after too many. Valid tokens are never delayed."""
    client = scope.get("client")
    return authenticator.failures.take(client[0] if client else "?")


def too_many_requests(scope: "Scope", wait: int) -> JSONResponse:
    return rejection(scope, 429, Message("access.too_many_requests"), {"Retry-After": str(wait)})


def _cookie(headers: Headers) -> str | None:
    """Parsed leniently, as browsers do: another app on the same host may have set malformed cookies."""
    return cookie_parser(headers.get("cookie", "")).get(COOKIE) or None


def _has_secret(query: bytes) -> bool:
    parameters = parse_qsl(query.decode("latin-1"), keep_blank_values=True)
    return any(name.lower() in SECRET_PARAMETERS for name, _ in parameters)
