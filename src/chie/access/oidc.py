"""JWTs of an OIDC provider, checked with the keys that it publishes. Imported only where an issuer is set."""

import asyncio
import ipaddress
import json
import logging
from collections.abc import Iterator, Mapping
from contextlib import suppress
from time import monotonic
from typing import Any
from urllib.parse import urlsplit

import httpx2
import jwt

from chie.access.identity import User
from chie.access.settings import AccessSettings
from chie.errors import AuthenticationError, ConfigurationError, ServiceError

ALGORITHMS = ("RS256", "RS384", "RS512", "PS256", "PS384", "PS512", "ES256", "ES384", "ES512", "EdDSA")
FRESH_SECONDS = 3_600.0  # keys are asked for again after that
STALE_SECONDS = 86_400.0  # and used for that long while the provider does not answer
PAUSE_SECONDS = 30.0  # between two questions, however many unknown keys strangers name
TIMEOUT = 10.0
LARGEST = 1024 * 1024
LONGEST_ID = 200
UNFIT = (httpx2.HTTPError, ValueError, TypeError, KeyError, AttributeError)  # no answer, or not the one we need

EXPIRED = "this token has expired. Sign in at your provider again and send the new one."
REFUSED = (
    "this token was not accepted: it must be a JWT that the configured provider signed for this Chie and that has "
    "not expired. Sign in at your provider again and send the new one."
)

logger = logging.getLogger(__name__)


class KeySet:
    """The provider's public keys by name."""

    def __init__(self, issuer: str, url: str | None) -> None:
        self._issuer = issuer
        self._url = url
        self._keys: Mapping[str, jwt.PyJWK] = {}
        self._fetched = self._asked = float("-inf")
        self._lock = asyncio.Lock()
        self._renewal: asyncio.Task[None] | None = None  # the loop alone would let go of it

    async def key(self, name: str | None) -> jwt.PyJWK | None:
        """A key that is not known may be new: the provider is asked, but not more than once in a while.

        For one that is known nobody waits: the keys are renewed meanwhile.
        """
        age = monotonic() - self._fetched
        known = self._find(name) if age <= STALE_SECONDS else None
        if known is not None:
            if age > FRESH_SECONDS:
                self._renew(name)
            return known
        await self._refresh(name)
        if monotonic() - self._fetched > STALE_SECONDS:
            raise ServiceError(
                "the sign-in provider's keys cannot be fetched, so no token of it can be checked. Try again soon; "
                "whoever runs this Chie finds the reason in its log."
            )
        return self._find(name)

    async def count(self) -> int:
        """How many the provider has now; ServiceError where it does not say."""
        try:
            return len(await self._fetch())
        except UNFIT as error:
            raise ServiceError(
                f"the keys of the sign-in provider cannot be fetched ({type(error).__name__}), so nobody whom it "
                "knows gets in. Check CHIE_AUTH_ISSUER, CHIE_AUTH_JWKS_URL and the network."
            ) from error

    def _find(self, name: str | None) -> jwt.PyJWK | None:
        if name is None:  # allowed where there is only one key to choose from
            return next(iter(self._keys.values())) if len(self._keys) == 1 else None
        return self._keys.get(name)

    def _renew(self, name: str | None) -> None:
        under_way = self._renewal is not None and not self._renewal.done()
        if not under_way and monotonic() - self._asked >= PAUSE_SECONDS:
            self._renewal = asyncio.create_task(self._refresh(name))
            self._renewal.add_done_callback(_tell_failure)

    async def _refresh(self, name: str | None) -> None:
        async with self._lock:
            now = monotonic()
            fresh = now - self._fetched <= FRESH_SECONDS
            if (fresh and self._find(name) is not None) or now - self._asked < PAUSE_SECONDS:
                return
            self._asked = now
            try:
                self._keys = await self._fetch()
                self._fetched = now
            except UNFIT as error:
                logger.warning("the keys of the sign-in provider could not be fetched: %s", type(error).__name__)

    async def _fetch(self) -> Mapping[str, jwt.PyJWK]:
        async with httpx2.AsyncClient(timeout=TIMEOUT, follow_redirects=False, trust_env=True) as client:
            if self._url is None:
                self._url = await self._discover(client)
            found = await _json(client, self._url)
        return dict(_keys(found["keys"]))

    async def _discover(self, client: httpx2.AsyncClient) -> str:
        about = await _json(client, f"{self._issuer.rstrip('/')}/.well-known/openid-configuration")
        if about.get("issuer", "").rstrip("/") != self._issuer.rstrip("/"):
            raise ValueError("the document is about another issuer")
        return require_safe("the provider's jwks_uri", str(about["jwks_uri"]))


class Verifier:
    def __init__(self, settings: AccessSettings) -> None:
        self._settings = settings
        issuer = require_safe("CHIE_AUTH_ISSUER", settings.auth_issuer or "")
        url = settings.auth_jwks_url
        self._keys = KeySet(issuer, require_safe("CHIE_AUTH_JWKS_URL", url) if url else None)

    async def user_of(self, token: str) -> User:
        """The algorithm is the key's own, never what the token says of itself."""
        try:
            header = jwt.get_unverified_header(token)
            if header.get("alg") not in ALGORITHMS:
                raise AuthenticationError(REFUSED)
            key = await self._keys.key(header.get("kid"))
            if key is None:
                raise AuthenticationError(REFUSED)
            return self._user(self._claims(token, key))
        except jwt.ExpiredSignatureError as error:
            raise AuthenticationError(EXPIRED) from error
        except (jwt.PyJWTError, ValueError, TypeError) as error:
            logger.info("a JWT was refused: %s", type(error).__name__)
            raise AuthenticationError(REFUSED) from error

    async def count_keys(self) -> int:
        return await self._keys.count()

    def _claims(self, token: str, key: jwt.PyJWK) -> dict[str, Any]:
        if key.algorithm_name not in ALGORITHMS:
            raise AuthenticationError(REFUSED)
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
        if not isinstance(found, str) or not 0 < len(found) <= LONGEST_ID or not found.isprintable():
            raise AuthenticationError(f"this token names no user: its claim {name} is wanting. Ask for another one.")
        if name == "email":
            if claims.get("email_verified", True) not in (True, "true"):
                raise AuthenticationError("this token's e-mail address is not verified. Verify it at your provider.")
            found = found.lower()
        return User(found, self._is_admin(claims))

    def _is_admin(self, claims: dict[str, Any]) -> bool:
        if self._settings.auth_admin_claim is None:
            return False
        found = _claim(claims, self._settings.auth_admin_claim)
        wanted = self._settings.auth_admin_value
        return wanted in found if isinstance(found, list) else found == wanted


def _tell_failure(renewal: "asyncio.Task[None]") -> None:
    """Nobody waits for it, so nobody else would hear of what it did not expect."""
    if not renewal.cancelled() and (error := renewal.exception()):
        logger.error("the keys of the sign-in provider could not be renewed", exc_info=error)


def require_safe(name: str, url: str) -> str:
    """Keys that somebody on the way can exchange are worth nothing: only this machine may do without TLS."""
    parts = urlsplit(url)
    if parts.hostname and (parts.scheme == "https" or (parts.scheme == "http" and _is_loopback(parts.hostname))):
        return url
    raise ConfigurationError(f"{name} is not an https:// address. Correct it.")


def _keys(rows: list[dict[str, Any]]) -> Iterator[tuple[str, jwt.PyJWK]]:
    """Those for signatures, of a kind that we know; a provider may have others for other purposes."""
    for number, row in enumerate(rows):
        if row.get("kty") in ("RSA", "EC", "OKP") and row.get("use", "sig") == "sig":
            with suppress(jwt.PyJWTError):
                yield str(row.get("kid", f"#{number}")), jwt.PyJWK(row)


def _is_loopback(host: str) -> bool:
    try:
        return host == "localhost" or ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False


def _claim(claims: dict[str, Any], path: str) -> object:
    """By its whole name first: some providers have claims that are URLs, with dots in them."""
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
            if len(content) > LARGEST:
                raise ValueError("the document is too long")
    return dict(json.loads(content))
