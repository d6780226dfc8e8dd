"""A server on loopback that takes hook calls as Chie does, and records them."""

import json
from dataclasses import dataclass
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Event, Thread
from typing import Any, Self


@dataclass(frozen=True)
class Call:
    path: str
    headers: dict[str, str]
    body: Any


class HookServer:
    """`answers` has the response by event name: JSON, or bytes to send as they are. Other events get 204.

    With `status`, every call gets that status; with `stalled`, none is answered before the server closes.
    """

    def __init__(self, answers: dict[str, Any] | None = None, *, status: int = 200, stalled: bool = False) -> None:
        self.answers = answers or {}
        self.status = status
        self.stalled = stalled
        self.calls: list[Call] = []
        self.closing = Event()

    def __enter__(self) -> Self:
        self._server = ThreadingHTTPServer(("127.0.0.1", 0), type("Handler", (_Handler,), {"owner": self}))
        self._server.daemon_threads = True
        self._thread = Thread(target=self._server.serve_forever, kwargs={"poll_interval": 0.01}, daemon=True)
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self.closing.set()
        self._server.shutdown()
        self._server.server_close()
        self._thread.join()

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self._server.server_port}"

    def bodies(self, event: str) -> list[dict[str, Any]]:
        return [call.body for call in self.calls if call.body.get("hook_event_name") == event]


class _Handler(BaseHTTPRequestHandler):
    owner: HookServer
    protocol_version = "HTTP/1.1"

    def log_message(self, *_: object) -> None:
        pass

    def do_GET(self) -> None:
        self._take({})

    def do_POST(self) -> None:
        self._take(json.loads(self.rfile.read(int(self.headers.get("content-length") or 0)) or b"{}"))

    def _take(self, body: dict[str, Any]) -> None:
        owner = self.owner
        owner.calls.append(Call(self.path, {name.lower(): value for name, value in self.headers.items()}, body))
        if owner.stalled:
            owner.closing.wait()
            self.close_connection = True
            return
        answer = owner.answers.get(body.get("hook_event_name") or self.path)
        content = answer if isinstance(answer, bytes) else b"" if answer is None else json.dumps(answer).encode()
        self.send_response(owner.status if content or owner.status != 200 else 204)
        if content:
            self.send_header("content-type", "application/json")
        if content or owner.status != 200:
            self.send_header("content-length", str(len(content)))
        self.end_headers()
        self.wfile.write(content)
