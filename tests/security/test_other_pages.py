"""Pages of other origins, also of other ports of this machine, change nothing; our own page does."""

from collections.abc import Iterator
from contextlib import nullcontext
from pathlib import Path

import pytest
from starlette.testclient import TestClient
from tests.fakes.agents import FakeRegistry
from tests.security.conftest import ADDRESS, Team, load_servers
from tests.security.routes import ROUTES
from tests.security.test_every_route import request

from chie.access.middleware import COOKIE
from chie.app import create_app
from chie.knowledge.store.sqlite.store import SqliteStore

CHANGING = [name for name in ROUTES if not name.startswith("GET ")]
OTHERS = [
    {"origin": "http://127.0.0.1:3000"},
    {"origin": "http://127.0.0.1:3000", "sec-fetch-site": "same-site"},
    {"origin": "http://localhost:8080"},
    {"origin": "http://127.0.0.1"},
    {"origin": "https://127.0.0.1:8080"},
    {"origin": "https://chie.example", "sec-fetch-site": "cross-site"},
    {"origin": "null"},
    {"sec-fetch-site": "same-site"},
    {"sec-fetch-site": "cross-site"},
]
PAGE = {"origin": ADDRESS, "sec-fetch-site": "same-origin"}


@pytest.fixture
def alone(store: SqliteStore, page_folder: Path) -> Iterator[Team]:
    """An app without users."""
    servers = load_servers(store)
    with TestClient(create_app(servers, nullcontext(FakeRegistry()), page=page_folder), base_url=ADDRESS) as client:
        yield Team(client, {}, store, servers=servers)


@pytest.fixture
def named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CHIE_ALLOWED_HOSTS", "chie.example")


@pytest.mark.parametrize("other", OTHERS, ids=str)
def test_other_pages_change_nothing_without_users(alone: Team, other: dict[str, str]) -> None:
    for name in CHANGING:
        answer = request(alone, None, name, other)
        assert (answer.status_code, answer.json()["code"]) == (403, "access.origin_not_allowed"), name
    assert alone.client.get("/api/knowledge").json()["notes"] == []


@pytest.mark.usefixtures("named")
@pytest.mark.parametrize("other", OTHERS, ids=str)
def test_other_pages_change_nothing_with_the_cookie(team: Team, other: dict[str, str]) -> None:
    before = team.possessions()
    team.client.cookies.set(COOKIE, team.tokens["aki"])
    for name in CHANGING:
        answer = request(team, None, name, other)
        assert (answer.status_code, answer.json()["code"]) == (403, "access.origin_not_allowed"), name
    assert team.possessions() == before


@pytest.mark.parametrize("headers", [{}, PAGE, {"origin": ADDRESS}, {"sec-fetch-site": "none"}], ids=str)
def test_our_page_and_other_programs_pass_without_users(alone: Team, headers: dict[str, str]) -> None:
    for name in CHANGING:
        answer = request(alone, None, name, headers)
        assert answer.status_code not in (403, 421), name
    assert alone.client.get("/api/knowledge").json()["notes"]


def test_link_on_another_site_opens_the_page_without_users(alone: Team) -> None:
    assert alone.client.get("/", headers={"sec-fetch-site": "cross-site"}).status_code == 200


@pytest.mark.usefixtures("named")
@pytest.mark.parametrize(
    ("headers", "status"),
    [
        ({"host": "chie.example", "origin": "https://chie.example"}, 201),
        ({"host": "127.0.0.1:8080", "origin": "https://chie.example"}, 201),  # the proxy sends a Host of its own
        ({"host": "chie.example", "origin": "http://chie.example", "x-forwarded-proto": "https"}, 403),
        ({"host": "chie.example:8443", "origin": "https://chie.example:8443", "x-forwarded-proto": "https"}, 201),
        ({"host": "chie.example", "origin": "http://localhost:9000", "sec-fetch-site": "same-origin"}, 201),
        ({"host": "chie.example", "origin": "http://localhost:9000", "sec-fetch-site": "cross-site"}, 403),
        ({"host": "chie.example", "origin": "http://localhost:9000"}, 403),
    ],
    ids=str,
)
def test_page_behind_a_proxy_or_a_tunnel(team: Team, headers: dict[str, str], status: int) -> None:
    cookie = {"cookie": f"{COOKIE}={team.tokens['aki']}"}
    answer = team.client.post("/api/knowledge", json={"content": "日本語 and English"}, headers=headers | cookie)
    assert answer.status_code == status


def test_proxy_that_hides_tls(team: Team) -> None:
    """Without `X-Forwarded-Proto` and `CHIE_ALLOWED_HOSTS` only the browser knows that page and request agree."""
    team.client.cookies.set(COOKIE, team.tokens["aki"])
    headers = {"host": "chie.example", "origin": "https://chie.example"}
    for site, status in (("same-origin", 201), ("same-site", 403)):
        sent = headers | {"sec-fetch-site": site}
        assert team.client.post("/api/knowledge", json={"content": "x"}, headers=sent).status_code == status


def test_allowed_origin_may_write_without_users(
    store: SqliteStore, page_folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("CHIE_ALLOWED_ORIGINS", "http://localhost:3000")
    app = create_app(load_servers(store), nullcontext(FakeRegistry()), page=page_folder)
    with TestClient(app, base_url=ADDRESS) as client:
        for port, status in ((3000, 201), (3001, 403)):
            headers = {"origin": f"http://localhost:{port}", "sec-fetch-site": "cross-site"}
            assert client.post("/api/knowledge", json={"content": "x"}, headers=headers).status_code == status
