"""Who is asking. Every room reads it with `current_user`; only the edges of the house say it."""

import os
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from functools import lru_cache

from chie.errors import AuthenticationError

ANONYMOUS = "anonymous"


@dataclass(frozen=True, slots=True)
class User:
    """`id` stands on what they write; an `admin` may also change what others wrote for the team."""

    id: str
    admin: bool = False


NOBODY = User("")  # a stranger at a place that is open to all: has nothing, may change nothing

_user: ContextVar[User | None] = ContextVar("chie_user", default=None)


def current_user() -> User:
    """Whoever the edge let in; on the command line and on stdio, whoever the environment names."""
    return _user.get() or local_user()


def known_user() -> User:
    """As `current_user`, for what nobody may do unnamed."""
    user = current_user()
    if user == NOBODY:
        raise AuthenticationError("who are you? Nothing can be written without a name. Sign in, then try again.")
    return user


def become(user: User) -> None:
    """For the rest of this context: a request, or a task."""
    _user.set(user)


@contextmanager
def acting_as(user: User) -> Iterator[None]:
    token = _user.set(user)
    try:
        yield
    finally:
        _user.reset(token)


def local_user() -> User:
    """Whoever runs Chie and names nobody is its only user, and may do everything."""
    return _named(*map(os.environ.get, ("CHIE_USER", "CHIE_USER_ADMIN", "CHIE_HOME")))


@lru_cache(maxsize=8)
def _named(*_: object) -> User:
    """The settings, read once for each environment: a search shall not wait for `.env`."""
    from chie.access.settings import AccessSettings
    from chie.settings import load

    settings = load(AccessSettings)
    return User(settings.user, settings.user_admin or settings.user == ANONYMOUS)
