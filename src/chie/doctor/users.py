"""Who may come in: the list of users, and the provider that knows them."""

import asyncio
from collections.abc import Sequence

from chie.access.authentication import Authenticator
from chie.access.settings import AccessSettings
from chie.access.users import UserFile
from chie.doctor.finding import Finding
from chie.errors import ConfigurationError, ServiceError
from chie.settings import load

NAME = "users"
ADD = "chie users add NAME"
SECONDS = 25.0  # a provider is asked for two documents, ten seconds each


async def check_users() -> Sequence[Finding]:
    settings = load(AccessSettings)
    Authenticator(settings)  # which refuses settings that do not go together
    file = UserFile(settings.users_path)
    if not file.exists and settings.auth_issuer is None:
        return [Finding(NAME, "off", f"Nobody is asked who they are. For that: {ADD}")]
    return [await asyncio.to_thread(_look_at_list, file, settings), *await _ask_provider(settings)]


def _look_at_list(file: UserFile, settings: AccessSettings) -> Finding:
    path = settings.users_path
    try:
        count = len(file.entries())
    except ConfigurationError as error:
        return Finding(NAME, "problem", error.message, f'mv "{path}" "{path}.old" && {ADD}')
    if count == 0 and settings.auth_issuer is None:
        return Finding(NAME, "problem", f"{path} names nobody, so nobody gets in.", ADD)
    return Finding(NAME, "ok", f"with a token: {count}.")


async def _ask_provider(settings: AccessSettings) -> list[Finding]:
    if settings.auth_issuer is None:
        return []
    from chie.access.oidc import Verifier

    asked = "$CHIE_AUTH_JWKS_URL" if settings.auth_jwks_url else "$CHIE_AUTH_ISSUER/.well-known/openid-configuration"
    try:
        keys = await Verifier(settings).count_keys()
    except ServiceError as error:
        return [Finding("sign-in provider", "problem", error.message, f'curl -sS "{asked}"')]
    return [Finding("sign-in provider", "ok", f"{settings.auth_issuer} answers; its keys: {keys}.")]
