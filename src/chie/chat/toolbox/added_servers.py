"""MCP servers by URL that an admin adds in the page. Programs are started from `servers.json` alone."""

from collections.abc import Collection, Mapping
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import Protocol
from urllib.parse import parse_qsl, quote, quote_plus, urlsplit, urlunsplit

from pydantic import SecretStr

from chie.access import audit
from chie.chat.endpoints.validation import check_url
from chie.chat.shared_read import SharedRead
from chie.chat.toolbox.servers_file import ServerSpec
from chie.errors import ConflictError, NotFoundError, ValidationError
from chie.http.values import is_header_value
from chie.logging import hide

CACHE_SECONDS = 2.0  # another process may have changed them
MAX_HEADERS = 20
_TOKEN = frozenset("!#$%&'*+-.^_`|~0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ")
_OWN_HEADERS = ("host", "content-length", "content-type", "transfer-encoding", "connection", "accept", "mcp-session-id")


class AddedServerSpec(ServerSpec):
    """Errors about such a server lead to the settings page."""


@dataclass(frozen=True, kw_only=True)
class AddedServer:
    """`url` may hold a token in its query, so it is stored encrypted with the `headers`; `shown_url` is without it.
    Both are empty if they cannot be decrypted on this machine."""

    name: str
    shown_url: str = ""
    header_names: tuple[str, ...] = ()
    always_ask: bool = False
    url: str = field(default="", repr=False)
    headers: Mapping[str, str] = field(default_factory=dict, repr=False)
    secret_changed_at: datetime | None = None
    updated_at: datetime | None = None

    @property
    def is_readable(self) -> bool:
        return bool(self.url)

    @property
    def has_query(self) -> bool:
        return bool(urlsplit(self.url).query)

    @property
    def spec(self) -> AddedServerSpec:
        headers = {name: SecretStr(value) for name, value in self.headers.items()}
        return AddedServerSpec(url=self.url, headers=headers, always_ask=self.always_ask)


class AddedServerStore(Protocol):
    """Servers by name; URLs and headers are encrypted at rest."""

    async def list(self) -> list[AddedServer]: ...

    async def add(self, server: AddedServer) -> bool:
        """Whether the name was free."""

    async def replace(self, server: AddedServer, *, new_secret: bool) -> bool: ...

    async def delete(self, name: str) -> bool: ...


@dataclass(frozen=True, kw_only=True)
class EnteredServer:
    """What an admin has entered; None was not sent. A header with the value None keeps the stored one."""

    url: str | None = field(default=None, repr=False)
    headers: Mapping[str, str | None] | None = field(default=None, repr=False)
    always_ask: bool | None = None


class AddedServers:
    """Read on use, like the stored endpoints. `reserved` names belong to built-in servers and to `servers.json`."""

    def __init__(self, reserved: Collection[str] = ()) -> None:
        self._reserved = {name.lower() for name in reserved}
        self._store: AddedServerStore | None = None
        self._shared = SharedRead(self._read, seconds=CACHE_SECONDS)

    def use(self, store: AddedServerStore) -> None:
        self._store = store
        self.forget()

    def forget(self) -> None:
        """The next reader gets what is stored by then."""
        self._shared.forget()

    async def _read(self) -> list[AddedServer]:
        found = [server for server in await self._writable().list() if server.name.lower() not in self._reserved]
        for server in found:
            _hide(server)
        return found

    async def list(self) -> list[AddedServer]:
        """Without those whose name an operator has given to another server since."""
        return await self._shared() if self._store else []

    async def get(self, name: str) -> AddedServer:
        for server in await self.list():
            if server.name == name:
                return server
        raise NotFoundError("endpoints.server_not_found")

    async def create(self, name: str, entered: EnteredServer) -> None:
        server = self.drafted(name, entered)
        if not await self._writable().add(server):
            raise ConflictError("endpoints.name_taken", name=name)
        self._changed("server.created", name)

    async def change(self, name: str, entered: EnteredServer) -> None:
        server = await self.draft_of(name, entered)
        new_secret = entered.url is not None or entered.headers is not None
        if not await self._writable().replace(server, new_secret=new_secret):
            raise NotFoundError("endpoints.server_not_found")
        self._changed("server.changed", name)

    async def delete(self, name: str) -> None:
        if not await self._writable().delete(name):
            raise NotFoundError("endpoints.server_not_found")
        self._changed("server.deleted", name)

    def drafted(self, name: str, entered: EnteredServer) -> AddedServer:
        """A new server, checked but not stored."""
        if name.lower() in self._reserved:
            raise ConflictError("endpoints.server_name_reserved", name=name)
        return _merged(AddedServer(name=name), entered)

    async def draft_of(self, name: str, entered: EnteredServer) -> AddedServer:
        self.forget()
        return _merged(await self.get(name), entered)

    def _changed(self, what: str, name: str) -> None:
        self.forget()
        audit.record(what, name)

    def _writable(self) -> AddedServerStore:
        if self._store is None:
            raise NotFoundError("endpoints.server_not_found")
        return self._store


def _merged(server: AddedServer, entered: EnteredServer) -> AddedServer:
    url = server.url if entered.url is None else entered.url.strip()
    if not url:
        raise ValidationError("endpoints.url_needed_again" if server.shown_url else "endpoints.url_invalid")
    check_url(url, query_allowed=True)
    headers = dict(server.headers)
    if entered.headers is not None:
        headers = {
            name: server.headers.get(name, "") if value is None else value for name, value in entered.headers.items()
        }
    merged = replace(
        server,
        url=url,
        shown_url=shown(url),
        headers=headers,
        header_names=tuple(headers),
        always_ask=server.always_ask if entered.always_ask is None else entered.always_ask,
    )
    _hide(merged)
    _check_headers(headers)
    _require_headers_again(server, merged, entered)
    return merged


def _check_headers(headers: Mapping[str, str]) -> None:
    if len(headers) > MAX_HEADERS or len({name.lower() for name in headers}) < len(headers):
        raise ValidationError("endpoints.headers_invalid", most=MAX_HEADERS)
    for name, value in headers.items():
        if not name or not set(name) <= _TOKEN or name.lower() in _OWN_HEADERS:
            raise ValidationError("endpoints.header_name_invalid")
        if not value or not is_header_value(value):
            raise ValidationError("endpoints.header_value_invalid", header=name)


def _require_headers_again(before: AddedServer, after: AddedServer, entered: EnteredServer) -> None:
    """A stored header goes to the host that it was entered for, and to no other."""
    kept = [name for name in after.headers if before.headers.get(name) and not (entered.headers or {}).get(name)]
    if kept and _origin(before.url) != _origin(after.url):
        raise ValidationError("endpoints.headers_needed_again")


def shown(url: str) -> str:
    """Without the query, which may hold a token."""
    parts = urlsplit(url)
    return urlunsplit((parts.scheme, parts.netloc, parts.path, "", ""))


def _origin(url: str) -> tuple[str, str]:
    parts = urlsplit(url)
    return parts.scheme, parts.netloc.lower()


def _hide(server: AddedServer) -> None:
    hide(*server.headers.values(), *(value.partition(" ")[2] for value in server.headers.values()))
    query = urlsplit(server.url).query
    values = [value for _, value in parse_qsl(query)]
    hide(query, *values, *map(quote, values), *map(quote_plus, values))
