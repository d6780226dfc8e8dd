"""Host names and origins behind a proxy."""

from collections.abc import Iterator

import pytest
from starlette.testclient import TestClient

from chie.access.authentication import load_authenticator
from chie.access.proxy import load_proxy
from chie.app import create_app
from chie.errors import ConfigurationError
from chie.http.server import require_loopback


@pytest.fixture
def client(monkeypatch: pytest.MonkeyPatch) -> Iterator[TestClient]:
    monkeypatch.setenv("CHIE_ALLOWED_HOSTS", "chie.example.com, chie-*.run.app,")
    with TestClient(create_app({}), base_url="http://10.0.0.1:8080") as client:
        yield client


@pytest.mark.parametrize(
    ("host", "status"),
    [
        ("chie.example.com", 200),
        ("CHIE.example.com:443", 200),
        ("chie-42.us-central1.run.app", 200),
        ("127.0.0.1:8080", 200),
        ("localhost", 200),
        ("evil.example", 421),
        ("chie.example.com.evil.example", 421),
        ("", 421),
    ],
)
def test_allowed_hosts(client: TestClient, host: str, status: int) -> None:
    assert client.get("/api/agents", headers={"host": host}).status_code == status


@pytest.mark.parametrize(
    ("origin", "status"),
    [
        ("https://chie.example.com", 200),
        ("https://chie-42.us-central1.run.app", 200),
        ("http://127.0.0.1:3000", 403),
        ("https://evil.example", 403),
        ("http://127.0.0.1.evil.example:3000", 403),
        ("null", 403),
    ],
)
def test_allowed_origins(client: TestClient, origin: str, status: int) -> None:
    headers = {"host": "chie.example.com", "origin": origin}
    assert client.get("/api/agents", headers=headers).status_code == status


def test_health_accepts_any_host_behind_a_proxy(client: TestClient, monkeypatch: pytest.MonkeyPatch) -> None:
    assert client.get("/health", headers={"host": "10.1.2.3"}).status_code == 421
    monkeypatch.setenv("CHIE_BEHIND_PROXY_AUTH", "1")
    with TestClient(create_app({}), base_url="http://10.0.0.1:8080") as behind:
        assert behind.get("/health", headers={"host": "10.1.2.3"}).status_code == 200
        assert behind.get("/api/agents", headers={"host": "10.1.2.3"}).status_code == 421


def test_proxy_authentication_allows_remote_hosts(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CHIE_ALLOWED_HOSTS", "chie.example.com")
    assert not load_authenticator().allows_remote
    with pytest.raises(ConfigurationError, match="set `CHIE_BEHIND_PROXY_AUTH=1`"):
        require_loopback("0.0.0.0")  # noqa: S104
    monkeypatch.setenv("CHIE_BEHIND_PROXY_AUTH", "1")
    assert load_authenticator().allows_remote


def test_proxy_authentication_needs_host_names(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CHIE_BEHIND_PROXY_AUTH", "1")
    with pytest.raises(ConfigurationError, match="not configured: CHIE_ALLOWED_HOSTS"):
        load_proxy()
