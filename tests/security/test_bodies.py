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
def place(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[str, str]]:
    """The house's address and a token. Its list of users is a mounted secret, which cannot be written."""
    folder = tmp_path_factory.mktemp("place")
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
def address(place: tuple[str, str]) -> str:
    return place[0]


@pytest.fixture
def token(place: tuple[str, str]) -> str:
    return place[1]


def drip(address: str, path: str, token: str | None, *, chunked: bool) -> bytes:
    """Begins a body and says no more; what the house makes of it, until it hangs up."""
    place = urlsplit(address)
    head = [f"POST {path} HTTP/1.1", f"Host: {place.netloc}", "Content-Type: application/json"]
    head += ["Accept: application/json, text/event-stream", f"Origin: {address}"]
    head += ["Transfer-Encoding: chunked" if chunked else "Content-Length: 100000"]
    head += [f"Authorization: Bearer {token}"] if token else []
    with socket.create_connection((place.hostname or "", place.port or 0), timeout=60) as wire:
        wire.sendall(("\r\n".join(head) + "\r\n\r\n").encode() + (b'5\r\n{"tok\r\n' if chunked else b'{"tok'))
        answer = b""
        while part := wire.recv(65536):
            answer += part
    return answer


def test_a_body_that_does_not_come_is_not_waited_for(address: str, token: str) -> None:
    for path in ("/api/knowledge", "/api/chat/stream", "/mcp/knowledge", "/v1/chat/completions"):
        for chunked in (False, True):
            head, _, body = drip(address, path, token, chunked=chunked).partition(b"\r\n\r\n")
            assert head.startswith(b"HTTP/1.1 408"), (path, head)
            assert b"connection: close" in head.lower()
            assert b"x-content-type-options: nosniff" in head.lower()
            assert json.loads(body)["code"] == "http.body_timeout"
    stranger = drip(address, "/api/login", None, chunked=False)
    assert stranger.startswith(b"HTTP/1.1 408"), "signing in reads a body before it knows who is there"
    assert patient.get(f"{address}/health").json() == {"status": "healthy"}


def test_a_body_that_is_too_large_is_refused_before_or_while_it_comes(address: str, token: str) -> None:
    known = {"authorization": f"Bearer {token}", "content-type": "application/json"}
    for path, limit in (
        ("/api/knowledge", MAX_BODY_BYTES),
        ("/v1/chat/completions", MAX_BODY_BYTES),
        ("/mcp/knowledge", MAX_BODY_BYTES),
    ):
        for endless in (False, True):
            block = b"x" * 65536
            blocks = (block for _ in range(limit // len(block) + 2))
            content = blocks if endless else b"".join(blocks)
            try:
                answer = patient.post(f"{address}{path}", headers=known, content=content)
            except httpx2.WriteError:
                continue  # the house hung up while we were still talking
            assert answer.status_code == 413, (path, endless)
            assert "too large" in answer.json()["detail"]


def test_a_stranger_is_refused_before_any_body_is_read(address: str) -> None:
    for path in ("/api/knowledge/import", "/mcp/knowledge", "/api/chat/stream"):
        answer = drip(address, path, None, chunked=False)
        assert answer.startswith(b"HTTP/1.1 401"), path


def test_a_list_of_users_may_be_a_mounted_secret(address: str, token: str) -> None:
    known = patient.get(f"{address}/api/me", headers={"authorization": f"Bearer {token}"})
    assert known.json()["id"] == "aki"
    assert patient.get(f"{address}/api/me").status_code == 401
