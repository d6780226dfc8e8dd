"""Logins at a remote server behind FastMCP's own authorization server: the whole app over ASGI, both databases."""

import json
import logging
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs

import httpx2
import pytest
from tests.fakes.loopback import Handler, Loopback
from tests.fakes.oauth_mcp import OAuthMcp

from chie.access.identity import User, acting_as
from chie.app import create_app
from chie.chat.agents.assembly import open_agents
from chie.chat.sessions.secret_box import KEY_FILE
from chie.chat.settings import ChatSettings
from chie.chat.toolbox.checked_transport import CheckedTransport, RefusedUrlError
from chie.chat.toolbox.message_limits import create_http_client
from chie.settings import load
from chie.web_fetch.url_policy import UrlPolicy


class _InsideHandler(Handler):
    def get(self) -> None:
        self.owner.requests.append(self.path)
        self.owner.hosts.append(self.headers["host"])
        super().get()

    post = get


class Inside(Loopback):
    """Has nothing, and keeps the paths and the hosts that it was asked for."""

    handler = _InsideHandler

    def __init__(self) -> None:
        self.requests: list[str] = []
        self.hosts: list[str] = []

    @property
    def port(self) -> int:
        return self._server.server_port


pytestmark = pytest.mark.req("AG-10")

ADDRESS = "http://127.0.0.1:8080"


@pytest.fixture
def vault() -> Iterator[OAuthMcp]:
    with OAuthMcp() as server:
        yield server


class App:
    def __init__(self, client: httpx2.AsyncClient, registry: Any) -> None:
        self.client = client
        self.registry = registry

    async def start(self, server: str = "vault") -> dict[str, str]:
        """The parameters of the redirect back to us, after the user has agreed at the provider."""
        response = await self.client.post(f"/api/mcp/servers/{server}/login")
        assert response.status_code == 200, response.text
        async with httpx2.AsyncClient() as browser:
            back = await browser.get(response.json()["url"], follow_redirects=False)
        return await parsed(self, back.headers["location"])

    async def log_in(self, server: str = "vault") -> httpx2.Response:
        return await self.client.post("/api/mcp/oauth/finish", json=await self.start(server))

    async def state(self, server: str = "vault") -> dict[str, Any]:
        servers = (await self.client.get("/api/mcp/servers")).json()["servers"]
        return next(one for one in servers if one["name"] == server)


async def parsed(app: App, location: str) -> dict[str, str]:
    """What the page gets from the provider's redirect."""
    assert location.startswith(f"{ADDRESS}/api/mcp/oauth/callback?")
    here = await app.client.get(location)
    assert here.status_code == 303
    path, _, query = here.headers["location"].partition("?")
    assert path == "../../../#/servers/login"
    return {name: value[0] for name, value in parse_qs(query).items()}


def write_servers(home: Path, servers: dict[str, Any]) -> None:
    home.mkdir(exist_ok=True)
    (home / "servers.json").write_text(json.dumps(servers))


def files_below(folder: Path) -> dict[Path, bytes]:
    return {file: file.read_bytes() for file in folder.rglob("*") if file.is_file()}


@asynccontextmanager
async def opened(home: Path, servers: dict[str, Any]) -> AsyncIterator[App]:
    write_servers(home, servers)
    registry = open_agents(load(ChatSettings), {})
    app = create_app({}, registry)
    transport = httpx2.ASGITransport(app)
    async with (
        app.router.lifespan_context(app),
        httpx2.AsyncClient(transport=transport, base_url=ADDRESS, headers={"Origin": ADDRESS}) as client,
    ):
        yield App(client, app.state.chat.agents)


async def test_login_connects_the_server_and_logout_forgets_it(home: Path, vault: OAuthMcp) -> None:
    async with opened(home, {"vault": {"url": vault.url}}) as app:
        failed = await app.client.post("/api/mcp/servers/vault/reconnect")
        assert failed.json()["code"] == "toolbox.login_required"
        assert (await app.state())["login"] == "required"
        connected = await app.log_in()
        assert connected.status_code == 200, connected.text
        state = await app.state()
        assert (state["state"], state["login"]) == ("connected", "connected")
        assert [tool["name"] for tool in state["tools"]] == ["open_vault"]
        outcome = await app.registry.toolbox.call_tool("open_vault", {})
        assert outcome.content.startswith("vault of ")
        assert len(vault.provider.access_tokens) == 1
        assert (await app.client.delete("/api/mcp/servers/vault/login")).status_code == 204
        assert vault.provider.access_tokens == {}, "the provider was asked to revoke the tokens"
        state = await app.state()
        assert state["login"] == "required"
        assert state["tools"] == []


async def test_tokens_are_encrypted_and_the_login_outlasts_a_restart(
    home: Path, vault: OAuthMcp, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.DEBUG)
    async with opened(home, {"vault": {"url": vault.url}}) as app:
        assert (await app.log_in()).status_code == 200
    secrets = [*vault.provider.access_tokens, *vault.provider.refresh_tokens]
    assert len(secrets) == 2
    assert (home / KEY_FILE).stat().st_mode & 0o777 == 0o600
    for file, content in files_below(home).items():
        assert not any(secret.encode() in content for secret in secrets), file
    assert not any(secret in caplog.text for secret in secrets)
    async with opened(home, {"vault": {"url": vault.url}}) as app:
        assert (await app.client.post("/api/mcp/servers/vault/reconnect")).json()["state"] == "connected"


async def test_key_of_another_machine_means_a_new_login(home: Path, vault: OAuthMcp) -> None:
    async with opened(home, {"vault": {"url": vault.url}}) as app:
        assert (await app.log_in()).status_code == 200
    (home / KEY_FILE).unlink()
    async with opened(home, {"vault": {"url": vault.url}}) as app:
        failed = await app.client.post("/api/mcp/servers/vault/reconnect")
        assert failed.json()["code"] == "toolbox.login_required"
        assert (await app.log_in()).status_code == 200


async def test_expired_token_is_refreshed_also_after_a_restart(home: Path, vault: OAuthMcp) -> None:
    async with opened(home, {"vault": {"url": vault.url}}) as app:
        await app.log_in()
        stored = app.registry.toolbox.logins._user_login("vault")
        login = await stored.load()
        login.expires_at = 1.0
        await stored.save(login)
    vault.provider.access_tokens.clear()
    async with opened(home, {"vault": {"url": vault.url}}) as app:
        state = (await app.client.post("/api/mcp/servers/vault/reconnect")).json()
        assert state["state"] == "connected", state
    assert len(vault.provider.access_tokens) == 1
    async with opened(home, {"vault": {"url": vault.url}}) as app:
        renewed = await app.registry.toolbox.logins._user_login("vault").load()
        assert renewed.tokens["access_token"] in vault.provider.access_tokens
        vault.provider.access_tokens.clear()
        vault.provider.refresh_tokens.clear()
        ended = await app.client.post("/api/mcp/servers/vault/reconnect")
        assert ended.json()["code"] == "toolbox.login_required", "the provider has ended the login"


async def test_login_of_one_user_is_not_the_others(home: Path, vault: OAuthMcp) -> None:
    async with opened(home, {"vault": {"url": vault.url}}) as app:
        assert (await app.log_in()).status_code == 200
        toolbox = app.registry.toolbox
        with acting_as(User("somebody-else")):
            await toolbox.initialize_servers(["vault"])
            assert toolbox.get_tools() == []
            assert await toolbox.logins.logged_in() == set()


async def test_state_is_for_one_user_and_for_one_time(home: Path, vault: OAuthMcp) -> None:
    async with opened(home, {"vault": {"url": vault.url}}) as app:
        back = await app.start()
        with acting_as(User("mallory")):
            from chie.errors import NotFoundError

            with pytest.raises(NotFoundError):
                await app.registry.toolbox.logins.finish_login(back["state"], back["code"], None)
        forged = await app.client.post("/api/mcp/oauth/finish", json={**back, "state": "guess"})
        assert (forged.status_code, forged.json()["code"]) == (404, "toolbox.login_unknown")
        assert (await app.client.post("/api/mcp/oauth/finish", json=back)).status_code == 200
        again = await app.client.post("/api/mcp/oauth/finish", json=back)
        assert again.status_code == 404


async def test_refused_login_says_so(home: Path, vault: OAuthMcp) -> None:
    async with opened(home, {"vault": {"url": vault.url}}) as app:
        back = await app.start()
        refused = {"state": back["state"], "error": "access_denied"}
        response = await app.client.post("/api/mcp/oauth/finish", json=refused)
        assert (response.status_code, response.json()["code"]) == (409, "toolbox.login_refused")
        wrong = {**await app.start(), "code": "wrong"}
        response = await app.client.post("/api/mcp/oauth/finish", json=wrong)
        assert (response.status_code, response.json()["code"]) == (500, "toolbox.login_failed")


async def test_tokens_are_not_sent_to_another_url_under_the_same_name(home: Path, vault: OAuthMcp) -> None:
    async with opened(home, {"vault": {"url": vault.url}}) as app:
        assert (await app.log_in()).status_code == 200
    with OAuthMcp() as other:
        async with opened(home, {"vault": {"url": other.url}}) as app:
            assert (await app.client.post("/api/mcp/servers/vault/reconnect")).json()[
                "code"
            ] == "toolbox.login_required"


async def test_server_without_registration_needs_a_client_id(home: Path) -> None:
    with OAuthMcp(registration=False) as vault:
        async with opened(home, {"vault": {"url": vault.url}}) as app:
            failed = await app.client.post("/api/mcp/servers/vault/login")
            assert failed.json()["code"] == "toolbox.login_failed"


async def test_client_document_names_our_callback(home: Path) -> None:
    async with opened(home, {}) as app:
        document = (await app.client.get("/api/mcp/oauth/client.json")).json()
    assert document["client_id"] == f"{ADDRESS}/api/mcp/oauth/client.json"
    assert document["redirect_uris"] == [f"{ADDRESS}/api/mcp/oauth/callback"]
    assert document["token_endpoint_auth_method"] == "none"


@pytest.fixture
def inside() -> Iterator[Inside]:
    """A service of the local network that only Chie can reach."""
    with Inside() as server:
        yield server


@pytest.mark.parametrize("moment", ["before the login", "after the login", "redirect"])
@pytest.mark.parametrize("host", ["127.0.0.1", "localhost", "[::ffff:127.0.0.1]"])
async def test_a_server_cannot_make_chie_call_internal_addresses(
    home: Path, vault: OAuthMcp, inside: Inside, moment: str, host: str
) -> None:
    url = f"http://{host}:{inside.port}/.well-known/oauth-protected-resource"
    async with opened(home, {"vault": {"url": vault.url}}) as app:
        if moment != "before the login":
            assert (await app.log_in()).status_code == 200
        vault.refusal, vault.moved = (None, url) if moment == "redirect" else (url, None)
        if moment == "before the login":
            failed = await app.client.post("/api/mcp/servers/vault/login")
            assert (failed.status_code, failed.json()["code"]) == (403, "web_fetch.address_refused")
        else:
            outcome = await app.registry.toolbox.call_tool("open_vault", {})
            assert outcome.is_error
            failed = await app.client.post("/api/mcp/servers/vault/reconnect")
            expected = "toolbox.server_unreachable" if moment == "redirect" else "web_fetch.address_refused"
            assert failed.json()["code"] == expected
    assert inside.requests == []


async def test_an_allowed_address_may_have_the_metadata(
    home: Path, vault: OAuthMcp, inside: Inside, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("CHIE_FETCH_ALLOW", f"127.0.0.1:{inside.port}")
    async with opened(home, {"vault": {"url": vault.url}}) as app:
        vault.refusal = f"http://127.0.0.1:{inside.port}/metadata"
        await app.client.post("/api/mcp/servers/vault/login")
    assert inside.requests[0].startswith("/metadata")


async def test_the_address_that_was_checked_is_the_one_that_is_connected_to(inside: Inside) -> None:
    """A name server may give another address a moment later, and this name has none anywhere else."""
    looked_up = []

    async def resolve(host: str, port: int) -> list[str]:
        looked_up.append((host, port))
        return ["127.0.0.1"]

    policy = UrlPolicy([f"idp.invalid:{inside.port}"], resolver=resolve)
    async with create_http_client(transport=CheckedTransport("https://mcp.invalid/mcp", policy)) as client:
        response = await client.get(f"http://idp.invalid:{inside.port}/token")
        assert response.status_code == 404
        assert str(response.request.url) == f"http://idp.invalid:{inside.port}/token"
        with pytest.raises(RefusedUrlError):
            await client.get(f"http://other.invalid:{inside.port}/")
    assert looked_up == [("idp.invalid", inside.port), ("other.invalid", inside.port)]
    assert inside.requests == ["/token"]
    assert inside.hosts == [f"idp.invalid:{inside.port}"]


@pytest.mark.parametrize("url", ["http://127.0.0.1:{other}/x", "https://127.0.0.1:{own}/x", "http://localhost:{own}/x"])
async def test_only_the_same_scheme_host_and_port_are_the_servers_own(inside: Inside, url: str) -> None:
    own = f"http://127.0.0.1:{inside.port}/mcp"
    async with create_http_client(transport=CheckedTransport(own, UrlPolicy())) as client:
        assert (await client.get(own)).status_code == 404
        with pytest.raises(RefusedUrlError):
            await client.get(url.format(own=inside.port, other=inside.port + 1))
    assert inside.requests == ["/mcp"]
