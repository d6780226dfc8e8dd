"""Runs an ASGI app on AWS Lambda: takes invocations from the Runtime API, and streams each response back.

The events are those of a function URL (payload version 2.0) in the mode RESPONSE_STREAM. Lambda sends the next one
when the response to the last has ended, and freezes the process in between. It may end a response before the app does:
the client has left, or the response is too large.
"""

import asyncio
import json
import logging
import os
from base64 import b64decode
from collections.abc import AsyncGenerator, Callable, Iterable
from typing import TYPE_CHECKING, Any
from urllib.parse import unquote

from chie.errors import ChieError, ConfigurationError

if TYPE_CHECKING:
    import httpx2
    from starlette.applications import Starlette
    from starlette.types import ASGIApp, Message, Scope

RUNTIME_API = "AWS_LAMBDA_RUNTIME_API"  # set by Lambda: host and port
RESPONSE_TYPE = "application/vnd.awslambda.http-integration-response"
SEPARATOR = bytes(8)  # between the JSON with status and headers, and the body
NOT_FORWARDED = {b"connection", b"content-length", b"transfer-encoding"}  # Lambda frames the response itself
STREAMED_CHUNKS = 64  # that may wait for Lambda to read them
WRITE_SECONDS = 60.0  # without which Lambda counts as reading no more
LEAVE_SECONDS = 5.0  # for an app whose response nobody reads

logger = logging.getLogger(__name__)


def run_lambda(create_app: "Callable[[], Starlette]") -> None:
    """Serve invocations until Lambda ends the process, which is told why an app cannot be created."""
    api = os.environ.get(RUNTIME_API)
    if not api:
        raise ConfigurationError("http.not_on_lambda", variable=RUNTIME_API)
    asyncio.run(_run(f"http://{api}/2018-06-01/runtime", create_app))


async def _run(url: str, create_app: "Callable[[], Starlette]") -> None:
    import httpx2

    # Lambda answers the request for the next invocation when there is one.
    timeout = httpx2.Timeout(None, write=WRITE_SECONDS)
    async with httpx2.AsyncClient(base_url=url, timeout=timeout, trust_env=False) as client:
        try:
            app = create_app()
        except ChieError as error:
            await client.post("/init/error", json=_error(error), headers=_error_type(error))
            raise
        async with app.router.lifespan_context(app):
            while True:
                await _serve_next(client, app)


async def _serve_next(client: "httpx2.AsyncClient", app: "ASGIApp") -> None:
    import httpx2

    invocation = await client.get("/invocation/next")
    invocation.raise_for_status()
    path = f"/invocation/{invocation.headers['lambda-runtime-aws-request-id']}"
    try:
        exchange = Exchange(invocation.json())
    except (ValueError, LookupError, TypeError, AttributeError) as error:
        logger.warning("rejected an event that is not from a function URL: %s", type(error).__name__)
        reason = ConfigurationError("http.lambda_event_unknown")
        await client.post(f"{path}/error", json=_error(reason), headers=_error_type(reason))
        return
    headers = {"Lambda-Runtime-Function-Response-Mode": "streaming", "Content-Type": RESPONSE_TYPE}
    task = asyncio.create_task(exchange.run(app))
    try:
        ended = await client.post(f"{path}/response", content=exchange.response(), headers=headers)
        ended.raise_for_status()
    except httpx2.HTTPError as error:
        logger.warning("Lambda did not take the whole response: %s", type(error).__name__)
    finally:
        exchange.close()
        await asyncio.wait({task}, timeout=LEAVE_SECONDS)
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)


class Exchange:
    """One event as an ASGI request, and the response to it as Lambda expects it."""

    def __init__(self, event: dict[str, Any]) -> None:
        self.scope = _scope(event)
        body = event.get("body") or ""
        self._body = b64decode(body) if event.get("isBase64Encoded") else body.encode()
        self._received = False
        self._closed = asyncio.Event()
        self._chunks: asyncio.Queue[bytes | None] = asyncio.Queue(STREAMED_CHUNKS)

    async def run(self, app: "ASGIApp") -> None:
        """An app that raises has sent an error response by then, or has broken the one that it began."""
        try:
            await app(self.scope, self._receive, self._send)
        except Exception:
            logger.exception("a request on Lambda failed")
        finally:
            await self._put(None)

    async def response(self) -> AsyncGenerator[bytes, None]:
        while (chunk := await self._chunks.get()) is not None:
            yield chunk

    def close(self) -> None:
        """The response has ended. What the app still sends is dropped, also what waits for space."""
        self._closed.set()
        while not self._chunks.empty():
            self._chunks.get_nowait()

    async def _put(self, chunk: bytes | None) -> None:
        if not self._closed.is_set():
            await self._chunks.put(chunk)

    async def _receive(self) -> "Message":
        if self._received:
            await self._closed.wait()
            return {"type": "http.disconnect"}
        self._received = True
        return {"type": "http.request", "body": self._body, "more_body": False}

    async def _send(self, message: "Message") -> None:
        if message["type"] == "http.response.start":
            await self._put(_prelude(message["status"], message["headers"]) + SEPARATOR)
        elif message.get("body"):
            await self._put(message["body"])


def _scope(event: dict[str, Any]) -> "Scope":
    context, path = event["requestContext"], event["rawPath"]
    headers = {name.lower(): value for name, value in event["headers"].items()}
    if cookies := event.get("cookies"):
        headers["cookie"] = "; ".join(cookies)
    return {
        "type": "http",
        "asgi": {"version": "3.0", "spec_version": "2.3"},
        "http_version": "1.1",
        "method": context["http"]["method"],
        "scheme": "https",
        "path": unquote(path),
        "raw_path": path.encode(),
        "query_string": event.get("rawQueryString", "").encode(),
        "root_path": "",
        "headers": [(name.encode("latin-1"), value.encode("latin-1", "replace")) for name, value in headers.items()],
        "client": (context["http"]["sourceIp"], 0),
        "server": (context.get("domainName", ""), 443),
    }


def _prelude(status: int, headers: Iterable[tuple[bytes, bytes]]) -> bytes:
    """Status and headers as JSON, which contains no NUL."""
    values: dict[str, str] = {}
    cookies: list[str] = []
    for raw_name, raw_value in headers:
        name, value = raw_name.lower().decode("latin-1"), raw_value.decode("latin-1")
        if name == "set-cookie":
            cookies.append(value)
        elif raw_name.lower() not in NOT_FORWARDED:
            values[name] = f"{values[name]}, {value}" if name in values else value
    return json.dumps({"statusCode": status, "headers": values, "cookies": cookies}).encode()


def _error(error: ChieError) -> dict[str, Any]:
    return {"errorType": type(error).__name__, "errorMessage": error.message, "stackTrace": []}


def _error_type(error: ChieError) -> dict[str, str]:
    return {"Lambda-Runtime-Function-Error-Type": f"Chie.{type(error).__name__}"}
