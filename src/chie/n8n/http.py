"""HTTP to n8n: one pool of connections, time limits, reads tried again, writes never sent twice."""

import asyncio
import ssl
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

import httpx2

from chie import __version__
from chie.errors import ConfigurationError
from chie.n8n.errors import ApiError, ApiErrorContext, UnansweredError
from chie.n8n.status_errors import Call, failure, not_the_api

if TYPE_CHECKING:
    from pathlib import Path

    from pydantic import SecretStr

API = "/api/v1"
TRIES = 3
PAUSE = 0.3
LONGEST_PAUSE = 5.0
PASSING = frozenset({429, 500, 502, 503, 504})

_NEVER_SENT = (httpx2.ConnectError, httpx2.ConnectTimeout, httpx2.PoolTimeout)


@dataclass(frozen=True)
class Address:
    """Where n8n is and how to get in; the secrets never show in its repr."""

    url: str
    api_key: "SecretStr"
    headers: "Mapping[str, SecretStr]"
    timeout: float = 30.0
    ca_bundle: "Path | None" = None


class Wire:
    def __init__(
        self,
        address: Address,
        *,
        transport: httpx2.AsyncBaseTransport | None = None,
        sleep: Callable[[float], Awaitable[None]] = asyncio.sleep,
    ) -> None:
        self.base = normalise(address.url)
        self._address = address
        self._transport = transport
        self._sleep = sleep
        self._pool: httpx2.AsyncClient | None = None

    async def call(self, call: Call, *, query: Mapping[str, str] | None = None, body: object = None) -> Any:  # noqa: ANN401
        """n8n's JSON answer, or the typed error that tells what its status means."""
        response = await self._send(call, f"{API}{call.path}", query, body)
        if not response.is_success:
            raise failure(call, response.status_code, response.text)
        try:
            return response.json() if response.content else None
        except ValueError as error:
            raise not_the_api(call, response.status_code) from error

    async def is_up(self) -> bool:
        """Whether something answers as n8n does where no key is asked for."""
        response = await self._send(Call("GET", "/healthz", "reach n8n"), "/healthz", None, None)
        return response.is_success

    async def aclose(self) -> None:
        """The next call opens a new pool: a server may be run more than once."""
        pool, self._pool = self._pool, None
        if pool is not None:
            await pool.aclose()

    async def _send(self, call: Call, path: str, query: Mapping[str, str] | None, body: object) -> httpx2.Response:
        for attempt in range(1, TRIES + 1):
            last = attempt == TRIES
            try:
                response = await self._connections().request(call.method, path, params=query, json=body)
            except httpx2.RequestError as error:
                if last or not (call.reads or isinstance(error, _NEVER_SENT)):
                    raise self._unanswered(call, error) from error
                await self._sleep(PAUSE * 2 ** (attempt - 1))
            else:
                if last or not call.reads or response.status_code not in PASSING:
                    return response
                await self._sleep(_pause(response, attempt))
        raise AssertionError("unreachable")

    def _connections(self) -> httpx2.AsyncClient:
        if self._pool is None:
            self._pool = httpx2.AsyncClient(
                base_url=self.base,
                headers=self._headers(),
                timeout=httpx2.Timeout(self._address.timeout, connect=min(10.0, self._address.timeout)),
                verify=self.base.startswith("https:") and _trust(self._address.ca_bundle),  # plain HTTP needs none
                transport=self._transport,
            )
        return self._pool

    def _headers(self) -> dict[str, str]:
        extra = {name: value.get_secret_value() for name, value in self._address.headers.items()}
        key = self._address.api_key.get_secret_value().strip()
        return {"User-Agent": f"chie/{__version__}", "Accept": "application/json", **extra, "X-N8N-API-KEY": key}

    def _unanswered(self, call: Call, error: httpx2.RequestError) -> ApiError:
        context = ApiErrorContext(
            operation=call.operation,
            resource_type=call.resource_type,
            resource_id=call.resource_id,
            error_details=type(error).__name__,
        )
        said = f"Failed to {call.operation}: n8n at {self.base} did not answer ({type(error).__name__})."
        if call.reads or isinstance(error, _NEVER_SENT):
            return ApiError(f"{said} {_advice(error)}", context=context)
        return UnansweredError(said, context)


def normalise(url: str) -> str:
    """The root of n8n: without a slash at the end, and without the API's path if somebody gave it."""
    url = url.strip().rstrip("/").removesuffix(API).removesuffix("/api").rstrip("/")
    parts = urlsplit(url)
    if parts.scheme not in ("http", "https") or not parts.netloc:
        raise ConfigurationError("N8N_URL is not an address: write it with http:// or https:// in front.")
    if parts.username or parts.password or parts.query or parts.fragment:  # errors name the address
        raise ConfigurationError(
            "N8N_URL holds more than an address: put credentials into N8N_HEADERS, leave out ? and #."
        )
    return url


def _trust(ca_bundle: "Path | None") -> ssl.SSLContext | bool:
    if ca_bundle is None:
        return True
    try:
        return ssl.create_default_context(cafile=str(ca_bundle.expanduser()))
    except (OSError, ssl.SSLError) as error:
        raise ConfigurationError(f"cannot read N8N_CA_BUNDLE ({type(error).__name__}): name a PEM file.") from error


def _advice(error: BaseException) -> str:
    cause: BaseException | None = error
    while cause is not None:
        if isinstance(cause, ssl.SSLCertVerificationError):
            return "Its certificate is not trusted: name the file of its authority in N8N_CA_BUNDLE."
        cause = cause.__cause__ or cause.__context__
    return "Check that it runs and that N8N_URL is right, then try again."


def _pause(response: httpx2.Response, attempt: int) -> float:
    try:
        asked = float(response.headers.get("Retry-After", ""))
    except ValueError:
        asked = PAUSE * 2 ** (attempt - 1)
    return min(max(asked, 0.0), LONGEST_PAUSE)
