"""Connections of single users to remote servers at which they have logged in. Tools and tokens are theirs alone."""

from pathlib import Path
from typing import TYPE_CHECKING

from chie.access.identity import current_user, known_user
from chie.chat.toolbox.connection import ClosingConnections, Connection
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
        self._closing = ClosingConnections()
        self._store: LoginStore | None = None
        self._connections: dict[tuple[str, str], Connection] = {}

    def know(self, added: "Mapping[str, ServerSpec]") -> None:
        """The servers that an admin has added. Users are disconnected from those that have changed or are gone."""
        before, self._added = self._added, dict(added)
        self._specs = {**{name: spec for name, spec in self._specs.items() if name not in before}, **added}
        for key in [key for key in self._connections if before.get(key[0]) != self._added.get(key[0])]:
            self._drop(key)

    def use(self, store: LoginStore) -> None:
        self._store = store

    def find(self, name: str) -> Connection | None:
        """The open connection of the current user."""
        return self._connections.get((name, current_user().id))

    async def open(self, name: str) -> Connection | None:
        """The connection of the current user, not started yet if it is new; None without a login."""
        key, login = (name, current_user().id), await self._login(name)
        # Nothing is awaited from here on: two requests of a user must not both create a connection.
        spec = self._specs.get(name)
        if spec is None or login is None or not login.is_complete or login.url != spec.url:
            self._drop(key)
            return None
        known = self._connections.get(key)
        if known is None or _wants_login(known):
            self._drop(key)
            self._connections[key] = self._create(name, spec, login)
        return self._connections[key]

    async def logged_in(self) -> set[str]:
        """The servers at which the current user has logged in."""
        logins = {name: await self._login(name) for name in list(self._specs)}
        return {name for name, login in logins.items() if login and login.is_complete}

    async def start_login(self, name: str, redirect_uri: str, metadata_url: str) -> str:
        """The URL at the provider where the user logs in."""
        known_user()
        return await self._oauth(name).start(self._user_login(name), redirect_uri, metadata_url)

    async def take(self, state: str) -> str:
        """The server of the login with this state, which cannot be used again. Only the user who started it has it."""
        name = await self._stored().take(known_user().id, state)
        if name is None:
            raise NotFoundError("toolbox.login_unknown")
        return name

    async def finish_login(self, name: str, code: str, issuer: str | None) -> Connection:
        """The user is back with a code, perhaps at another process than the one where they began."""
        await self._oauth(name).finish(self._user_login(name), code, issuer)
        self._drop((name, known_user().id))
        connection = await self.open(name)
        if connection is None:
            raise ConflictError("toolbox.login_expired", server=name)
        return connection

    async def log_out(self, name: str) -> None:
        """Disconnect, revoke the tokens where the provider lets us, and delete them."""
        oauth, user_login = self._oauth(name), self._user_login(name)
        login = await user_login.load()
        self._drop((name, known_user().id))
        await user_login.delete()
        if login is not None:
            await oauth.revoke(login)

    async def stop(self) -> None:
        for key in list(self._connections):
            self._drop(key)
        await self._closing.wait()

    def _drop(self, key: tuple[str, str]) -> None:
        if (known := self._connections.pop(key, None)) is not None:
            self._closing.add(known)

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

    def _create(self, name: str, spec: "ServerSpec", login: Login) -> Connection:
        from chie.chat.toolbox.oauth import UserAuth

        auth = UserAuth(self._user_login(name), login)
        pins = HintPins(name, spec, self._pins)
        return Connection(name, Http(spec, self._policy, auth), timeout=spec.timeout or self._timeout, pins=pins)


def _wants_login(connection: Connection) -> bool:
    error = connection.state.error
    return error is not None and error.code == LOGIN_REQUIRED
