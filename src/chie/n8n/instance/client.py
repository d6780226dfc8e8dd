"""Calls the tools of n8n's MCP server. A call is one request: that server keeps no sessions and needs no handshake."""

import asyncio
import json
from collections.abc import Awaitable, Callable, Mapping
from typing import Any

import httpx2

from chie.errors import ConfigurationError
from chie.n8n.http import (
    MAX_ATTEMPTS,
    NEVER_SENT,
    RETRY_PAUSE_SECONDS,
    Endpoint,
    is_certificate_error,
    normalized,
    open_pool,
)
from chie.n8n.instance import errors
from chie.n8n.models import Json

PATH = "/mcp-server/http"
MAX_RESPONSE_BYTES = 16 * 2**20
RETRYABLE_STATUSES = frozenset({500, 502, 503, 504})  # not 429: n8n counts over five minutes


class InstanceClient:
    """The endpoint has the token as its key. Without one, calls raise the error that says what to set."""

    def __init__(
        self,
        endpoint: Endpoint,
        *,
        transport: httpx2.AsyncBaseTransport | None = None,
        sleep: Callable[[float], Awaitable[None]] = asyncio.sleep,
    ) -> None:
        self.base = normalized(endpoint.url)
        self._endpoint = endpoint
        self._token = endpoint.api_key.get_secret_value().strip()
        self._transport = transport
        self._sleep = sleep
        self._pool: httpx2.AsyncClient | None = None

    @property
    def configured(self) -> bool:
        return bool(self._token)

    def require_token(self) -> None:
        if not self._token:
            raise ConfigurationError("n8n.mcp_token_missing")

    async def call(
        self, tool: str, arguments: Mapping[str, Any], *, reads: bool = True, seconds: float | None = None
    ) -> Json:
        """The structured result of the tool. Calls that only read are retried; others are never sent twice."""
        params = {"name": tool, "arguments": dict(arguments)}
        result = await self._request("tools/call", params, tool, reads=reads, seconds=seconds)
        if result.get("isError"):
            raise errors.for_failure(tool, _text(result))
        content = result.get("structuredContent")
        if not isinstance(content, dict):
            raise errors.not_mcp(tool, 200)
        return content

    async def check(self) -> None:
        """Raises unless the token is accepted."""
        await self._request("ping", {}, "ping", reads=True, seconds=None)

    async def aclose(self) -> None:
        pool, self._pool = self._pool, None
        if pool is not None:
            await pool.aclose()

    async def _request(self, method: str, params: Json, tool: str, *, reads: bool, seconds: float | None) -> Json:
        self.require_token()
        body = {"jsonrpc": "2.0", "id": 1, "method": method, "params": params}
        for attempt in range(1, MAX_ATTEMPTS + 1):
            try:
                async with asyncio.timeout(seconds or self._endpoint.timeout):
                    status, retry_after, text = await self._post(body, tool)
            except (httpx2.RequestError, TimeoutError) as error:
                if attempt == MAX_ATTEMPTS or not (reads or isinstance(error, NEVER_SENT)):
                    raise self._no_response(tool, error, reads=reads) from error
            else:
                if attempt == MAX_ATTEMPTS or not reads or status not in RETRYABLE_STATUSES:
                    return _result(tool, status, retry_after, text)
            await self._sleep(RETRY_PAUSE_SECONDS * 2 ** (attempt - 1))
        raise AssertionError("unreachable")

    async def _post(self, body: Json, tool: str) -> tuple[int, str | None, str]:
        async with self._connections().stream("POST", PATH, json=body) as response:
            content = bytearray()
            async for chunk in response.aiter_bytes():
                content += chunk
                if len(content) > MAX_RESPONSE_BYTES:
                    raise errors.too_large(tool, MAX_RESPONSE_BYTES)
            return response.status_code, response.headers.get("Retry-After"), content.decode("utf-8", "replace")

    def _connections(self) -> httpx2.AsyncClient:
        if self._pool is None:
            headers = {"Accept": "application/json, text/event-stream", "Authorization": f"Bearer {self._token}"}
            self._pool = open_pool(self._endpoint, headers, self._transport, read_timeout=False)
        return self._pool

    def _no_response(self, tool: str, error: Exception, *, reads: bool) -> Exception:
        return errors.no_response(
            tool,
            self.base,
            type(error).__name__,
            untrusted=is_certificate_error(error),
            maybe_done=not reads and not isinstance(error, NEVER_SENT),
        )


def _result(tool: str, status: int, retry_after: str | None, text: str) -> Json:
    if not 200 <= status < 300:
        raise errors.for_status(tool, status, retry_after)
    message = _message(text)
    if message is None:
        raise errors.not_mcp(tool, status)
    if "error" in message:
        raise errors.for_rpc_error(tool, message["error"])
    result = message.get("result")
    if not isinstance(result, dict):
        raise errors.not_mcp(tool, status)
    return result


def _message(text: str) -> Json | None:
    """The response among the events of the stream, or the whole body if it is JSON."""
    lines = [line.removeprefix("data:") for line in text.splitlines() if line.startswith("data:")]
    for candidate in lines or [text]:
        try:
            found = json.loads(candidate)
        except (ValueError, RecursionError):
            continue
        if isinstance(found, dict) and ("result" in found or "error" in found):
            return found
    return None


def _text(result: Json) -> str:
    """n8n puts its sentence into the structured content, or only into the text."""
    content = result.get("structuredContent")
    if isinstance(content, dict) and isinstance(content.get("error"), str):
        return str(content["error"])
    blocks = result.get("content")
    texts = [block.get("text") for block in blocks if isinstance(block, dict)] if isinstance(blocks, list) else []
    return " ".join(text for text in texts if isinstance(text, str))
