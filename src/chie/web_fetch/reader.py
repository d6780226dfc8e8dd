"""Reads a page over HTTP: every hop is checked, the address that was checked is the one that is connected to."""

import asyncio
import ssl
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING, Any

from chie import __version__
from chie.errors import ForbiddenError, ServiceError
from chie.web_fetch import robots
from chie.web_fetch.body import decode, read_body
from chie.web_fetch.settings import FetchSettings
from chie.web_fetch.url_policy import Destination, UrlPolicy

if TYPE_CHECKING:
    from httpx2 import URL, AsyncClient, Response

MAX_REDIRECTS = 5
MAX_ROBOTS_BYTES = 500_000
MAX_CONNECT_SECONDS = 10.0
REDIRECTS = {301, 302, 303, 307, 308}
HEADERS = {
    "User-Agent": f"Mozilla/5.0 (compatible; {robots.PROGRAM}/{__version__})",
    "Accept": "text/html,application/xhtml+xml,text/*;q=0.9,application/json;q=0.9,*/*;q=0.5",
    "Accept-Encoding": "gzip, deflate",
}


@dataclass(frozen=True)
class Page:
    """`url` is where the redirects ended."""

    url: str
    content_type: str
    text: str
    is_truncated: bool


@asynccontextmanager
async def time_limit(seconds: float) -> AsyncIterator[None]:
    try:
        async with asyncio.timeout(seconds):
            yield
    except TimeoutError as error:
        raise ServiceError("web_fetch.timed_out", seconds=f"{seconds:g}") from error


class PageReader:
    def __init__(self, settings: FetchSettings, policy: UrlPolicy) -> None:
        self._settings = settings
        self._policy = policy

    async def read(self, url: str) -> Page:
        """Raises ValidationError, ForbiddenError or ServiceError."""
        for _ in range(MAX_REDIRECTS + 1):
            destination = await self._policy.check(url)
            if self._settings.robots:
                await self._check_robots(destination.url)
            async with self._open(destination) as response:
                location = response.headers.get("location")
                if response.status_code not in REDIRECTS or not location:
                    return await self._page(destination.url, response)
            url = _join(destination.url, location)
        raise ServiceError("web_fetch.too_many_redirects", limit=MAX_REDIRECTS)

    async def _page(self, url: "URL", response: "Response") -> Page:
        if response.status_code >= 400:
            raise ServiceError("web_fetch.status", host=url.host, status=response.status_code)
        kind, charset = _content_type(response)
        if not is_text(kind):
            raise ServiceError("web_fetch.not_text", kind=kind)
        body, is_truncated = await self._body(response, self._settings.max_bytes)
        return Page(str(url), kind, decode(body, charset), is_truncated)

    async def _check_robots(self, url: "URL") -> None:
        """A site without the file allows everything. Redirects of the file are not followed."""
        destination = await self._policy.check(str(url.copy_with(raw_path=b"/robots.txt", fragment=None)))
        async with self._open(destination) as response:
            if response.status_code >= 300:
                return
            body, _ = await self._body(response, MAX_ROBOTS_BYTES)
        if not robots.is_allowed(decode(body, "utf-8"), str(url)):
            raise ForbiddenError("web_fetch.robots_disallow", host=url.host)

    async def _body(self, response: "Response", limit: int) -> tuple[bytes, bool]:
        from httpx2 import HTTPError

        try:
            return await read_body(response.aiter_raw(), response.headers.get("content-encoding", ""), limit)
        except HTTPError as error:
            raise ServiceError("web_fetch.body_invalid") from error

    @asynccontextmanager
    async def _open(self, destination: Destination) -> AsyncIterator["Response"]:
        """One connection per request: a kept one could be used for another host at the same address."""
        from httpx2 import AsyncClient, HTTPError, Timeout

        limit = self._settings.timeout
        timeout = Timeout(limit, connect=min(limit, MAX_CONNECT_SECONDS))
        proxy = self._settings.proxy.get_secret_value() if self._settings.proxy else None
        client = AsyncClient(proxy=proxy, verify=_tls(), timeout=timeout, trust_env=False, headers=HEADERS)
        async with client:
            try:
                response = await self._send(client, destination, direct=proxy is None)
            except (HTTPError, OSError, ssl.SSLError) as error:
                host, kind = destination.url.host, type(error).__name__
                raise ServiceError("web_fetch.host_unreachable", host=host, error=kind) from error
            try:
                yield response
            finally:
                await response.aclose()

    async def _send(self, client: "AsyncClient", destination: Destination, *, direct: bool) -> "Response":
        """To the first address that accepts a connection."""
        from httpx2 import ConnectError, ConnectTimeout

        if not direct:
            return await client.send(client.build_request("GET", destination.url), stream=True)
        *others, last = destination.addresses
        for address in others:
            try:
                return await client.send(_pinned(client, destination.url, address), stream=True)
            except (ConnectError, ConnectTimeout):
                continue
        return await client.send(_pinned(client, destination.url, last), stream=True)


def _pinned(client: "AsyncClient", url: "URL", address: str) -> Any:  # noqa: ANN401
    """A request to this address, which the server and its certificate see as one to the host."""
    return client.build_request(
        "GET",
        url.copy_with(host=address, fragment=None),
        headers={"Host": url.netloc.decode("ascii")},
        extensions={"sni_hostname": url.raw_host.decode("ascii")},
    )


@cache
def _tls() -> ssl.SSLContext:
    from httpx2 import create_ssl_context

    return create_ssl_context()


def _join(url: "URL", location: str) -> str:
    from httpx2 import InvalidURL

    try:
        return str(url.join(location))
    except (InvalidURL, ValueError) as error:
        raise ServiceError("web_fetch.redirect_invalid", host=url.host) from error


def _content_type(response: "Response") -> tuple[str, str | None]:
    kind, _, rest = response.headers.get("content-type", "text/html").partition(";")
    return kind.strip().lower() or "text/html", response.charset_encoding if rest else None


def is_text(kind: str) -> bool:
    structured = kind.endswith(("+json", "+xml")) or kind in ("application/json", "application/xml")
    scripts = kind in ("application/javascript", "application/x-ndjson", "application/yaml", "application/x-yaml")
    return kind.startswith("text/") or structured or scripts
