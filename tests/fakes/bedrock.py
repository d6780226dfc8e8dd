"""A fake Bedrock Agent Runtime on loopback: rest-json, event streams with checksums, and errors of both.

Requests are validated against the SDK's own model of the API and must be signed. Replies are scripted: first those of
`bedrock.replies(...)` in order, then always `bedrock.default`.
"""

import json
import re
import struct
import threading
from collections import deque
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import unquote
from zlib import crc32

from tests.fakes.bedrock_model import request_errors

Reply = Callable[["Handler"], None]

SESSION = "4f1c9f2e-0000-4000-8000-000000000001"
REQUEST_ID = "c0ffee00-1111-2222-3333-444444444444"
SESSION_HEADER = "x-amzn-bedrock-knowledge-base-session-id"

ROUTES = {
    re.compile(r"/retrieveAndGenerate"): "RetrieveAndGenerate",
    re.compile(r"/retrieveAndGenerateStream"): "RetrieveAndGenerateStream",
    re.compile(r"/knowledgebases/(?P<knowledgeBaseId>[^/]+)/retrieve"): "Retrieve",
}


def reference(text: str = "Restart the pod.", uri: str = "s3://docs/runbook.md", **more: Any) -> dict[str, Any]:
    return {
        "content": {"type": "TEXT", "text": text},
        "location": {"type": "S3", "s3Location": {"uri": uri}},
        "metadata": {"x-amz-bedrock-kb-source-uri": uri, "team": "infra"},
        **more,
    }


ANSWER = "Restart the pod. Then wait."
GENERATED = {
    "sessionId": SESSION,
    "output": {"text": ANSWER},
    "citations": [
        {
            "generatedResponsePart": {
                "textResponsePart": {"text": "Restart the pod.", "span": {"start": 0, "end": 15}}
            },
            "retrievedReferences": [reference()],
        }
    ],
}
RETRIEVED = {"retrievalResults": [reference(score=0.91), reference("Unrelated.", "s3://docs/other.md", score=0.12)]}


@dataclass
class Call:
    operation: str
    params: dict[str, Any]
    headers: Mapping[str, str]


@dataclass
class Bedrock:
    url: str
    calls: list[Call] = field(default_factory=list)
    invalid_requests: list[str] = field(default_factory=list)
    script: deque[Reply] = field(default_factory=deque)
    default: dict[str, Reply] = field(default_factory=dict)
    called: threading.Semaphore = field(default_factory=lambda: threading.Semaphore(0))

    def replies(self, *replies: Reply) -> None:
        self.script.extend(replies)

    def next_reply(self, operation: str) -> Reply:
        return self.script.popleft() if self.script else self.default[operation]

    @property
    def operations(self) -> list[str]:
        return [call.operation for call in self.calls]


class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True
    server: "_Server"

    def log_message(self, format: str, *arguments: Any) -> None:  # noqa: A002
        """Keep the test output clean."""

    def do_POST(self) -> None:
        body = json.loads(self.rfile.read(int(self.headers.get("content-length") or 0)) or b"{}")
        for pattern, operation in ROUTES.items():
            if found := pattern.fullmatch(unquote(self.path)):
                self._answer(operation, body | found.groupdict())
                return
        refuse(404, "UnknownOperationException")(self)

    def _answer(self, operation: str, params: dict[str, Any]) -> None:
        bedrock = self.server.bedrock
        reply = self._rejection(operation, params) or bedrock.next_reply(operation)
        bedrock.calls.append(Call(operation, params, dict(self.headers.items())))
        bedrock.called.release()
        reply(self)

    def _rejection(self, operation: str, params: dict[str, Any]) -> Reply | None:
        """The reply to a request that the real service would reject."""
        if problems := request_errors(operation, params):
            self.server.bedrock.invalid_requests.extend(problems)
            return refuse(400, "ValidationException", "; ".join(problems))
        if "AWS4-HMAC-SHA256" not in self.headers.get("authorization", ""):
            return refuse(403, "MissingAuthenticationTokenException", "Missing Authentication Token")
        return None

    def send(self, status: int, data: bytes, **headers: str) -> None:
        self.begin(status, content_length=str(len(data)), **headers)
        self.wfile.write(data)

    def begin(self, status: int, **headers: str) -> None:
        self.send_response(status)
        self.send_header("x-amzn-requestid", REQUEST_ID)
        for name, value in headers.items():
            self.send_header(name.replace("_", "-"), value)
        self.end_headers()

    def chunk(self, data: bytes) -> None:
        self.wfile.write(b"%x\r\n%s\r\n" % (len(data), data))
        self.wfile.flush()


def answer(body: Mapping[str, Any]) -> Reply:
    return lambda handler: handler.send(200, json.dumps(body).encode(), content_type="application/json")


def refuse(status: int, code: str, message: str = "something is wrong", **headers: str) -> Reply:
    body = json.dumps({"message": message}).encode()
    return lambda handler: handler.send(
        status, body, content_type="application/json", x_amzn_errortype=f"{code}:http://internal.amazon.com/", **headers
    )


def hold(until: threading.Event, then: Reply) -> Reply:
    """Reply once `until` is set, unless the client has disconnected by then."""

    def reply(handler: Handler) -> None:
        until.wait(30)
        then(handler)

    return _ignoring_disconnect(reply)


def stream(*frames: bytes, session: str = SESSION) -> Reply:
    """An event stream, one HTTP chunk for each frame."""

    def reply(handler: Handler) -> None:
        _begin_stream(handler, session)
        for one in frames:
            handler.chunk(one)
        handler.chunk(b"")

    return _ignoring_disconnect(reply)


def stall(*frames: bytes, until: threading.Event, then: tuple[bytes, ...] = ()) -> Reply:
    """Send some frames, pause until `until` is set, then send the rest."""

    def reply(handler: Handler) -> None:
        _begin_stream(handler, SESSION)
        for one in frames:
            handler.chunk(one)
        until.wait(30)
        for one in then:
            handler.chunk(one)
        handler.chunk(b"")

    return _ignoring_disconnect(reply)


def repeat(one: bytes, *, gone: threading.Event, most: int = 100_000) -> Reply:
    """Send the same frame until the client disconnects, which sets `gone`."""

    def reply(handler: Handler) -> None:
        handler.close_connection = True
        _begin_stream(handler, SESSION)
        try:
            for _ in range(most):
                handler.chunk(one)
        except OSError:
            gone.set()

    return reply


def hang_up(*frames: bytes) -> Reply:
    """Close the connection in the middle of the HTTP body."""

    def reply(handler: Handler) -> None:
        _begin_stream(handler, SESSION)
        for one in frames:
            handler.chunk(one)
        handler.close_connection = True

    return reply


def truncated(data: bytes) -> Reply:
    """A complete HTTP body that ends inside an event."""
    return lambda handler: handler.send(
        200, data, content_type="application/vnd.amazon.eventstream", **{SESSION_HEADER: SESSION}
    )


def frame(headers: Mapping[str, str], payload: bytes) -> bytes:
    """One message of `application/vnd.amazon.eventstream`; 7 is the type of a string header."""
    head = b"".join(
        struct.pack("!B", len(name)) + name.encode() + b"\x07" + struct.pack("!H", len(value)) + value.encode()
        for name, value in headers.items()
    )
    prelude = struct.pack("!II", 16 + len(head) + len(payload), len(head))
    message = prelude + struct.pack("!I", crc32(prelude)) + head + payload
    return message + struct.pack("!I", crc32(message))


def event(name: str, body: Mapping[str, Any]) -> bytes:
    headers = {":event-type": name, ":content-type": "application/json", ":message-type": "event"}
    return frame(headers, json.dumps(body).encode())


def exception(name: str, message: str) -> bytes:
    headers = {":exception-type": name, ":content-type": "application/json", ":message-type": "exception"}
    return frame(headers, json.dumps({"message": message}).encode())


def damaged(one: bytes) -> bytes:
    """The same message with one payload byte changed, so that its checksum is wrong."""
    return one[:-6] + bytes([one[-6] ^ 0xFF]) + one[-5:]


def output(text: str) -> bytes:
    return event("output", {"text": text})


def citation(part: Mapping[str, Any] | None = None, *, flat: bool = False) -> bytes:
    body = GENERATED["citations"][0] if part is None else part  # type: ignore[index]
    return event("citation", body if flat else {"citation": body})


@contextmanager
def serving() -> Iterator[Bedrock]:
    server = _Server(("127.0.0.1", 0), Handler)
    server.bedrock = Bedrock(f"http://127.0.0.1:{server.server_port}")
    server.bedrock.default = {
        "RetrieveAndGenerate": answer(GENERATED),
        "RetrieveAndGenerateStream": stream(output("Restart the pod."), output(" Then wait."), citation()),
        "Retrieve": answer(RETRIEVED),
    }
    threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01}, daemon=True).start()
    try:
        yield server.bedrock
    finally:
        server.shutdown()
        server.server_close()


class _Server(ThreadingHTTPServer):
    daemon_threads = True
    block_on_close = False
    request_queue_size = 128
    bedrock: Bedrock


def _begin_stream(handler: Handler, session: str) -> None:
    handler.begin(
        200,
        content_type="application/vnd.amazon.eventstream",
        transfer_encoding="chunked",
        **{SESSION_HEADER: session},
    )


def _ignoring_disconnect(reply: Reply) -> Reply:
    def wrapped(handler: Handler) -> None:
        try:
            reply(handler)
        except OSError:
            handler.close_connection = True

    return wrapped
