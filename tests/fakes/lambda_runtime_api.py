"""AWS Lambda's Runtime API, as a function's process sees it: invocations out, streamed responses in."""

import json
from collections.abc import Iterator
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from itertools import islice
from queue import Queue
from threading import Thread
from typing import Any, Self
from uuid import uuid4

SEPARATOR = bytes(8)
HOST = "abcdef.lambda-url.ap-northeast-1.on.aws"


@dataclass
class Response:
    """What the function sent for one invocation; `chunks` ends with None. The API reads no more than `limit` chunks."""

    headers: dict[str, str] = field(default_factory=dict)
    path: str = ""
    chunks: "Queue[bytes | None]" = field(default_factory=Queue)
    limit: int | None = None

    def prelude(self) -> dict[str, Any]:
        """Status, headers and cookies. The body follows in later chunks."""
        head, separator, rest = (self.chunks.get() or b"").partition(SEPARATOR)
        assert separator == SEPARATOR
        assert rest == b""
        found: dict[str, Any] = json.loads(head)
        return found

    def rest(self) -> Iterator[bytes]:
        while (chunk := self.chunks.get()) is not None:
            yield chunk

    def json(self) -> Any:
        return json.loads(b"".join(self.rest()))


class LambdaRuntimeApi:
    """Lambda sends one invocation at a time to each environment."""

    def __enter__(self) -> Self:
        self._waiting: Queue[tuple[str, bytes]] = Queue()
        self._responses: dict[str, Response] = {}
        self.init_errors: Queue[dict[str, Any]] = Queue()
        self._server = _Server(("127.0.0.1", 0), type("Handler", (_Handler,), {"owner": self}))
        Thread(target=self._server.serve_forever, kwargs={"poll_interval": 0.01}, daemon=True).start()
        return self

    def __exit__(self, *_: object) -> None:
        self._server.shutdown()
        self._server.server_close()

    @property
    def address(self) -> str:
        return f"127.0.0.1:{self._server.server_port}"

    def invoke(self, event: object, *, limit: int | None = None) -> Response:
        request = str(uuid4())
        response = self._responses[request] = Response(limit=limit)
        self._waiting.put((request, json.dumps(event).encode()))
        return response

    def next(self) -> tuple[str, bytes]:
        return self._waiting.get()

    def response(self, path: str) -> Response:
        response = self._responses[path.split("/")[4]]
        response.path = path
        return response


class _Server(ThreadingHTTPServer):
    daemon_threads = True

    def handle_error(self, *_: object) -> None:
        """The function's process was killed."""


class _Handler(BaseHTTPRequestHandler):
    owner: LambdaRuntimeApi
    protocol_version = "HTTP/1.1"

    def log_message(self, *_: object) -> None: ...

    def do_GET(self) -> None:
        assert self.path == "/2018-06-01/runtime/invocation/next"
        request, body = self.owner.next()
        self._reply(
            200, body, {"Lambda-Runtime-Aws-Request-Id": request, "Lambda-Runtime-Deadline-Ms": "9999999999999"}
        )

    def do_POST(self) -> None:
        if self.path == "/2018-06-01/runtime/init/error":
            self.owner.init_errors.put(json.loads(b"".join(self._body())))
        else:
            response = self.owner.response(self.path)
            response.headers = {name.lower(): value for name, value in self.headers.items()}
            for chunk in islice(self._body(), response.limit):
                response.chunks.put(chunk)
            response.chunks.put(None)
            self.close_connection = response.limit is not None
        self._reply(202, b"{}", {})

    def _body(self) -> Iterator[bytes]:
        if self.headers.get("transfer-encoding") != "chunked":
            yield self.rfile.read(int(self.headers["content-length"]))
            return
        while size := int(self.rfile.readline(), 16):
            yield self.rfile.read(size)
            self.rfile.readline()
        self.rfile.readline()

    def _reply(self, status: int, body: bytes, headers: dict[str, str]) -> None:
        self.send_response(status)
        for name, value in {**headers, "Content-Length": str(len(body))}.items():
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(body)


def event(method: str, path: str, body: object = None, *, query: str = "", **extra: Any) -> dict[str, Any]:
    """An event of a function URL, payload version 2.0."""
    http = {"method": method, "path": path, "protocol": "HTTP/1.1", "sourceIp": "203.0.113.7", "userAgent": "test"}
    return {
        "version": "2.0",
        "routeKey": "$default",
        "rawPath": path,
        "rawQueryString": query,
        "headers": {"host": HOST, "content-type": "application/json", "x-forwarded-proto": "https"},
        "requestContext": {"domainName": HOST, "http": http, "stage": "$default"},
        "isBase64Encoded": False,
        **({} if body is None else {"body": json.dumps(body)}),
        **extra,
    }
