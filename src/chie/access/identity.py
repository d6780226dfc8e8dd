"""The current user. The edges (HTTP, MCP, command line) set it; every module reads it with `current_user`."""

import os
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING

from chie.errors import AuthenticationError

if TYPE_CHECKING:
    from starlette.types import Scope

ANONYMOUS = "anonymous"
USER_KEY = "chie.user"  # the user in an ASGI scope; None for an unauthenticated request to a public path


@dataclass(frozen=True, slots=True)
class User:
    """`id` is stored with what the user writes; an `admin` may also change what others wrote for the team.

    `spaces` limits a token to the notes of these spaces, to "read" or "write" them; None is no limit.
    """

    id: str
    admin: bool = False
    spaces: tuple[tuple[str, str], ...] | None = None


UNAUTHENTICATED = User("")  # the caller of a public path without a token: owns nothing, may change nothing

_user: ContextVar[User | None] = ContextVar("chie_user", default=None)


def current_user() -> User:
    """The user whom the edge authenticated; on the command line and on stdio, the one that the environment names."""
    return _user.get() or local_user()


def known_user() -> User:
    """As `current_user`, for operations that need authentication."""
    user = current_user()
    if user == UNAUTHENTICATED:
        raise AuthenticationError("access.sign_in_to_write")
    return user


def user_in(scope: "Scope") -> User | None:
    """The authenticated user of a request; None without one. Without authentication middleware, the local user."""
    user: User | None = scope[USER_KEY] if USER_KEY in scope else local_user()
    return user


def become(user: User) -> None:
    """Set the user for the rest of this context: a request, or a task."""
    _user.set(user)


@contextmanager
def acting_as(user: User) -> Iterator[None]:
    token = _user.set(user)
    try:
        yield
    finally:
        _user.reset(token)


def local_user() -> User:
    """The user that `CHIE_USER` names. Without it the operator is the only user, and an admin."""
    return _load_local_user(*map(os.environ.get, ("CHIE_USER", "CHIE_USER_ADMIN", "CHIE_HOME")))


@lru_cache(maxsize=8)
def _load_local_user(*_: object) -> User:
    """Loads the settings once per environment, so that a search does not wait for `.env`."""
    from chie.access.settings import AccessSettings
    from chie.settings import load

    settings = load(AccessSettings)
    return User(settings.user, settings.user_admin or settings.user == ANONYMOUS)
