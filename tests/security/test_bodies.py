"""Bodies that are too large or that never end, at a real process on a real socket."""

import json
import socket
from collections.abc import Iterator
from urllib.parse import urlsplit

import httpx2
import pytest
from tests.fakes import patient
from tests.security.process import app_process

from chie.access.users import UserFile
from chie.http.body_limit import MAX_BODY_BYTES


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[str, str]]:
    """The app's URL and a token. Its user file is a mounted secret, which cannot be written."""
    folder = tmp_path_factory.mktemp("server")
    token = UserFile(folder / "mounted" / "users.json").add("aki")
    (folder / "mounted").chmod(0o555)
    settings = {
        "CHIE_HOME": str(folder / "home"),
        "CHIE_USERS_FILE": str(folder / "mounted" / "users.json"),
        "CHIE_BODY_SECONDS": "0.5",
    }
    with app_process(folder / "log", settings) as address:
        yield address, token
    (folder / "mounted").chmod(0o755)


@pytest.fixture
def address(server: tuple[str, str]) -> str:
    return server[0]


@pytest.fixture
def token(server: tuple[str, str]) -> str:
    return server[1]


def drip(address: str, path: str, token: str | None, *, chunked: bool) -> bytes:
    """Send the beginning of a body and nothing more; returns the response after the server has closed."""
    url = urlsplit(address)
    head = [f"POST {path} HTTP/1.1", f"Host: {url.netloc}", "Content-Type: application/json"]
    head += ["Accept: application/json, text/event-stream", f"Origin: {address}"]
    head += ["Transfer-Encoding: chunked" if chunked else "Content-Length: 100000"]
    head += [f"Authorization: Bearer {token}"] if token else []
    with socket.create_connection((url.hostname or "", url.port or 0), timeout=60) as wire:
        wire.sendall(("\r\n".join(head) + "\r\n\r\n").encode() + (b'5\r\n{"tok\r\n' if chunked else b'{"tok'))
        answer = b""
        while part := wire.recv(65536):
            answer += part
    return answer


def test_incomplete_body_times_out(address: str, token: str) -> None:
    for path in ("/api/knowledge", "/api/chat/stream", "/mcp/knowledge", "/v1/chat/completions"):
        for chunked in (False, True):
            head, _, body = drip(address, path, token, chunked=chunked).partition(b"\r\n\r\n")
            assert head.startswith(b"HTTP/1.1 408"), (path, head)
            assert b"connection: close" in head.lower()
            assert b"x-content-type-options: nosniff" in head.lower()
            assert json.loads(body)["code"] == "http.body_timeout"
    sign_in = drip(address, "/api/login", None, chunked=False)
    assert sign_in.startswith(b"HTTP/1.1 408"), "signing in reads the body without authentication"
    assert patient.get(f"{address}/health").json() == {"status": "healthy"}


def test_too_large_body_is_rejected(address: str, token: str) -> None:
    known = {"authorization": f"Bearer {token}", "content-type": "application/json"}
    for path in ("/api/knowledge", "/v1/chat/completions", "/mcp/knowledge"):
        for endless in (False, True):
            block = b"x" * 65536
            blocks = (block for _ in range(MAX_BODY_BYTES // len(block) + 2))
            content = blocks if endless else b"".join(blocks)
            try:
                answer = patient.post(f"{address}{path}", headers=known, content=content)
            except httpx2.WriteError:
                continue  # the server closed while the body was still being sent
            assert answer.status_code == 413, (path, endless)
            assert answer.json()["code"] == "http.body_too_large"


def test_unauthenticated_request_is_rejected_before_its_body_is_read(address: str) -> None:
    for path in ("/api/knowledge/import", "/mcp/knowledge", "/api/chat/stream"):
        answer = drip(address, path, None, chunked=False)
        assert answer.startswith(b"HTTP/1.1 401"), path


def test_user_file_may_be_a_mounted_secret(address: str, token: str) -> None:
    known = patient.get(f"{address}/api/me", headers={"authorization": f"Bearer {token}"})
    assert known.json()["id"] == "aki"
    assert patient.get(f"{address}/api/me").status_code == 401
