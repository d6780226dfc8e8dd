"""The HTTP transport to an MCP server: to its own origin, and elsewhere only where the policy on URLs allows it.

A server names other URLs: in a 401, in the metadata of its provider, in redirects. The SDK requests them, with every
refused call, so a server could make Chie request what only Chie can reach.
"""

from urllib.request import getproxies, proxy_bypass

import httpx2

from chie.errors import ChieError
from chie.web_fetch.url_policy import DEFAULT_PORTS, Destination, UrlPolicy

Origin = tuple[str, str, int | None]


class RefusedUrlError(httpx2.ConnectError):
    """An error that the SDK expects of a connection; the policy's own is its cause."""


class CheckedTransport(httpx2.AsyncBaseTransport):
    """`url` is the server's, which an operator or admin has chosen; it may be in the local network."""

    def __init__(self, url: str, policy: UrlPolicy) -> None:
        self._origins = _origins(httpx2.URL(url))
        self._policy = policy
        self._by_name = httpx2.AsyncClient()  # with the proxies of the environment
        # A kept connection could be used for another host at the same address.
        self._by_address = httpx2.AsyncHTTPTransport(limits=httpx2.Limits(max_keepalive_connections=0))

    async def handle_async_request(self, request: httpx2.Request) -> httpx2.Response:
        if _origin(request.url) in self._origins:
            return await self._by_name.send(request, stream=True)
        try:
            destination = await self._policy.check(str(request.url))
        except ChieError as error:
            raise RefusedUrlError(error.message, request=request) from error
        if _is_proxied(request.url) or not destination.addresses:
            return await self._by_name.send(request, stream=True)
        return await self._send_to_address(request, destination)

    async def aclose(self) -> None:
        await self._by_name.aclose()
        await self._by_address.aclose()

    async def _send_to_address(self, request: httpx2.Request, destination: Destination) -> httpx2.Response:
        """To the first of the checked addresses that accepts a connection: another look-up may give others."""
        *others, last = destination.addresses
        for address in others:
            try:
                return await self._by_address.handle_async_request(_pinned(request, address))
            except (httpx2.ConnectError, httpx2.ConnectTimeout):
                continue
        return await self._by_address.handle_async_request(_pinned(request, last))


def _pinned(request: httpx2.Request, address: str) -> httpx2.Request:
    """The server at the address, and its certificate, see a request to the host."""
    headers = request.headers.copy()
    headers["Host"] = request.url.netloc.decode("ascii")
    return httpx2.Request(
        request.method,
        request.url.copy_with(host=address),
        headers=headers,
        stream=request.stream,
        extensions={**request.extensions, "sni_hostname": request.url.raw_host.decode("ascii")},
    )


def _origin(url: httpx2.URL) -> Origin:
    return url.scheme, url.host, url.port or DEFAULT_PORTS.get(url.scheme)


def _origins(url: httpx2.URL) -> set[Origin]:
    """The SDK also follows a redirect from plain HTTP to HTTPS of the same host, on the default ports."""
    own = _origin(url)
    return {own, ("https", url.host, 443)} if own[::2] == ("http", 80) else {own}


def _is_proxied(url: httpx2.URL) -> bool:
    """Then the proxy connects, so an address would not help."""
    proxies = getproxies()
    return (url.scheme in proxies or "all" in proxies) and not proxy_bypass(url.host)
