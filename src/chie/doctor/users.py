"""Checks of authentication: the list of users, and the identity provider."""

import asyncio
from collections.abc import Sequence

from chie.access.authentication import Authenticator
from chie.access.settings import AccessSettings
from chie.access.users import UserFile
from chie.doctor.finding import Finding
from chie.errors import ConfigurationError, ServiceError
from chie.messages.catalogue import Message
from chie.settings import load

NAME = "users"
PROVIDER = "identity provider"
ADD_USER = "chie users add NAME"
TIMEOUT_SECONDS = 25.0  # two requests to the provider, ten seconds each


async def check_users() -> Sequence[Finding]:
    settings = load(AccessSettings)
    Authenticator(settings)  # raises for conflicting settings
    file = UserFile(settings.users_path)
    if not file.exists and settings.auth_issuer is None:
        return [Finding(NAME, "off", Message("doctor.users_not_configured", command=ADD_USER))]
    return [await asyncio.to_thread(_check_file, file, settings), *await _check_provider(settings)]


def _check_file(file: UserFile, settings: AccessSettings) -> Finding:
    path = settings.users_path
    try:
        count = len(file.entries())
    except ConfigurationError as error:
        return Finding(NAME, "problem", error.reason, f'mv "{path}" "{path}.old" && {ADD_USER}')
    if count == 0 and settings.auth_issuer is None:
        return Finding(NAME, "problem", Message("doctor.users_empty", path=str(path)), ADD_USER)
    return Finding(NAME, "ok", Message("doctor.users_ok", count=count))


async def _check_provider(settings: AccessSettings) -> list[Finding]:
    if settings.auth_issuer is None:
        return []
    from chie.access.oidc import Verifier

    url = "$CHIE_AUTH_JWKS_URL" if settings.auth_jwks_url else "$CHIE_AUTH_ISSUER/.well-known/openid-configuration"
    try:
        count = await Verifier(settings).count_keys()
    except ServiceError as error:
        return [Finding(PROVIDER, "problem", error.reason, f'curl -sS "{url}"')]
    return [Finding(PROVIDER, "ok", Message("doctor.provider_ok", issuer=str(settings.auth_issuer), count=count))]
