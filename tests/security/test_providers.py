"""Authentication by an OIDC provider, and by a proxy in front."""

from collections.abc import Iterator
from contextlib import contextmanager, nullcontext
from typing import Any, Literal

import pytest
from fastmcp import Client
from fastmcp.client.transports import StreamableHttpTransport
from starlette.testclient import TestClient
from starlette.websockets import WebSocketDisconnect
from tests.fakes.agents import FakeRegistry
from tests.fakes.chat import serving
from tests.fakes.identity_provider import AUDIENCE, Provider, provider
from tests.security.conftest import ADDRESS, SECRET, add_users

from chie.app import create_app
from chie.knowledge.server import create_server
from chie.knowledge.store.sqlite.store import SqliteStore

ConnectMode = Literal["auto", "legacy"]


@pytest.fixture(scope="module")
def issuer() -> Iterator[Provider]:
    with provider() as made:
        yield made


@pytest.fixture
def settings(issuer: Provider, monkeypatch: pytest.MonkeyPatch) -> pytest.MonkeyPatch:
    monkeypatch.setenv("CHIE_AUTH_ISSUER", issuer.issuer)
    monkeypatch.setenv("CHIE_AUTH_AUDIENCE", AUDIENCE)
    return monkeypatch


@contextmanager
def app_client(store: SqliteStore) -> Iterator[TestClient]:
    app = create_app({"knowledge": create_server(store=store)}, nullcontext(FakeRegistry()))
    with TestClient(app, base_url=ADDRESS) as client:
        yield client


def bearer(token: str) -> dict[str, str]:
    return {"authorization": f"Bearer {token}"}


@pytest.mark.usefixtures("settings")
def test_jwts_are_accepted_beside_tokens_of_users(store: SqliteStore, issuer: Provider) -> None:
    tokens = add_users()
    with app_client(store) as client:
        assert client.get("/api/me", headers=bearer(issuer.token(sub="dai"))).json()["id"] == "dai"
        assert client.get("/api/me", headers=bearer(tokens["aki"])).json()["id"] == "aki"
        assert client.get("/v1/models", headers=bearer(issuer.token())).status_code == 200
        assert client.get("/v1/models").json()["error"]["code"] == "access.token_missing"
        expired = client.get("/api/me", headers=bearer(issuer.token(exp=1)))
        assert (expired.status_code, expired.json()["code"]) == (401, "access.token_expired")
        signed = client.post("/api/login", json={"token": issuer.token(sub="dai")}, headers={"origin": ADDRESS})
        assert signed.json()["id"] == "dai"
        long = client.post("/api/login", json={"token": issuer.token(more="x" * 4000)}, headers={"origin": ADDRESS})
        assert "too long" in long.json()["detail"]


@pytest.mark.usefixtures("settings")
def test_protected_resource_metadata(store: SqliteStore, issuer: Provider) -> None:
    with app_client(store) as client:
        refused = client.post("/mcp/knowledge", json={})
        metadata_url = f"{ADDRESS}/.well-known/oauth-protected-resource/mcp/knowledge"
        assert f'resource_metadata="{metadata_url}"' in refused.headers["www-authenticate"]
        assert client.get(metadata_url).json() == {
            "resource": f"{ADDRESS}/mcp/knowledge",
            "authorization_servers": [issuer.issuer],
            "bearer_methods_supported": ["header"],
            "resource_name": "Chie",
        }


def test_only_signed_headers_of_a_proxy_count(
    store: SqliteStore, issuer: Provider, settings: pytest.MonkeyPatch
) -> None:
    settings.setenv("CHIE_AUTH_HEADER", "X-Goog-IAP-JWT-Assertion")
    settings.setenv("CHIE_AUTH_USER_CLAIM", "email")
    signed = {"x-goog-iap-jwt-assertion": issuer.token(email="dai@example.com")}
    plain = {"x-goog-iap-jwt-assertion": "dai@example.com", "x-goog-authenticated-user-email": "dai@example.com"}
    with app_client(store) as client:
        assert client.get("/api/me", headers=signed).json()["id"] == "dai@example.com"
        assert client.post("/api/knowledge", json={"content": "from a program"}, headers=signed).status_code == 201
        assert client.get("/api/me", headers=plain).status_code == 401
        foreign = signed | {"sec-fetch-site": "cross-site"}
        assert client.post("/api/knowledge", json={"content": "forged"}, headers=foreign).status_code == 403


@pytest.mark.usefixtures("settings")
def test_unreachable_provider_is_a_503(store: SqliteStore, issuer: Provider) -> None:
    issuer.ill = True
    try:
        with app_client(store) as client:
            answer = client.get("/api/me", headers=bearer(issuer.token()))
            assert (answer.status_code, answer.json()["code"]) == (503, "access.provider_keys_unavailable")
            assert client.get("/health").json()["status"] == "healthy"
    finally:
        issuer.ill = False


def test_websockets_are_closed(store: SqliteStore) -> None:
    with app_client(store) as client, pytest.raises(WebSocketDisconnect), client.websocket_connect("/api/me"):
        pass


@pytest.mark.parametrize("mode", ["auto", "legacy"])
async def test_mcp_client_is_authenticated_in_both_protocol_versions(store: SqliteStore, mode: ConnectMode) -> None:
    tokens = add_users()
    app = create_app({"knowledge": create_server(store=store)}, nullcontext(FakeRegistry()))

    def connect(address: str, who: str) -> "Client[Any]":
        way = StreamableHttpTransport(f"{address}/mcp/knowledge", headers=bearer(tokens[who]))
        return Client(way, mode=mode)

    async with serving(app) as address:
        async with connect(address, "aki") as aki:
            note = {"content": f"{SECRET} is mine", "private": True}
            saved: Any = (await aki.call_tool("save_knowledge", note)).structured_content
            assert saved["user_id"] == "aki"
        async with connect(address, "ben") as ben:
            found = await ben.call_tool("get_knowledge", {"id": saved["id"]}, raise_on_error=False)
            listed = await ben.call_tool("list_knowledge", {})
        assert found.is_error
        assert SECRET not in str(listed.structured_content)
