"""A model server on loopback with scripted answers and errors; the protocols are in the neighbouring modules."""

import json
from abc import ABC, abstractmethod
from collections import deque
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from http.server import BaseHTTPRequestHandler
from socket import SHUT_RDWR, socket
from threading import Event
from typing import Any

from tests.fakes.loopback import Loopback

from chie.chat.agents.titles import SYSTEM


@dataclass(frozen=True)
class Use:
    """The model calls a tool; the arguments are sent as they are, well-formed or not."""

    name: str
    arguments: str = "{}"
    id: str = "call_0"


@dataclass(frozen=True)
class Say:
    """A whole answer: reasoning, if the protocol has it, text, then calls; `limited` by tokens or `filtered`."""

    pieces: tuple[str, ...] = ()
    calls: tuple[Use, ...] = ()
    thought: str = ""
    limited: bool = False
    filtered: bool = False

    def reason(self, *, limit: str, filtered: str, calls: str, end: str) -> str:
        """The finish reason in the protocol's own terms."""
        if self.limited or self.filtered:
            return limit if self.limited else filtered
        return calls if self.calls else end


@dataclass(frozen=True)
class Refuse:
    """An HTTP error instead of an answer, with the provider's words."""

    status: int
    words: str = "sk-very-secret is not liked here"


@dataclass(frozen=True)
class Cut:
    """Some text, then the connection breaks."""

    text: str


@dataclass(frozen=True)
class Stall:
    """Some text, then silence until the server is closed."""

    text: str


Step = Say | Refuse | Cut | Stall


def say(*pieces: str) -> Say:
    return Say(pieces)


def use(*calls: Use, text: str = "") -> Say:
    return Say((text,) if text else (), calls)


class _Handler(BaseHTTPRequestHandler):
    owner: "ModelServer"
    protocol_version = "HTTP/1.1"

    def log_message(self, *_: object) -> None: ...

    def do_GET(self) -> None:
        body = (
            self.owner.listing() if self.path.partition("?")[0].endswith("/models") else self.owner.described(self.path)
        )
        self._whole(200 if body else 404, {"content-type": "application/json"}, body or b"{}")

    def do_POST(self) -> None:
        self.owner.headers.append({name.lower(): value for name, value in self.headers.items()})
        request = json.loads(self.rfile.read(int(self.headers["content-length"])))
        step = self.owner.step(request)
        match step:
            case Refuse(status, words):
                self._whole(status, *self.owner.refusal(status, words))
            case Say():
                self._stream(self.owner.frames(step))
                self._chunk(b"")
            case Cut(text):
                self._stream(self.owner.opening(text))
                self.close_connection = True
            case Stall(text):
                self.owner.stalled = self.connection
                self._stream(self.owner.opening(text))
                self._wait_for_disconnect()
                self.close_connection = True

    def _whole(self, status: int, headers: dict[str, str], body: bytes) -> None:
        self.send_response(status)
        for name, value in {**headers, "content-length": str(len(body))}.items():
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(body)

    def _stream(self, frames: Iterator[bytes]) -> None:
        self.send_response(200)
        self.send_header("content-type", self.owner.content_type)
        self.send_header("transfer-encoding", "chunked")
        self.end_headers()
        for frame in frames:
            self._chunk(frame)

    def _chunk(self, data: bytes) -> None:
        self.wfile.write(f"{len(data):x}\r\n".encode() + data + b"\r\n")
        self.wfile.flush()

    def _wait_for_disconnect(self) -> None:
        self.connection.settimeout(30)
        if self.connection.recv(1) == b"":
            self.owner.left.set()


class ModelServer(Loopback, ABC):
    """Each request takes one step of `script`; `seen` are the bodies of the requests."""

    handler = _Handler
    kind: str

    def __init__(self, *script: Step) -> None:
        self.script = deque(script)
        self.seen: list[dict[str, Any]] = []
        self.headers: list[dict[str, str]] = []
        self.left = Event()
        self.stalled: socket | None = None
        self.titles = deque[Step]()
        self.titled: list[dict[str, Any]] = []

    @property
    def address(self) -> str:
        return self.url

    def disconnect(self) -> None:
        """End an answer that stalls in the middle."""
        assert self.stalled is not None
        self.stalled.shutdown(SHUT_RDWR)

    @abstractmethod
    def frames(self, step: Say) -> Iterator[bytes]:
        """A whole answer on the wire, frame by frame."""

    @abstractmethod
    def opening(self, text: str) -> Iterator[bytes]:
        """The start of an answer that will not end."""

    @abstractmethod
    def refusal(self, status: int, words: str) -> tuple[dict[str, str], bytes]:
        """Headers and body of an error."""

    @property
    @abstractmethod
    def content_type(self) -> str: ...

    @abstractmethod
    def turns(self, request: dict[str, Any]) -> list[tuple[str, str]]:
        """Roles and texts of a request in order, without calls and results."""

    @abstractmethod
    def results(self, request: dict[str, Any]) -> list[tuple[str, str]]:
        """The id and text of every tool result in a request."""

    @abstractmethod
    def tools(self, request: dict[str, Any]) -> list[str]:
        """The names of the tools in a request."""

    def takes(self, request: dict[str, Any]) -> bool:
        """Amazon's and Anthropic's servers reject blocks of white space."""
        return self.kind == "openai" or all(text.strip() for _, text in self.turns(request))

    def step(self, request: dict[str, Any]) -> Step:
        """Titles of conversations are asked for beside the script, whenever an answer has ended."""
        if SYSTEM[:40] in json.dumps(request):
            self.titled.append(request)
            return self.titles.popleft() if self.titles else say()
        self.seen.append(request)
        return self.script.popleft() if self.takes(request) else Refuse(400)

    def listing(self) -> bytes | None:
        """The response to GET, if any."""
        return None

    def described(self, path: str) -> bytes | None:  # noqa: ARG002
        """The same for every other path than that of the models."""
        return self.listing()


def halves(text: str) -> Sequence[str]:
    middle = len(text) // 2
    return [part for part in (text[:middle], text[middle:]) if part]
