"""An OpenAI-compatible `/v1/embeddings` on loopback."""

import json
from dataclasses import dataclass
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Event, Thread
from typing import Any, Self

from tests.fakes.embedders import HashingEmbedder


@dataclass(frozen=True)
class Request:
    path: str
    headers: dict[str, str]
    body: dict[str, Any]


class EmbeddingsServer:
    """Returns valid vectors in reverse order (clients must use `index`), not normalised."""

    def __init__(self, *, dimension: int = 16, status: int = 200, answer: bytes | None = None) -> None:
        self.requests: list[Request] = []
        self.dimension = dimension
        self.silent = Event()  # while it is set, requests get no response
        self._ended = Event()
        owner = self

        class Handler(BaseHTTPRequestHandler):
            def do_POST(self) -> None:
                body = json.loads(self.rfile.read(int(self.headers["content-length"])))
                owner.requests.append(Request(self.path, {k.lower(): v for k, v in self.headers.items()}, body))
                if owner.silent.is_set():
                    owner._ended.wait()
                    return
                found = status if self.path == "/v1/embeddings" else 404
                self.send_response(found)
                self.end_headers()
                self.wfile.write(answer if answer is not None else self.vectors(body["input"]))

            def vectors(self, texts: list[str]) -> bytes:
                rows = [
                    {"index": at, "embedding": [3 * float(number) for number in row]}
                    for at, row in enumerate(HashingEmbedder(dimension=owner.dimension).embed(texts))
                ]
                return json.dumps({"data": rows[::-1], "model": "fake"}).encode()

            def log_message(self, *_: object) -> None:
                pass

        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self._server.server_port}/v1"

    def __enter__(self) -> Self:
        Thread(target=self._server.serve_forever, daemon=True).start()
        return self

    def __exit__(self, *_: object) -> None:
        self._ended.set()
        self._server.shutdown()
        self._server.server_close()
