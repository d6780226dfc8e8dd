"""Verifies JWTs of an OIDC provider with its published keys. Imported only if an issuer is set."""

import asyncio
import json
import logging
from collections.abc import Iterator, Mapping
from contextlib import suppress
from time import monotonic
from typing import Any
from urllib.parse import urlsplit

import httpx2
import jwt

from chie import background
from chie.access.identity import User
from chie.access.settings import AccessSettings
from chie.errors import AuthenticationError, ConfigurationError, ServiceError
from chie.http.values import is_loopback

ALGORITHMS = ("RS256", "RS384", "RS512", "PS256", "PS384", "PS512", "ES256", "ES384", "ES512", "EdDSA")
FRESH_SECONDS = 3_600.0  # after that, keys are fetched again
STALE_SECONDS = 86_400.0  # how long keys are used while the provider does not respond
FETCH_INTERVAL_SECONDS = 30.0  # at least, however many unknown key ids the tokens name
FETCH_TIMEOUT_SECONDS = 10.0
MAX_DOCUMENT_BYTES = 1024 * 1024
MAX_USER_ID_LENGTH = 200
FETCH_ERRORS = (httpx2.HTTPError, ValueError, TypeError, KeyError, AttributeError)  # no response, or a malformed one

logger = logging.getLogger(__name__)


class KeySet:
    """The provider's public keys by key id."""

    def __init__(self, issuer: str, url: str | None) -> None:
        self._issuer = issuer
        self._url = url
        self._keys: Mapping[str, jwt.PyJWK] = {}
        self._fetched = self._asked = float("-inf")
        self._lock = asyncio.Lock()
        self._renewal: asyncio.Task[None] | None = None  # the event loop keeps only a weak reference

    async def key(self, name: str | None) -> jwt.PyJWK | None:
        """None for an unknown key, after fetching the keys again. A known key is returned at once and renewed later."""
        age = monotonic() - self._fetched
        known = self._find(name) if age <= STALE_SECONDS else None
        if known is not None:
            if age > FRESH_SECONDS:
                self._renew(name)
            return known
        await self._refresh(name)
        if monotonic() - self._fetched > STALE_SECONDS:
            raise ServiceError("access.provider_keys_unavailable")
        return self._find(name)

    async def count(self) -> int:
        """The number of keys that the provider publishes now."""
        try:
            return len(await self._fetch())
        except FETCH_ERRORS as error:
            raise ServiceError("access.provider_keys_not_fetched", error=type(error).__name__) from error

    def _find(self, name: str | None) -> jwt.PyJWK | None:
        if name is None:  # valid if the provider has only one key
            return next(iter(self._keys.values())) if len(self._keys) == 1 else None
        return self._keys.get(name)

    def _renew(self, name: str | None) -> None:
        is_running = self._renewal is not None and not self._renewal.done()
        if not is_running and monotonic() - self._asked >= FETCH_INTERVAL_SECONDS:
            self._renewal = background.once(self._refresh(name), "oidc-keys")

    async def _refresh(self, name: str | None) -> None:
        async with self._lock:
            now = monotonic()
            fresh = now - self._fetched <= FRESH_SECONDS
            if (fresh and self._find(name) is not None) or now - self._asked < FETCH_INTERVAL_SECONDS:
                return
            self._asked = now
            try:
                self._keys = await self._fetch()
                self._fetched = now
            except FETCH_ERRORS as error:
                logger.warning("cannot fetch the keys of the OIDC provider: %s", type(error).__name__)

    async def _fetch(self) -> Mapping[str, jwt.PyJWK]:
        async with httpx2.AsyncClient(timeout=FETCH_TIMEOUT_SECONDS, follow_redirects=False, trust_env=True) as client:
            if self._url is None:
                self._url = await self._discover(client)
            found = await _json(client, self._url)
        return dict(_keys(found["keys"]))

    async def _discover(self, client: httpx2.AsyncClient) -> str:
        about = await _json(client, f"{self._issuer.rstrip('/')}/.well-known/openid-configuration")
        if about.get("issuer", "").rstrip("/") != self._issuer.rstrip("/"):
            raise ValueError("the discovery document belongs to another issuer")
        return require_https("jwks_uri", str(about["jwks_uri"]))


class Verifier:
    def __init__(self, settings: AccessSettings) -> None:
        self._settings = settings
        issuer = require_https("CHIE_AUTH_ISSUER", settings.auth_issuer or "")
        url = settings.auth_jwks_url
        self._keys = KeySet(issuer, require_https("CHIE_AUTH_JWKS_URL", url) if url else None)

    async def user_of(self, token: str) -> User:
        """Uses the key's own algorithm, never the one in the token's header."""
        try:
            header = jwt.get_unverified_header(token)
            if header.get("alg") not in ALGORITHMS:
                raise AuthenticationError("access.token_invalid")
            key = await self._keys.key(header.get("kid"))
            if key is None:
                raise AuthenticationError("access.token_invalid")
            return self._user(self._claims(token, key))
        except jwt.ExpiredSignatureError as error:
            raise AuthenticationError("access.token_expired") from error
        except (jwt.PyJWTError, ValueError, TypeError) as error:
            logger.info("rejected a JWT: %s", type(error).__name__)
            raise AuthenticationError("access.token_invalid") from error

    async def count_keys(self) -> int:
        return await self._keys.count()

    def _claims(self, token: str, key: jwt.PyJWK) -> dict[str, Any]:
        if key.algorithm_name not in ALGORITHMS:
            raise AuthenticationError("access.token_invalid")
        return jwt.decode(
            token,
            key,
            algorithms=[key.algorithm_name],
            audience=self._settings.auth_audience,
            issuer=self._settings.auth_issuer,
            leeway=self._settings.auth_leeway,
            options={"require": ["exp", "iss", "aud"]},
        )

    def _user(self, claims: dict[str, Any]) -> User:
        name = self._settings.auth_user_claim
        found = _claim(claims, name)
        if not isinstance(found, str) or not 0 < len(found) <= MAX_USER_ID_LENGTH or not found.isprintable():
            raise AuthenticationError("access.token_without_user", claim=name)
        if name == "email":
            if claims.get("email_verified", True) not in (True, "true"):
                raise AuthenticationError("access.email_not_verified")
            found = found.lower()
        return User(found, self._is_admin(claims))

    def _is_admin(self, claims: dict[str, Any]) -> bool:
        if self._settings.auth_admin_claim is None:
            return False
        found = _claim(claims, self._settings.auth_admin_claim)
        value = self._settings.auth_admin_value
        return value in found if isinstance(found, list) else found == value


def require_https(name: str, url: str) -> str:
    """Keys fetched without TLS could be replaced on the way; only loopback may use http."""
    parts = urlsplit(url)
    if parts.hostname and (parts.scheme == "https" or (parts.scheme == "http" and is_loopback(parts.hostname))):
        return url
    raise ConfigurationError("access.url_not_https", name=name)


def _keys(rows: list[dict[str, Any]]) -> Iterator[tuple[str, jwt.PyJWK]]:
    """The signature keys of supported types; a provider may publish others."""
    for number, row in enumerate(rows):
        if row.get("kty") in ("RSA", "EC", "OKP") and row.get("use", "sig") == "sig":
            with suppress(jwt.PyJWTError):
                yield str(row.get("kid", f"#{number}")), jwt.PyJWK(row)


def _claim(claims: dict[str, Any], path: str) -> object:
    """Tries the whole name first: some providers use URLs, with dots in them, as claim names."""
    if path in claims:
        return claims[path]
    found: object = claims
    for part in path.split("."):
        found = found.get(part) if isinstance(found, dict) else None
    return found


async def _json(client: httpx2.AsyncClient, url: str) -> dict[str, Any]:
    content = b""
    async with client.stream("GET", url) as response:
        response.raise_for_status()
        async for chunk in response.aiter_bytes():
            content += chunk
            if len(content) > MAX_DOCUMENT_BYTES:
                raise ValueError("the document is too large")
    return dict(json.loads(content))
