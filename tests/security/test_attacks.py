"""What a hostile web page, a careless link or a curious neighbour may try at the house's door."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from starlette.testclient import TestClient
from tests.fakes.agents import FakeRegistry
from tests.security.conftest import ADDRESS, SECRET, Estate, add_users, exported, load_servers

from chie.access.authentication import load_authenticator
from chie.access.middleware import COOKIE
from chie.access.users import UserFile
from chie.app import create_app
from chie.knowledge.store.sqlite.store import SqliteStore

PAGE = {"origin": ADDRESS, "sec-fetch-site": "same-origin"}
EVIL = {"origin": "https://evil.example", "sec-fetch-site": "cross-site"}


def sign_in(estate: Estate, who: str = "aki", **headers: str) -> Any:
    return estate.client.post("/api/login", json={"token": estate.tokens[who]}, headers=PAGE | headers)


@pytest.fixture
def limited(store: SqliteStore, page_folder: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Estate]:
    monkeypatch.setenv("CHIE_RATE_LIMIT", "60")
    monkeypatch.setenv("CHIE_RATE_BURST", "5")
    monkeypatch.setenv("CHIE_ALLOWED_ORIGINS", "https://wiki.example")
    tokens, rooms = add_users(), load_servers(store)
    with TestClient(create_app(rooms, FakeRegistry(), page=page_folder), base_url=ADDRESS) as client:
        yield Estate(client, tokens, store, rooms=rooms)


def test_signing_in_sets_a_cookie_that_no_script_and_no_other_site_can_use(estate: Estate) -> None:
    answer = sign_in(estate)
    assert answer.json() == {"id": "aki", "admin": False, "authentication": "required"}
    cookie = answer.headers["set-cookie"].lower()
    assert all(part in cookie for part in ("httponly", "samesite=strict", "path=/", "max-age="))
    assert "secure" not in cookie, "it came without TLS"
    assert estate.client.get("/api/me", headers=PAGE).json()["id"] == "aki"
    assert estate.client.post("/api/logout", headers=PAGE).status_code == 204
    assert estate.client.get("/api/me", headers=PAGE).status_code == 401
    assert "secure" in sign_in(estate, **{"x-forwarded-proto": "https"}).headers["set-cookie"].lower()


def test_a_cookie_counts_only_for_pages_of_our_own(estate: Estate) -> None:
    sign_in(estate)
    note = {"content": "forged"}
    forged = [
        estate.client.post("/api/knowledge", json=note, headers=EVIL),
        estate.client.post("/api/knowledge", json=note, headers={"sec-fetch-site": "cross-site"}),
        estate.client.post("/api/knowledge", json=note, headers={"origin": "null"}),
        estate.client.post("/api/knowledge", json=note),  # a browser always says where a POST comes from
        estate.client.get("/api/sessions", headers={"sec-fetch-site": "cross-site"}),
    ]
    assert [answer.status_code for answer in forged] == [403, 403, 403, 401, 403]
    assert estate.client.post("/api/knowledge", json=note, headers=PAGE).status_code == 201


@pytest.mark.parametrize("neighbour", ['prefs={"theme":"dark"}', "name=田中", "last=a b", "=", "flag", 'q="x'])
def test_a_neighbours_odd_cookie_does_not_hide_ours(estate: Estate, neighbour: str) -> None:
    """Cookies know no ports: every program on localhost writes into the same jar."""
    for cookies in (f"{neighbour}; {COOKIE}={estate.tokens['aki']}", f"{COOKIE}={estate.tokens['aki']}; {neighbour}"):
        answer = estate.client.get("/api/me", headers={b"cookie": cookies.encode()} | _bytes(PAGE))
        assert (answer.status_code, answer.json().get("id")) == (200, "aki"), neighbour


def _bytes(headers: dict[str, str]) -> dict[bytes, bytes]:
    return {name.encode(): value.encode() for name, value in headers.items()}


def test_an_origin_that_is_no_address_is_a_foreign_one(estate: Estate) -> None:
    answer = estate.call("aki", "GET", "/api/me", headers={"origin": "http://[x"})
    assert (answer.status_code, "another web site" in answer.json()["detail"]) == (403, True)


def test_another_site_cannot_sign_a_reader_in(estate: Estate) -> None:
    answer = estate.client.post("/api/login", json={"token": estate.tokens["ben"]}, headers=EVIL)
    assert answer.status_code == 403
    assert COOKIE not in answer.headers.get("set-cookie", "")


def test_a_foreign_origin_is_refused_everywhere_even_with_a_token(estate: Estate) -> None:
    for path in ("/", "/health", "/api/me", "/mcp/knowledge", "/v1/models", "/metrics"):
        answer = estate.call("aki", "GET", path, headers=EVIL)
        assert (answer.status_code, "another web site" in answer.json()["detail"]) == (403, True), path


def test_a_strange_host_finds_nothing_without_a_token(estate: Estate) -> None:
    """A page that rebinds its name to this machine has no cookie of ours; a proxy's name is as good as any."""
    sign_in(estate)
    estate.client.cookies.clear()
    rebound = {"host": "evil.example", "origin": "http://evil.example"}
    assert estate.client.get("/api/sessions", headers=rebound).status_code == 401
    assert estate.call("aki", "GET", "/api/me", headers={"host": "chie.example"}).json()["id"] == "aki"


def test_a_token_in_an_address_is_refused_and_never_repeated(estate: Estate) -> None:
    token = estate.tokens["aki"]
    for name in ("access_token", "token", "api_key", "Authorization", "ID_TOKEN"):
        for path in ("/api/me", "/mcp/knowledge", "/v1/models", "/"):
            alone = estate.client.get(path, params={name: token})
            beside = estate.call("aki", "GET", path, params={name: token})
            assert (alone.status_code, beside.status_code) == (403, 403), (name, path)
            assert "never stand in an address" in alone.json()["detail"]
            assert token not in alone.text


def test_only_a_bearer_is_a_token(estate: Estate) -> None:
    for header in ("Basic {}", "{}", "Token {}", "Bearer", "Bearer  ", "bearer\t{}"):
        headers = {"authorization": header.format(estate.tokens["aki"])}
        assert estate.client.get("/api/me", headers=headers).status_code == 401, header


def test_where_authorization_is_taken_a_header_of_our_own_is_read(estate: Estate) -> None:
    headers = {"authorization": "Bearer eyJ.platform.token", "x-chie-token": estate.tokens["ben"]}
    assert estate.client.get("/api/me", headers=headers).json()["id"] == "ben"


def test_too_many_requests_are_put_off_for_each_user_alone(limited: Estate) -> None:
    answers = [limited.call("aki", "GET", "/api/me") for _ in range(7)]
    assert [answer.status_code for answer in answers[:5]] == [200] * 5
    assert answers[-1].status_code == 429
    assert int(answers[-1].headers["retry-after"]) >= 1
    assert "Retry-After" in answers[-1].json()["detail"]
    assert limited.call("aki", "POST", "/mcp/knowledge", json={}).status_code == 429
    assert limited.call("ben", "GET", "/api/me").status_code == 200


def test_who_guesses_tokens_is_put_off_and_who_has_one_is_not(limited: Estate) -> None:
    limited.tokens["thief"] = "chie_guess"
    guesses = [limited.call("thief", "GET", "/api/me").status_code for _ in range(25)]
    assert (guesses[0], guesses[-1]) == (401, 429)
    login = limited.client.post("/api/login", json={"token": "chie_guess"}, headers=PAGE)
    assert (login.status_code, "retry-after" in login.headers) == (429, True)
    assert limited.call("ben", "GET", "/api/me").status_code == 200


def test_other_origins_are_let_in_by_name_and_without_cookies(limited: Estate) -> None:
    wiki = {"origin": "https://wiki.example"}
    asked = {**wiki, "access-control-request-method": "POST", "access-control-request-headers": "authorization"}
    before = limited.client.options("/api/knowledge", headers=asked)
    assert before.headers["access-control-allow-origin"] == "https://wiki.example"
    assert "access-control-allow-credentials" not in before.headers
    assert limited.call("aki", "GET", "/api/me", headers=wiki).headers["access-control-allow-origin"] == wiki["origin"]
    assert limited.call("aki", "GET", "/api/me", headers=EVIL).status_code == 403


def test_a_page_of_another_origin_that_is_let_in_has_no_use_of_the_cookie(limited: Estate) -> None:
    """It may share our site, and then browsers send the cookie along."""
    wiki = {"origin": "https://wiki.example", "sec-fetch-site": "same-site"}
    assert sign_in(limited, **wiki).status_code == 403
    assert sign_in(limited).status_code == 200
    assert limited.client.post("/api/knowledge", json={"content": "forged"}, headers=wiki).status_code == 403
    assert limited.client.get("/api/me", headers=wiki).status_code == 403
    assert limited.call("aki", "POST", "/api/knowledge", headers=wiki, json={"content": "meant"}).status_code == 201


def test_by_default_no_other_origin_is_let_in(estate: Estate) -> None:
    asked = {**EVIL, "access-control-request-method": "POST"}
    answers = [estate.client.options("/api/knowledge", headers=asked), estate.call("aki", "GET", "/api/me")]
    assert not any(name.startswith("access-control") for answer in answers for name in answer.headers)


KINDS = {
    "page": ("GET", "/"),
    "asset": ("GET", "/assets/index-1.js"),
    "json": ("GET", "/api/me"),
    "documents": ("GET", "/docs"),
    "metrics": ("GET", "/metrics"),
    "health": ("GET", "/health"),
    "mcp": ("POST", "/mcp/knowledge"),
    "not found": ("GET", "/nowhere"),
    "wrong method": ("DELETE", "/api/agents"),
    "export": ("GET", "/api/knowledge/export"),
    "stream": ("POST", "/api/chat/stream"),
}


def test_every_kind_of_answer_has_the_headers_that_browsers_heed(estate: Estate) -> None:
    for kind, (method, path) in KINDS.items():
        options = {"json": {"message": "hello"}} if kind == "stream" else {}
        for who in ("aki", None):
            answer = estate.call(who, method, path, **options)
            assert "frame-ancestors 'none'" in answer.headers["content-security-policy"], kind
            assert "default-src 'none'" in answer.headers["content-security-policy"], kind
            assert answer.headers["x-content-type-options"] == "nosniff", kind
            assert answer.headers["referrer-policy"] == "no-referrer", kind
            assert answer.headers["x-frame-options"] == "DENY", kind
    refused = estate.call("aki", "GET", "/", headers=EVIL)
    assert "frame-ancestors 'none'" in refused.headers["content-security-policy"]


def test_a_fault_of_ours_has_them_too(estate: Estate, monkeypatch: pytest.MonkeyPatch) -> None:
    def fall(*_: object, **__: object) -> None:
        raise RuntimeError(SECRET)

    monkeypatch.setattr(estate.store, "tags", fall)
    quiet = TestClient(estate.client.app, base_url=ADDRESS, raise_server_exceptions=False)
    answer = quiet.get("/api/knowledge/tags", headers={"authorization": f"Bearer {estate.tokens['aki']}"})
    assert answer.status_code == 500
    assert SECRET not in answer.text
    assert "frame-ancestors 'none'" in answer.headers["content-security-policy"]
    assert answer.headers["x-content-type-options"] == "nosniff"


OUTSIDE = [
    "/../users.json",
    "/assets/../../users.json",
    "/assets/..%2f..%2fusers.json",
    "/%2e%2e/%2e%2e/etc/passwd",
    "/assets/....//....//etc/passwd",
    "/assets\\..\\..\\users.json",
    "//etc/passwd",
    "/assets/index-1.js%00.html",
    "/assets/%252e%252e/users.json",
]


def test_no_path_leads_out_of_the_pages_folder(estate: Estate) -> None:
    for path in OUTSIDE:
        for who in ("aki", None):
            answer = estate.call(who, "GET", path)
            assert answer.status_code in (400, 401, 404), path
            assert "token_sha256" not in answer.text
            assert "root:" not in answer.text


def test_writes_are_noted_with_who_and_which_and_nothing_of_what_they_say(estate: Estate, home: Path) -> None:
    estate.call("ben", "DELETE", f"/api/knowledge/{estate.note_id}")
    estate.call("aki", "PATCH", f"/api/knowledge/{estate.note_id}", json={"title": f"{SECRET} again"})
    estate.tool("root", "knowledge", "delete_knowledge", id=estate.shared_id)
    estate.tool("ben", "n8n", "delete_workflow", id="abc123")
    estate.call("aki", "DELETE", f"/api/sessions/{estate.session_id}")
    text = (home / "audit.log").read_text()
    noted = [(row["user"], row["kind"], row["id"], row["outcome"]) for row in map(json.loads, text.splitlines())]
    assert noted == [
        ("aki", "note.created", estate.note_id, "done"),
        ("aki", "note.created", estate.shared_id, "done"),
        ("aki", "note.changed", estate.note_id, "done"),
        ("root", "note.deleted", estate.shared_id, "done"),
        ("ben", "n8n-mcp-server.delete_workflow", "abc123", "failed"),
        ("aki", "session.deleted", estate.session_id, "done"),
    ]
    assert SECRET not in text


def test_a_user_who_is_revoked_while_the_house_runs_is_out(estate: Estate) -> None:
    assert estate.call("ben", "GET", "/api/me").status_code == 200
    UserFile(load_authenticator().settings.users_path).revoke("ben")
    assert estate.call("ben", "GET", "/api/me").status_code == 401


def test_a_broken_list_of_users_closes_the_house(estate: Estate, home: Path) -> None:
    (home / "users.json").write_text("{")
    answer = estate.call("aki", "GET", "/api/me")
    assert answer.status_code == 503
    assert "nobody is let in" in answer.json()["detail"]
    signing_in = estate.call(None, "POST", "/api/login", json={"token": "chie_x"})
    assert signing_in.status_code >= 500
    assert str(home) not in answer.text + signing_in.text
    assert estate.call(None, "GET", "/health").status_code in (200, 503)


def test_without_users_everybody_is_anonymous_and_everything_is_as_it_was(
    store: SqliteStore, page_folder: Path
) -> None:
    house = create_app(load_servers(store), FakeRegistry(), page=page_folder)
    with TestClient(house, base_url=ADDRESS) as client:
        assert client.get("/api/me").json() == {"id": "anonymous", "admin": True, "authentication": "none"}
        saved = client.post("/api/knowledge", json={"content": "anybody's"}).json()
        assert saved["user_id"] == "anonymous"
        samples = client.post("/api/knowledge/samples").json()["ids"]
        assert client.delete(f"/api/knowledge/{samples[0]}").json()["user_id"] == "chie"


def test_who_brings_a_note_in_is_its_author_whatever_the_note_says(estate: Estate) -> None:
    moment = "2026-01-01T00:00:00Z"
    note = {"id": "k-new", "title": "t", "content": "c", "user_id": "aki", "created_at": moment, "updated_at": moment}
    assert estate.call("ben", "PUT", "/api/knowledge/k-new", json=note).json()["user_id"] == "ben"
    file = {"files": ("a.md", exported("k-other", "forged").encode(), "text/markdown")}
    assert estate.call("ben", "POST", "/api/knowledge/import", files=file).json()["saved"] == 1
    assert estate.call("ben", "GET", "/api/knowledge/k-other").json()["user_id"] == "ben"
    note |= {"id": "k-third"}
    assert estate.call("root", "PUT", "/api/knowledge/k-third", json=note).json()["user_id"] == "aki"


def test_two_who_import_a_file_of_the_same_name_have_two_notes(estate: Estate) -> None:
    for who in ("aki", "ben"):
        file = {"files": ("todo.md", f"what {who} has to do".encode(), "text/markdown")}
        assert estate.call(who, "POST", "/api/knowledge/import", files=file).json()["saved"] == 1
        again = {"files": ("todo.md", f"what {who} has to do now".encode(), "text/markdown")}
        assert estate.call(who, "POST", "/api/knowledge/import", files=again).json()["saved"] == 1
    found = estate.call("aki", "GET", "/api/knowledge").json()["notes"]
    assert sorted(note["user_id"] for note in found if note["title"] == "todo") == ["aki", "ben"]
