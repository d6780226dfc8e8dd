"""Decides who a token belongs to. One for the house; every way in asks it."""

import logging
from typing import TYPE_CHECKING

from chie.access.identity import ANONYMOUS, User
from chie.access.proxy import load_proxy
from chie.access.rate_limits import Limit
from chie.access.settings import AccessSettings
from chie.access.users import PREFIX, UserFile
from chie.errors import AuthenticationError, ConfigurationError, ServiceError
from chie.settings import load

if TYPE_CHECKING:
    from chie.access.oidc import Verifier

LONGEST_TOKEN = 16_384
FAILURES_PER_MINUTE, FAILURES_AT_ONCE = 6, 20

WHO = (
    "who are you? Send your token as `Authorization: Bearer TOKEN`. "
    "Whoever runs this Chie makes one with `chie users add NAME`."
)
UNKNOWN = "this token is not, or no longer, one that opens this Chie. Ask whoever runs it for a new one."

SHUT = "the list of users cannot be read, so nobody is let in. Whoever runs this Chie learns from `chie doctor` why."

logger = logging.getLogger(__name__)


class Authenticator:
    """Once somebody has to say who they are, they have to until the process ends, whatever becomes of the file."""

    def __init__(self, settings: AccessSettings) -> None:
        self.settings = settings
        self.proxy = load_proxy()
        self.origins = (*settings.allowed_origins, *self.proxy.origins)
        self.requests = Limit(settings.rate_limit, settings.rate_burst)
        self.failures = Limit(FAILURES_PER_MINUTE, FAILURES_AT_ONCE)
        self._users = UserFile(settings.users_path)
        self._verifier = _verifier(settings)
        self._required = self._verifier is not None

    @property
    def required(self) -> bool:
        if not self._required:
            self._required = self._users.exists
        return self._required

    async def user_of(self, token: str) -> User:
        """AuthenticationError where the token is nobody's."""
        if not token or len(token) > LONGEST_TOKEN:
            raise AuthenticationError(UNKNOWN)
        if token.startswith(PREFIX) or self._verifier is None:
            user = self._find(token)
        else:
            user = await self._verifier.user_of(token)
        if user is None or user.id == ANONYMOUS:
            raise AuthenticationError(UNKNOWN)
        return user

    def _find(self, token: str) -> User | None:
        """Where the file is, is the operator's to know, not a stranger's."""
        try:
            return self._users.find(token)
        except ConfigurationError as error:
            logger.error("%s", error.message)  # noqa: TRY400 - the cause is in the words
            raise ServiceError(SHUT) from error


def load_authenticator() -> Authenticator:
    return Authenticator(load(AccessSettings))


def _verifier(settings: AccessSettings) -> "Verifier | None":
    """Loads no cryptography where no issuer is named."""
    if settings.auth_issuer is None:
        if settings.auth_jwks_url or settings.auth_audience:
            raise ConfigurationError(
                "CHIE_AUTH_AUDIENCE or CHIE_AUTH_JWKS_URL is set without CHIE_AUTH_ISSUER. Name the issuer too."
            )
        return None
    if not settings.auth_audience:
        raise ConfigurationError(
            "CHIE_AUTH_ISSUER is set without CHIE_AUTH_AUDIENCE. Name it, or tokens that were made for any other "
            "program of the same provider would open this one."
        )
    from chie.access.oidc import Verifier

    return Verifier(settings)
