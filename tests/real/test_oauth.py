"""A login at a remote MCP server that trusts a real OpenID provider: npm's oidc-provider."""

import asyncio
import re
import socket
import subprocess
from collections.abc import Iterator
from html import unescape
from pathlib import Path
from threading import Thread
from urllib.parse import urljoin

import httpx2
import pytest
import uvicorn
from fastmcp import FastMCP
from fastmcp.server.auth import RemoteAuthProvider
from fastmcp.server.auth.providers.jwt import JWTVerifier
from fastmcp.server.dependencies import get_access_token
from mcp_types import ToolAnnotations
from pydantic import AnyHttpUrl
from tests.chat.toolbox.test_oauth import App, opened, parsed

pytestmark = [pytest.mark.real, pytest.mark.req("AG-10")]

HERE = Path(__file__).parent


@pytest.fixture
def listener() -> Iterator[socket.socket]:
    with socket.create_server(("127.0.0.1", 0)) as listening:
        yield listening


@pytest.fixture
def resource(listener: socket.socket) -> str:
    return f"http://127.0.0.1:{listener.getsockname()[1]}/mcp"


@pytest.fixture
def issuer(resource: str) -> Iterator[str]:
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    command = ["node", "oidc_provider.js", str(port), resource]
    with subprocess.Popen(command, cwd=HERE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True) as process:
        try:
            assert process.stdout
            assert "ready" in process.stdout.readline()
            yield f"http://127.0.0.1:{port}"
        finally:
            process.kill()


@pytest.fixture
def vault(issuer: str, resource: str, listener: socket.socket) -> Iterator[str]:
    verifier = JWTVerifier(jwks_uri=f"{issuer}/jwks", issuer=issuer, audience=resource, required_scopes=["vault"])
    base = resource.removesuffix("/mcp")
    auth = RemoteAuthProvider(verifier, authorization_servers=[AnyHttpUrl(issuer)], base_url=base)
    mcp: FastMCP[None] = FastMCP("vault", auth=auth)

    @mcp.tool(annotations=ToolAnnotations(read_only_hint=True))
    def open_vault() -> str:
        """Open the vault of the caller."""
        token = get_access_token()
        return f"vault of {token.claims['sub'] if token else 'nobody'}"

    app = mcp.http_app(path="/mcp", stateless_http=True)
    server = uvicorn.Server(uvicorn.Config(app, log_config=None, timeout_graceful_shutdown=1, ws="none"))
    thread = Thread(target=server.run, kwargs={"sockets": [listener]}, daemon=True)
    thread.start()
    yield resource
    server.should_exit = server.force_exit = True
    thread.join()


async def agree(url: str) -> str:
    """As a user in a browser: sends the provider's forms, login and consent, until it redirects to us."""
    async with httpx2.AsyncClient() as browser:
        response = await browser.get(url)
        for _ in range(20):
            if target := response.headers.get("location"):
                target = urljoin(str(response.url), target)
                if "/api/mcp/oauth/callback" in target:
                    return target
                response = await browser.get(target)
                continue
            action = re.search(r'<form[^>]* action="([^"]+)"', response.text)
            assert action, response.text
            prompt = "login" if 'name="login"' in response.text else "consent"
            fields = {"prompt": prompt, **({"login": "aki", "password": "x"} if prompt == "login" else {})}
            response = await browser.post(urljoin(str(response.url), unescape(action[1])), data=fields)
    raise AssertionError("the provider has not redirected")


async def log_in(app: App) -> httpx2.Response:
    started = await app.client.post("/api/mcp/servers/vault/login")
    assert started.status_code == 200, started.text
    return await app.client.post("/api/mcp/oauth/finish", json=await parsed(app, await agree(started.json()["url"])))


async def test_login_refresh_and_logout_at_a_real_provider(home: Path, vault: str) -> None:
    async with opened(home, {"vault": {"url": vault}}) as app:
        connected = await log_in(app)
        assert connected.status_code == 200, connected.text
        toolbox = app.registry.toolbox
        assert (await toolbox.call_tool("open_vault", {})).content == "vault of aki"
        first = (await toolbox.logins._user_login("vault").load()).tokens["access_token"]
        await asyncio.sleep(3)  # the provider's clock decides when the token has expired
        assert (await toolbox.call_tool("open_vault", {})).content == "vault of aki"
        assert (await toolbox.logins._user_login("vault").load()).tokens["access_token"] != first
        assert (await app.client.delete("/api/mcp/servers/vault/login")).status_code == 204
        failed = await app.client.post("/api/mcp/servers/vault/reconnect")
        assert failed.json()["code"] == "toolbox.login_required"
