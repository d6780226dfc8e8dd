"""The users that exist, where that can be told."""

from chie.access.identity import ANONYMOUS, local_user
from chie.access.proxy import load_proxy
from chie.access.settings import AccessSettings
from chie.access.users import UserFile
from chie.errors import ConfigurationError
from chie.settings import load


def known_users() -> set[str] | None:
    """The names in `users.json`; None if an OIDC provider or a proxy has users of its own, or if there are none."""
    settings = load(AccessSettings)
    file = UserFile(settings.users_path)
    if settings.auth_issuer or load_proxy().behind_proxy_auth or not file.exists:
        return None
    try:
        names = {entry.name for entry in file.entries()}
    except ConfigurationError:
        return None
    return names | {ANONYMOUS, local_user().id}
