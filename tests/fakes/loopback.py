"""A server on a free port of loopback, in threads of its own."""

from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread
from typing import Any, ClassVar, Self


class Handler(BaseHTTPRequestHandler):
    """`owner` is the server object, which has the script and the record."""

    owner: Any
    protocol_version = "HTTP/1.1"

    def log_message(self, *_: object) -> None:
        pass

    def do_HEAD(self) -> None:
        self.head()

    def do_GET(self) -> None:
        self.get()

    def do_POST(self) -> None:
        self.post()

    def head(self) -> None:
        self.get()

    def get(self) -> None:
        self.send_error(404)

    def post(self) -> None:
        self.send_error(404)

    def body(self) -> bytes:
        return self.rfile.read(int(self.headers.get("content-length") or 0))


class Loopback:
    handler: ClassVar[type[BaseHTTPRequestHandler]]
    _port = 0

    def __enter__(self) -> Self:
        """On the same port as before, if it ran before."""
        self._server = ThreadingHTTPServer(("127.0.0.1", self._port), type("Bound", (self.handler,), {"owner": self}))
        self._server.daemon_threads = True
        self._port = self._server.server_port
        self._thread = Thread(target=self._server.serve_forever, kwargs={"poll_interval": 0.01}, daemon=True)
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._server.shutdown()
        self._server.server_close()
        self._thread.join()

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self._server.server_port}"
