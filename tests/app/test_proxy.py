"""What stands before Chie: its names are let in, all others are not."""

from collections.abc import Iterator

import pytest
from starlette.testclient import TestClient

from chie.access.proxy import load_proxy
from chie.app import create_app
from chie.errors import ConfigurationError
from chie.mcp_kit.server import refuse_open_address


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
def test_names_that_are_ours_are_let_in(client: TestClient, host: str, status: int) -> None:
    assert client.get("/api/agents", headers={"host": host}).status_code == status


@pytest.mark.parametrize(
    ("origin", "status"),
    [
        ("https://chie.example.com", 200),
        ("https://chie-42.us-central1.run.app", 200),
        ("http://127.0.0.1:3000", 200),
        ("https://evil.example", 403),
        ("http://127.0.0.1.evil.example:3000", 403),
        ("null", 403),
    ],
)
def test_pages_that_are_ours_may_write(client: TestClient, origin: str, status: int) -> None:
    headers = {"host": "chie.example.com", "origin": origin}
    assert client.get("/api/agents", headers=headers).status_code == status


def test_probes_may_ask_under_any_name_only_behind_a_proxy(client: TestClient, monkeypatch: pytest.MonkeyPatch) -> None:
    assert client.get("/health", headers={"host": "10.1.2.3"}).status_code == 421
    monkeypatch.setenv("CHIE_BEHIND_PROXY_AUTH", "1")
    with TestClient(create_app({}), base_url="http://10.0.0.1:8080") as behind:
        assert behind.get("/health", headers={"host": "10.1.2.3"}).status_code == 200
        assert behind.get("/api/agents", headers={"host": "10.1.2.3"}).status_code == 421


def test_it_listens_beyond_this_machine_only_where_a_proxy_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CHIE_ALLOWED_HOSTS", "chie.example.com")
    with pytest.raises(ConfigurationError, match="proxy in front knows them already, set CHIE_BEHIND_PROXY_AUTH=1"):
        refuse_open_address("0.0.0.0")  # noqa: S104
    monkeypatch.setenv("CHIE_BEHIND_PROXY_AUTH", "1")
    refuse_open_address("0.0.0.0")  # noqa: S104


def test_behind_a_proxy_the_names_must_be_known(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CHIE_BEHIND_PROXY_AUTH", "1")
    with pytest.raises(ConfigurationError, match="not configured: CHIE_ALLOWED_HOSTS"):
        load_proxy()
