"""A web site on loopback whose pages, redirects and errors a test chooses."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from ssl import SSLContext
from threading import Thread
from typing import Any, Self


@dataclass(frozen=True)
class Response:
    body: bytes = b""
    status: int = 200
    headers: Mapping[str, str] = field(default_factory=dict)
    repeat: int = 1  # how often the body is sent


def html(text: str) -> Response:
    return Response(text.encode(), headers={"Content-Type": "text/html; charset=utf-8"})


def plain(text: str) -> Response:
    return Response(text.encode(), headers={"Content-Type": "text/plain; charset=utf-8"})


def redirect(location: str) -> Response:
    return Response(status=302, headers={"Location": location})


class WebSite:
    def __init__(self, pages: Mapping[str, Response], tls: SSLContext | None = None) -> None:
        self.pages = dict(pages)
        self._tls = tls
        self.requests: list[tuple[str, str]] = []  # the Host header and the path

    def __enter__(self) -> Self:
        site = self

        class Handler(BaseHTTPRequestHandler):
            def do_GET(self) -> None:
                site.requests.append((self.headers["Host"], self.path))
                page = site.pages.get(self.path, Response(status=404))
                self.send_response(page.status)
                for name, value in page.headers.items():
                    self.send_header(name, value)
                self.end_headers()
                try:
                    for _ in range(page.repeat):
                        self.wfile.write(page.body)
                except OSError:
                    pass  # the client has read enough

            def log_message(self, *_: Any) -> None:
                pass

        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        if self._tls:
            self._server.socket = self._tls.wrap_socket(
                self._server.socket, server_side=True, do_handshake_on_connect=False
            )
        self.port = self._server.server_port
        self.url = f"http://127.0.0.1:{self.port}"
        self._thread = Thread(target=self._server.serve_forever, kwargs={"poll_interval": 0.01}, daemon=True)
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._server.shutdown()
        self._server.server_close()
        self._thread.join()
