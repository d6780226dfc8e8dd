"""A login at a server that an admin has just added, whose requests reach different processes of one Chie."""

from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from urllib.parse import parse_qs, urlsplit

import httpx2
import pytest
from tests.app.processes import http_server
from tests.fakes.oauth_mcp import OAuthMcp
from tests.fakes.postgres import new_database, run_server

pytestmark = pytest.mark.req("AG-10")


@pytest.fixture(params=["sqlite", "postgresql"])
def processes(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> Iterator[list[httpx2.Client]]:
    with ExitStack() as stack:
        if request.param == "postgresql":
            server = stack.enter_context(contextmanager(run_server)())
            monkeypatch.setenv("CHIE_DATABASE_URL", new_database(server))
        urls = [stack.enter_context(http_server("chie", "serve")) for _ in range(2)]
        yield [stack.enter_context(httpx2.Client(base_url=url, headers={"Origin": url}, timeout=120)) for url in urls]


def test_each_request_may_reach_another_process(processes: list[httpx2.Client]) -> None:
    first, second = processes
    here = str(first.base_url)
    with OAuthMcp() as vault:
        for client in processes:  # both have just read that there is no such server
            assert client.get("/api/mcp/servers").status_code == 200
        first.post("/api/mcp/servers", json={"name": "vault", "url": vault.url}).raise_for_status()
        begun = second.post("/api/mcp/servers/vault/login", headers={"Host": urlsplit(here).netloc, "Origin": here})
        assert begun.status_code == 200, begun.text
        redirect = httpx2.get(begun.json()["url"]).headers["location"]
        back = {name: value[0] for name, value in parse_qs(urlsplit(redirect).query).items()}
        finished = first.post("/api/mcp/oauth/finish", json=back)
        assert (finished.status_code, finished.json()["state"]) == (200, "connected"), finished.text
        assert second.post("/api/mcp/servers/vault/reconnect").json()["state"] == "connected"
        assert second.delete("/api/mcp/servers/vault/login").status_code == 204
        assert first.post("/api/mcp/servers/vault/reconnect").json()["code"] == "toolbox.login_required"

        first.delete("/api/mcp/servers/vault").raise_for_status()
        first.post("/api/mcp/servers", json={"name": "again", "url": vault.url}).raise_for_status()
        begun = first.post("/api/mcp/servers/again/login")
        redirect = httpx2.get(begun.json()["url"]).headers["location"]
        back = {name: value[0] for name, value in parse_qs(urlsplit(redirect).query).items()}
        finished = second.post("/api/mcp/oauth/finish", json=back)
        assert (finished.status_code, finished.json()["state"]) == (200, "connected"), finished.text
