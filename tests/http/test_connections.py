"""Connections that never finish a request do not keep others out."""

import os
import socket
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from http.client import HTTPConnection
from pathlib import Path
from urllib.parse import urlsplit

import pytest

from chie.access.settings import AccessSettings
from chie.access.users import UserFile
from chie.settings import load

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="the limit of open files is Linux's")

OPEN_FILES = 160  # so 96 connections in total, and 48 per address
PER_ADDRESS = 48
UNFINISHED = b"GET / HTTP/1.1\r\nHost: 127.0.0.1\r\nX-Slow: "
ROOT = Path(__file__).parents[2]
PATIENCE = 60


@dataclass
class HttpProcess:
    process: subprocess.Popen[str]
    urls: list[str]

    @property
    def port(self) -> int:
        return urlsplit(self.urls[0]).port or 0

    def connect(self, source: str = "127.0.0.1") -> socket.socket:
        return socket.create_connection(("127.0.0.1", self.port), PATIENCE, (source, 0))

    def client(self, source: str = "127.0.0.1") -> HTTPConnection:
        return HTTPConnection("127.0.0.1", self.port, timeout=PATIENCE, source_address=(source, 0))

    def status(self, path: str = "/", source: str = "127.0.0.1", **headers: str) -> int:
        client = self.client(source)
        client.request("GET", path, headers={name.replace("_", "-"): value for name, value in headers.items()})
        status = client.getresponse().status
        client.close()
        return status

    def stop(self) -> str:
        """What it logged that was not read yet."""
        self.process.terminate()
        return self.process.communicate(timeout=PATIENCE)[1]


@contextmanager
def http_process(host: str = "127.0.0.1", header_seconds: float = 600) -> Iterator[HttpProcess]:
    command = [sys.executable, "-m", "tests.fakes.http_process", host, str(OPEN_FILES), str(header_seconds)]
    process = subprocess.Popen(
        command, cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=os.environ
    )
    assert process.stdout
    try:
        yield HttpProcess(process, process.stdout.readline().split())
    finally:
        process.kill()
        process.communicate()


def send_slowly(server: HttpProcess, source: str = "127.0.0.1") -> socket.socket:
    connection = server.connect(source)
    connection.sendall(UNFINISHED)
    return connection


@pytest.mark.parametrize(
    "source", [lambda _: "127.0.0.1", lambda number: f"127.0.1.{number % 9 + 1}"], ids=["one", "nine"]
)
def test_unfinished_headers_keep_nobody_out(source: Callable[[int], str]) -> None:
    with http_process() as server, ExitStack() as slow:
        for number in range(OPEN_FILES + 90):
            slow.enter_context(send_slowly(server, source(number)))
        assert [server.status() for _ in range(3)] == [200] * 3
        log = server.stop()
    assert log.count("too many connections") == 1
    assert "Traceback" not in log


def test_unfinished_header_ends_the_connection_and_a_running_request_does_not() -> None:
    with http_process(header_seconds=0.2) as server:
        waiting = server.client()
        waiting.request("GET", "/wait")
        with send_slowly(server) as slow:
            assert slow.recv(1) == b""
        with server.connect() as used:
            used.sendall(b"GET / HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n" + UNFINISHED)
            with used.makefile("rb") as answers:
                assert answers.read().endswith(b"hello"), "the second request on a connection has a limit as well"
        assert server.status("/release") == 200
        assert waiting.getresponse().read() == b"waiting, released"
        waiting.close()


def test_one_address_cannot_take_all_connections() -> None:
    with http_process() as server, ExitStack() as stack:
        for _ in range(PER_ADDRESS):
            client = stack.enter_context(server.connect())
            client.sendall(b"GET /wait HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n")
            assert client.recv(1), "the response has begun"
        assert server.status() == 503
        assert server.status(source="127.0.0.2") == 200


def test_accept_errors_are_logged_once() -> None:
    with http_process() as server:
        client = server.client()
        client.request("GET", "/limit-files")
        assert client.getresponse().read() == b"done"
        late = server.client()
        late.request("GET", "/")
        assert server.process.stderr
        assert "cannot accept connections" in server.process.stderr.readline()
        client.request("GET", f"/limit-files?number={OPEN_FILES}")
        assert client.getresponse().read() == b"done"
        assert late.getresponse().status == 200
        for open_client in (client, late):
            open_client.close()
        assert "accept" not in server.stop()


def test_forwarded_addresses_do_not_evade_the_limit_on_wrong_tokens() -> None:
    UserFile(load(AccessSettings).users_path).add("aki")
    with http_process() as server:
        statuses = [server.status(Authorization="Bearer chie_guess", X_Forwarded_For=f"10.0.0.{n}") for n in range(25)]
    assert (statuses[0], statuses[-1]) == (401, 429)


def test_all_addresses_are_announced_as_urls_that_open() -> None:
    UserFile(load(AccessSettings).users_path).add("aki")
    with http_process("0.0.0.0") as server:  # noqa: S104
        assert server.urls[0] == f"http://127.0.0.1:{server.port}"
        assert "0.0.0.0" not in " ".join(server.urls)  # noqa: S104
        assert [urlsplit(url).port for url in server.urls] == [server.port] * len(server.urls)
        assert server.status() == 401
