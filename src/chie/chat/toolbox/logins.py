"""A user's login at a remote server, and the port to where logins are stored."""

from typing import Any, Protocol

from pydantic import BaseModel


class Login(BaseModel):
    """Belongs to one `url`: a server whose URL changes in `servers.json` does not get the tokens of another.

    The parts are dumps of the SDK's models. `verifier` and `redirect_uri` are set while the user is at the provider.
    """

    url: str
    client: dict[str, Any] | None = None
    metadata: dict[str, Any] | None = None
    resource: dict[str, Any] | None = None
    scope: str | None = None
    tokens: dict[str, Any] | None = None
    expires_at: float | None = None
    verifier: str | None = None
    redirect_uri: str | None = None

    @property
    def is_complete(self) -> bool:
        return self.tokens is not None


class LoginStore(Protocol):
    """Texts by user and server, encrypted at rest."""

    async def get(self, user_id: str, server: str) -> str | None: ...

    async def put(self, user_id: str, server: str, text: str, *, state: str | None = None) -> None: ...

    async def take(self, user_id: str, state: str) -> str | None:
        """The server of this user's login with this state; a state can be taken once."""

    async def delete(self, user_id: str, server: str) -> None: ...


class UserLogin:
    """One user's login at one server."""

    def __init__(self, store: LoginStore, user_id: str, server: str, url: str) -> None:
        self._store = store
        self._key = (user_id, server)
        self._url = url

    async def load(self) -> Login | None:
        text = await self._store.get(*self._key)
        login = Login.model_validate_json(text) if text else None
        return login if login and login.url == self._url else None

    async def save(self, login: Login, *, state: str | None = None) -> None:
        await self._store.put(*self._key, login.model_dump_json(exclude_none=True), state=state)

    async def delete(self) -> None:
        await self._store.delete(*self._key)
