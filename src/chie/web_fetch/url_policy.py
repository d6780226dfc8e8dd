"""The policy on URLs that a model chooses: only http and https, and only to public addresses.

Otherwise a page or a note could make an agent read what this machine and its network show to nobody else: Chie's own
API, the metadata service of a cloud, a router. The operator allows exceptions with `CHIE_FETCH_ALLOW`.
"""

import asyncio
import socket
from collections.abc import Awaitable, Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from chie.errors import ForbiddenError, ServiceError, ValidationError
from chie.settings import load
from chie.web_fetch.addresses import is_public, parse_address
from chie.web_fetch.allowed_hosts import AllowedHost
from chie.web_fetch.settings import FetchSettings

if TYPE_CHECKING:
    from httpx2 import URL

Resolve = Callable[[str, int], Awaitable[Sequence[str]]]

MAX_PORT = 65_535
DEFAULT_PORTS = {"http": 80, "https": 443}


async def resolve(host: str, port: int) -> Sequence[str]:
    """The addresses of a host; it also reads the short forms `127.1` and `2130706433`, as every client does."""
    found = await asyncio.get_running_loop().getaddrinfo(host, port, type=socket.SOCK_STREAM)
    return list(dict.fromkeys(str(address[0]) for *_, address in found))


@dataclass(frozen=True)
class Destination:
    """A URL that may be opened, and the addresses to connect to. A proxy resolves the name itself if there are none."""

    url: "URL"
    addresses: tuple[str, ...]


class UrlPolicy:
    """With `proxied`, names that cannot be resolved here are left to the proxy."""

    def __init__(self, allow: Iterable[str] = (), *, proxied: bool = False, resolver: Resolve = resolve) -> None:
        self._allowed = [AllowedHost.parse(entry) for entry in allow]
        self._proxied = proxied
        self._resolve = resolver

    async def check(self, url: str) -> Destination:
        """Resolves the host once. Connect to the addresses returned: another lookup may give others.

        Raises ValidationError for an invalid URL, ForbiddenError for a refused one, ServiceError for an unknown host.
        """
        parsed = parse_url(url)
        host, port = parsed.raw_host.decode("ascii"), parsed.port or DEFAULT_PORTS[parsed.scheme]
        addresses = await self._addresses(host, port)
        if not any(entry.covers_host(host, port) for entry in self._allowed):
            for address in addresses:
                self._check_address(host, address, port)
        return Destination(parsed, tuple(addresses))

    async def _addresses(self, host: str, port: int) -> Sequence[str]:
        try:
            return await self._resolve(host, port)
        except (OSError, UnicodeError) as error:
            if self._proxied:
                return ()
            raise ServiceError("web_fetch.host_not_found", host=host) from error

    def _check_address(self, host: str, text: str, port: int) -> None:
        address = parse_address(text)
        if not is_public(address) and not any(entry.covers_address(address, port) for entry in self._allowed):
            raise ForbiddenError("web_fetch.address_refused", host=host)


def parse_url(url: str) -> "URL":
    """Raises ValidationError unless it is an http or https URL with a host and without a password."""
    from httpx2 import URL, InvalidURL

    try:
        parsed = URL(url.strip())
    except (InvalidURL, ValueError) as error:
        raise ValidationError("web_fetch.url_invalid") from error
    if parsed.scheme not in DEFAULT_PORTS:
        raise ValidationError("web_fetch.scheme_not_allowed")
    if not parsed.raw_host or b"%" in parsed.raw_host or (parsed.port or 0) > MAX_PORT:
        raise ValidationError("web_fetch.url_invalid")
    if parsed.userinfo:
        raise ValidationError("web_fetch.password_in_url")
    return parsed


def load_policy(settings: FetchSettings | None = None) -> UrlPolicy:
    settings = settings or load(FetchSettings)
    return UrlPolicy(settings.allow, proxied=settings.proxy is not None)
