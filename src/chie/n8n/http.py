"""HTTP to n8n: one connection pool, timeouts, retries of reads. Writes are never sent twice."""

import asyncio
import ssl
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

import httpx2

from chie import __version__
from chie.errors import ConfigurationError
from chie.logging import hide
from chie.messages.catalogue import Message
from chie.n8n.errors import ApiError, ApiErrorContext, NoResponseError
from chie.n8n.status_errors import Call, error_for_status, not_the_api

if TYPE_CHECKING:
    from pathlib import Path

    from pydantic import SecretStr

API_PATH = "/api/v1"
MAX_ATTEMPTS = 3
RETRY_PAUSE_SECONDS = 0.3
MAX_RETRY_PAUSE_SECONDS = 5.0
MAX_CONNECT_TIMEOUT_SECONDS = 10.0
RETRYABLE_STATUSES = frozenset({429, 500, 502, 503, 504})

NEVER_SENT = (httpx2.ConnectError, httpx2.ConnectTimeout, httpx2.PoolTimeout)


@dataclass(frozen=True)
class Endpoint:
    """The URL of n8n and the credentials for it; the secrets do not appear in its repr."""

    url: str
    api_key: "SecretStr"
    headers: "Mapping[str, SecretStr]"
    timeout: float = 30.0
    ca_bundle: "Path | None" = None

    def __post_init__(self) -> None:
        """The settings may come from a `.env` file, so the log does not know these values from the environment."""
        hide(*(secret.get_secret_value().strip() for secret in (self.api_key, *self.headers.values())))


class HttpClient:
    def __init__(
        self,
        endpoint: Endpoint,
        *,
        transport: httpx2.AsyncBaseTransport | None = None,
        sleep: Callable[[float], Awaitable[None]] = asyncio.sleep,
    ) -> None:
        self.base = normalized(endpoint.url)
        self._endpoint = endpoint
        self._transport = transport
        self._sleep = sleep
        self._pool: httpx2.AsyncClient | None = None

    async def call(self, call: Call, *, query: Mapping[str, str] | None = None, body: object = None) -> Any:  # noqa: ANN401
        """n8n's JSON response; raises the typed error for any other status."""
        response = await self._send(call, f"{API_PATH}{call.path}", query, body)
        if not response.is_success:
            raise error_for_status(call, response.status_code, response.text)
        try:
            return response.json() if response.content else None
        except ValueError as error:
            raise not_the_api(call, response.status_code) from error

    async def is_up(self) -> bool:
        """Whether n8n's health endpoint, which needs no API key, responds."""
        response = await self._send(Call("GET", "/healthz", "reach n8n"), "/healthz", None, None)
        return response.is_success

    async def aclose(self) -> None:
        """The next call opens a new pool, because a server may be started more than once."""
        pool, self._pool = self._pool, None
        if pool is not None:
            await pool.aclose()

    async def _send(self, call: Call, path: str, query: Mapping[str, str] | None, body: object) -> httpx2.Response:
        for attempt in range(1, MAX_ATTEMPTS + 1):
            last = attempt == MAX_ATTEMPTS
            try:
                response = await self._connections().request(call.method, path, params=query, json=body)
            except httpx2.RequestError as error:
                if last or not (call.reads or isinstance(error, NEVER_SENT)):
                    raise self._no_response(call, error) from error
                await self._sleep(RETRY_PAUSE_SECONDS * 2 ** (attempt - 1))
            else:
                if last or not call.reads or response.status_code not in RETRYABLE_STATUSES:
                    return response
                await self._sleep(_retry_pause(response, attempt))
        raise AssertionError("unreachable")

    def _connections(self) -> httpx2.AsyncClient:
        if self._pool is None:
            key = self._endpoint.api_key.get_secret_value().strip()
            self._pool = open_pool(self._endpoint, {"X-N8N-API-KEY": key}, self._transport)
        return self._pool

    def _no_response(self, call: Call, error: httpx2.RequestError) -> ApiError:
        name = type(error).__name__
        context = ApiErrorContext(
            operation=call.operation,
            resource_type=call.resource_type,
            resource_id=call.resource_id,
            error_details=name,
        )
        kind: type[ApiError] = ApiError
        code = "n8n.certificate_untrusted" if is_certificate_error(error) else "n8n.unreachable"
        if not call.reads and not isinstance(error, NEVER_SENT):
            kind, code = NoResponseError, "n8n.write_without_response"
        return kind(Message(code, operation=call.named_operation, url=self.base, error=name), context=context)


def open_pool(
    endpoint: Endpoint,
    headers: Mapping[str, str],
    transport: httpx2.AsyncBaseTransport | None = None,
    *,
    read_timeout: bool = True,
) -> httpx2.AsyncClient:
    """Connections to n8n that follow no redirects. Without `read_timeout` the caller limits the time of a response."""
    base, timeout = normalized(endpoint.url), endpoint.timeout
    own = {name.lower() for name in headers}
    extra = {name: value.get_secret_value() for name, value in endpoint.headers.items() if name.lower() not in own}
    connect = min(MAX_CONNECT_TIMEOUT_SECONDS, timeout)
    return httpx2.AsyncClient(
        base_url=base,
        headers={"User-Agent": f"chie/{__version__}", "Accept": "application/json", **extra, **headers},
        timeout=httpx2.Timeout(timeout, connect=connect, read=timeout if read_timeout else None),
        verify=base.startswith("https:") and _ssl_context(endpoint.ca_bundle),
        transport=transport,
    )


def normalized(url: str) -> str:
    """The base URL of n8n, without a trailing slash and without the path of the API."""
    url = url.strip().rstrip("/").removesuffix(API_PATH).removesuffix("/api").rstrip("/")
    parts = urlsplit(url)
    if parts.scheme not in ("http", "https") or not parts.netloc:
        raise ConfigurationError("n8n.url_invalid")
    if parts.username or parts.password or parts.query or parts.fragment:  # error messages contain the URL
        raise ConfigurationError("n8n.url_has_extra_parts")
    return url


def _ssl_context(ca_bundle: "Path | None") -> ssl.SSLContext | bool:
    if ca_bundle is None:
        return True
    try:
        return ssl.create_default_context(cafile=str(ca_bundle.expanduser()))
    except (OSError, ssl.SSLError) as error:
        raise ConfigurationError("n8n.ca_bundle_unreadable", error=type(error).__name__) from error


def is_certificate_error(error: BaseException) -> bool:
    cause: BaseException | None = error
    while cause is not None:
        if isinstance(cause, ssl.SSLCertVerificationError):
            return True
        cause = cause.__cause__ or cause.__context__
    return False


def _retry_pause(response: httpx2.Response, attempt: int) -> float:
    try:
        seconds = float(response.headers.get("Retry-After", ""))
    except ValueError:
        seconds = RETRY_PAUSE_SECONDS * 2 ** (attempt - 1)
    return min(max(seconds, 0.0), MAX_RETRY_PAUSE_SECONDS)
