"""Connections of single users to remote servers at which they have logged in. Tools and tokens are theirs alone."""

import asyncio
from pathlib import Path
from typing import TYPE_CHECKING

from chie.access.identity import current_user, known_user
from chie.chat.toolbox.connection import Connection
from chie.chat.toolbox.hint_pins import HintPins
from chie.chat.toolbox.logins import Login, LoginStore, UserLogin
from chie.chat.toolbox.transport import LOGIN_REQUIRED, Http
from chie.errors import ConflictError, NotFoundError
from chie.web_fetch.url_policy import UrlPolicy

if TYPE_CHECKING:
    from collections.abc import Mapping

    from chie.chat.toolbox.oauth import OAuthLogins
    from chie.chat.toolbox.servers_file import ServerSpec


class UserConnections:
    """`specs` are the servers over HTTP. Without a store, nobody is logged in anywhere."""

    def __init__(self, specs: "Mapping[str, ServerSpec]", timeout: float, pins: Path | None, policy: UrlPolicy) -> None:
        self._specs = {name: spec for name, spec in specs.items() if spec.url}
        self._added: dict[str, ServerSpec] = {}
        self._timeout = timeout
        self._pins = pins
        self._policy = policy
        self._store: LoginStore | None = None
        self._connections: dict[tuple[str, str], Connection] = {}

    async def know(self, added: "Mapping[str, ServerSpec]") -> None:
        """The servers that an admin has added. Users are disconnected from those that have changed or are gone."""
        before, self._added = self._added, dict(added)
        for key in [key for key in self._connections if before.get(key[0]) != self._added.get(key[0])]:
            await self._drop(key)
        self._specs = {**{name: spec for name, spec in self._specs.items() if name not in before}, **added}

    def use(self, store: LoginStore) -> None:
        self._store = store

    def find(self, name: str) -> Connection | None:
        """The open connection of the current user."""
        return self._connections.get((name, current_user().id))

    async def open(self, name: str) -> Connection | None:
        """The connection of the current user, not started yet if it is new; None without a login."""
        key, login = (name, current_user().id), await self._login(name)
        known = self._connections.get(key)
        if login is None or not login.is_complete:
            await self._drop(key)
            return None
        if known is not None and not _wants_login(known):
            return known
        await self._drop(key)
        self._connections[key] = self._create(name, login)
        return self._connections[key]

    async def logged_in(self) -> set[str]:
        """The servers at which the current user has logged in."""
        logins = {name: await self._login(name) for name in self._specs}
        return {name for name, login in logins.items() if login and login.is_complete}

    async def start_login(self, name: str, redirect_uri: str, metadata_url: str) -> str:
        """The URL at the provider where the user logs in."""
        known_user()
        return await self._oauth(name).start(self._user_login(name), redirect_uri, metadata_url)

    async def finish_login(self, state: str, code: str, issuer: str | None) -> Connection:
        """The user is back with a code. Only the user who started the login can finish it, and only once."""
        name = await self._take(state)
        await self._oauth(name).finish(self._user_login(name), code, issuer)
        await self._drop((name, known_user().id))
        connection = await self.open(name)
        if connection is None:
            raise ConflictError("toolbox.login_expired", server=name)
        return connection

    async def cancel_login(self, state: str) -> None:
        """The provider has refused, or the user. The state cannot be used again."""
        await self._take(state)

    async def log_out(self, name: str) -> None:
        """Disconnect, revoke the tokens where the provider lets us, and delete them."""
        oauth, login = self._oauth(name), await self._login(name)
        await self._drop((name, known_user().id))
        await self._user_login(name).delete()
        if login is not None:
            await oauth.revoke(login)

    async def stop(self) -> None:
        await asyncio.gather(*(self._drop(key) for key in list(self._connections)))

    async def _drop(self, key: tuple[str, str]) -> None:
        if (known := self._connections.pop(key, None)) is not None:
            await known.stop()

    async def _take(self, state: str) -> str:
        name = await self._stored().take(known_user().id, state)
        if name is None or name not in self._specs:
            raise NotFoundError("toolbox.login_unknown")
        return name

    async def _login(self, name: str) -> Login | None:
        return None if self._store is None or name not in self._specs else await self._user_login(name).load()

    def _user_login(self, name: str) -> UserLogin:
        return UserLogin(self._stored(), current_user().id, name, self._specs[name].url or "")

    def _stored(self) -> LoginStore:
        if self._store is None:
            raise NotFoundError("toolbox.login_unknown")
        return self._store

    def _oauth(self, name: str) -> "OAuthLogins":
        from chie.chat.toolbox.oauth import OAuthLogins

        if name not in self._specs:
            raise NotFoundError("toolbox.server_not_found")
        return OAuthLogins(name, self._specs[name], self._policy)

    def _create(self, name: str, login: Login) -> Connection:
        from chie.chat.toolbox.oauth import UserAuth

        spec = self._specs[name]
        auth = UserAuth(self._user_login(name), login)
        pins = HintPins(name, spec, self._pins)
        return Connection(name, Http(spec, self._policy, auth), timeout=spec.timeout or self._timeout, pins=pins)


def _wants_login(connection: Connection) -> bool:
    error = connection.state.error
    return error is not None and error.code == LOGIN_REQUIRED
