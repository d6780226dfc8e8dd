"""The ASGI edge of `Authenticator`: nobody gets past it unnamed, and only it says who somebody is."""

import logging
from collections.abc import Collection, Iterator
from fnmatch import fnmatchcase
from typing import TYPE_CHECKING
from urllib.parse import parse_qsl, urlsplit

from starlette.datastructures import Headers
from starlette.requests import cookie_parser
from starlette.responses import JSONResponse

from chie.access.authentication import WHO, Authenticator
from chie.access.identity import NOBODY, User, become, local_user
from chie.errors import AuthenticationError, ChieError, ForbiddenError

if TYPE_CHECKING:
    from starlette.types import ASGIApp, Receive, Scope, Send

COOKIE = "chie_token"
OWN_HEADER = "x-chie-token"  # where a platform in front keeps `Authorization` for itself
USER = "chie.user"  # where a request's scope has the user; None for a stranger on a page that is open to all
OPEN = frozenset({"/health", "/api/login", "/api/logout"})
METADATA = "/.well-known/oauth-protected-resource"
SAFE = frozenset({"GET", "HEAD", "OPTIONS"})
SECRET_NAMES = frozenset({"access_token", "token", "api_key", "apikey", "key", "authorization", "id_token"})

IN_THE_ADDRESS = (
    "a token must never stand in an address, where logs and histories keep it. It was not used. "
    "Send it as `Authorization: Bearer TOKEN`, and have it revoked if it was real."
)
FOREIGN = "another web site may not use this Chie in your name. Open Chie's own page instead."
TOO_OFTEN = "too many requests. Wait as long as Retry-After says, then go on."

logger = logging.getLogger(__name__)


class Door:
    """`open_paths` are the files of the page itself, which hold nothing of the team's."""

    def __init__(self, app: "ASGIApp", authenticator: Authenticator, open_paths: Collection[str] = ()) -> None:
        self._app = app
        self._authenticator = authenticator
        self._open = OPEN | frozenset(open_paths)

    async def __call__(self, scope: "Scope", receive: "Receive", send: "Send") -> None:
        if scope["type"] == "websocket":  # nothing here speaks it
            return await send({"type": "websocket.close", "code": 1008})
        answer = await self._stop(scope) if scope["type"] == "http" else None
        return await (answer or self._app)(scope, receive, send)

    async def _stop(self, scope: "Scope") -> JSONResponse | None:
        """The answer to whoever may not pass; None lets them, and everything behind knows who they are."""
        if scope["path"].startswith(METADATA) and self._authenticator.settings.auth_issuer:
            return self._describe(scope)
        try:
            scope[USER] = user = await self._admit(scope) if self._authenticator.required else local_user()
        except ChieError as error:
            return self._refuse(scope, error)
        if user is None:
            become(NOBODY)
            return None
        if self._authenticator.required and (wait := self._authenticator.requests.take(user.id)):
            return refusal(scope, 429, TOO_OFTEN, {"Retry-After": str(wait)})
        become(user)
        return None

    async def _admit(self, scope: "Scope") -> User | None:
        """None is a stranger at a place that is open to all."""
        path, headers = scope["path"], Headers(scope=scope)
        is_open = path in self._open
        if _names_secret(scope["query_string"]):
            raise ForbiddenError(IN_THE_ADDRESS)
        try:
            return await self._first_known(scope, headers)
        except (AuthenticationError, ForbiddenError):
            if is_open:
                return None
            raise

    async def _first_known(self, scope: "Scope", headers: Headers) -> User:
        """A platform may need `Authorization` for itself, so one that is not ours does not hide the others."""
        reason: ChieError = AuthenticationError(WHO)
        for token, is_sent_unasked in self._tokens(scope, headers):
            try:
                user = await self._authenticator.user_of(token)
            except AuthenticationError as error:
                reason = reason if reason.message != WHO else error
                continue
            if is_sent_unasked:
                refuse_foreign(scope, self._authenticator.proxy.origins)
            return user
        raise reason

    def _tokens(self, scope: "Scope", headers: Headers) -> Iterator[tuple[str, bool]]:
        """What the request says of who it is, and whether a browser may have said it unasked."""
        if token := headers.get(OWN_HEADER):
            yield token.strip(), False
        scheme, _, token = headers.get("authorization", "").partition(" ")
        if scheme.lower() == "bearer" and token.strip():
            yield token.strip(), False
        named = self._authenticator.settings.auth_header.lower()
        if named != "authorization" and (token := headers.get(named)):
            yield token.removeprefix("Bearer ").strip(), True  # a proxy adds it to whatever a browser sends
        if (token := cookie_of(headers)) and (scope["method"] in SAFE or "origin" in headers):
            yield token, True

    def _refuse(self, scope: "Scope", error: ChieError) -> JSONResponse:
        if isinstance(error, ForbiddenError):
            return refusal(scope, 403, error.message)
        if not isinstance(error, AuthenticationError):
            logger.error("nobody can be let in: %s", error.message)
            return refusal(scope, 503, error.message)
        if error.message != WHO:
            if wait := failed_too_often(self._authenticator, scope):
                return refusal(scope, 429, TOO_OFTEN, {"Retry-After": str(wait)})
            logger.warning("a token was refused at %s", scope["path"])
        return refusal(scope, 401, error.message, {"WWW-Authenticate": self._challenge(scope, error.message)})

    def _describe(self, scope: "Scope") -> JSONResponse:
        """For MCP clients (RFC 9728): whose tokens this Chie takes."""
        about = {
            "resource": base_url(scope) + scope["path"].removeprefix(METADATA),
            "authorization_servers": [self._authenticator.settings.auth_issuer],
            "bearer_methods_supported": ["header"],
            "resource_name": "Chie",
        }
        return JSONResponse(about)

    def _challenge(self, scope: "Scope", message: str) -> str:
        parts = ['Bearer realm="Chie"']
        if message != WHO:
            parts.append('error="invalid_token"')
        if self._authenticator.settings.auth_issuer and scope["path"].startswith("/mcp"):
            parts.append(f'resource_metadata="{base_url(scope)}{METADATA}{scope["path"]}"')
        return ", ".join(parts)


def user_in(scope: "Scope") -> User | None:
    """Who the door let in; None is a stranger. Without a door there is only whoever runs the server."""
    user: User | None = scope.get(USER, local_user())
    return user


def failed_too_often(authenticator: Authenticator, scope: "Scope") -> int:
    """Counts one failure of this address; a token that is right is never refused for the failures of others."""
    client = scope.get("client")
    return authenticator.failures.take(client[0] if client else "?")


def refuse_foreign(scope: "Scope", allowed: Collection[str] = ()) -> None:
    """What a browser adds by itself counts only for pages of our own, not for those that CHIE_ALLOWED_ORIGINS names."""
    if not comes_from_us(scope, allowed):
        raise ForbiddenError(FOREIGN)


def comes_from_us(scope: "Scope", allowed: Collection[str] = ()) -> bool:
    """Browsers say which page a request comes from; what is no browser says nothing."""
    headers = Headers(scope=scope)
    origin = headers.get("origin")
    if origin is None:
        return headers.get("sec-fetch-site") in (None, "same-origin", "none")
    known = any(fnmatchcase(origin.lower(), pattern) for pattern in allowed)
    try:
        return known or urlsplit(origin).netloc.lower() == headers.get("host", "").lower()
    except ValueError:  # no browser writes such an address
        return False


def cookie_of(headers: Headers) -> str | None:
    """As browsers write them: a neighbour on the same host may have cookies that are not by the book."""
    return cookie_parser(headers.get("cookie", "")).get(COOKIE) or None


def base_url(scope: "Scope") -> str:
    headers = Headers(scope=scope)
    scheme = "https" if headers.get("x-forwarded-proto") == "https" else scope["scheme"]
    return f"{scheme}://{headers.get('host', '')}"


def refusal(scope: "Scope", status: int, message: str, headers: dict[str, str] | None = None) -> JSONResponse:
    """Hangs up where a body may follow, which nobody will read."""
    if scope["method"] not in SAFE:
        headers = {**(headers or {}), "Connection": "close"}
    body: dict[str, object] = {"detail": message}
    if scope["path"].startswith("/v1/"):
        body["error"] = {"message": message, "type": "invalid_request_error", "param": None, "code": None}
    return JSONResponse(body, status_code=status, headers=headers)


def _names_secret(query: bytes) -> bool:
    return any(name.lower() in SECRET_NAMES for name, _ in parse_qsl(query.decode("latin-1"), keep_blank_values=True))
