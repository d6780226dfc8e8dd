"""Finds the user of a token. One `Authenticator` serves the whole app; every edge uses it."""

import logging
from typing import TYPE_CHECKING

from chie.access.identity import ANONYMOUS, User
from chie.access.proxy import load_proxy
from chie.access.rate_limits import RateLimit
from chie.access.settings import AccessSettings
from chie.access.users import TOKEN_PREFIX, UserFile
from chie.errors import AuthenticationError, ConfigurationError, ServiceError
from chie.settings import load

if TYPE_CHECKING:
    from chie.access.oidc import Verifier

MAX_TOKEN_LENGTH = 16_384
FAILURES_PER_MINUTE, FAILURE_BURST = 6, 20

logger = logging.getLogger(__name__)


class Authenticator:
    """Authentication, once required, stays required until the process ends, even if the user file is deleted."""

    def __init__(self, settings: AccessSettings) -> None:
        self.settings = settings
        self.proxy = load_proxy()
        self.requests = RateLimit(settings.rate_limit, settings.rate_burst)
        self.failures = RateLimit(FAILURES_PER_MINUTE, FAILURE_BURST)
        self._users = UserFile(settings.users_path)
        self._verifier = _verifier(settings)
        self._required = self._verifier is not None

    @property
    def required(self) -> bool:
        if not self._required:
            self._required = self._users.exists
        return self._required

    @property
    def allows_remote(self) -> bool:
        """Whether callers are authenticated, here or by a proxy, so that other machines may connect."""
        return self.required or self.proxy.behind_proxy_auth

    async def user_of(self, token: str) -> User:
        """AuthenticationError for a token that belongs to no user."""
        if not token or len(token) > MAX_TOKEN_LENGTH:
            raise AuthenticationError("access.token_unknown")
        if token.startswith(TOKEN_PREFIX) or self._verifier is None:
            user = self._find(token)
        else:
            user = await self._verifier.user_of(token)
        if user is None or user.id == ANONYMOUS:
            raise AuthenticationError("access.token_unknown")
        return user

    def is_revoked(self, token: str) -> bool:
        """Whether a token of the user file, once valid, is no longer in it. False while the file cannot be read."""
        try:
            return self._users.find(token) is None
        except ConfigurationError:
            return False

    def _find(self, token: str) -> User | None:
        """The file's path is for the operator's log, not for a caller without a valid token."""
        try:
            return self._users.find(token)
        except ConfigurationError as error:
            logger.error("%s [%s]", error.message, error.code)  # noqa: TRY400 - the message names the cause
            raise ServiceError("access.users_unavailable") from error


def load_authenticator() -> Authenticator:
    return Authenticator(load(AccessSettings))


def _verifier(settings: AccessSettings) -> "Verifier | None":
    """Imports no cryptography unless an issuer is set."""
    if settings.auth_issuer is None:
        if settings.auth_jwks_url or settings.auth_audience:
            raise ConfigurationError("access.issuer_missing")
        return None
    if not settings.auth_audience:
        raise ConfigurationError("access.audience_missing")
    from chie.access.oidc import Verifier

    return Verifier(settings)
