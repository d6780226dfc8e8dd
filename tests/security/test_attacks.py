"""Attacks by a hostile web page, a careless link or another user."""

import json
from collections.abc import Iterator
from contextlib import nullcontext
from pathlib import Path
from typing import Any

import pytest
from starlette.testclient import TestClient
from tests.fakes.agents import FakeRegistry
from tests.security.conftest import ADDRESS, SECRET, Team, add_users, exported, load_servers

from chie.access.authentication import load_authenticator
from chie.access.middleware import COOKIE
from chie.access.users import UserFile
from chie.app import create_app
from chie.knowledge.store.sqlite.store import SqliteStore

PAGE = {"origin": ADDRESS, "sec-fetch-site": "same-origin"}
EVIL = {"origin": "https://evil.example", "sec-fetch-site": "cross-site"}


def sign_in(team: Team, who: str = "aki", **headers: str) -> Any:
    return team.client.post("/api/login", json={"token": team.tokens[who]}, headers=PAGE | headers)


@pytest.fixture
def limited(store: SqliteStore, page_folder: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Team]:
    monkeypatch.setenv("CHIE_RATE_LIMIT", "60")
    monkeypatch.setenv("CHIE_RATE_BURST", "5")
    monkeypatch.setenv("CHIE_ALLOWED_ORIGINS", "https://wiki.example")
    tokens, servers = add_users(), load_servers(store)
    with TestClient(create_app(servers, nullcontext(FakeRegistry()), page=page_folder), base_url=ADDRESS) as client:
        yield Team(client, tokens, store, servers=servers)


def test_sign_in_sets_a_strict_http_only_cookie(team: Team) -> None:
    answer = sign_in(team)
    assert answer.json() == {"id": "aki", "admin": False, "authentication": "required"}
    cookie = answer.headers["set-cookie"].lower()
    assert all(part in cookie for part in ("httponly", "samesite=strict", "path=/", "max-age="))
    assert "secure" not in cookie, "it came without TLS"
    assert team.client.get("/api/me", headers=PAGE).json()["id"] == "aki"
    assert team.client.post("/api/logout", headers=PAGE).status_code == 204
    assert team.client.get("/api/me", headers=PAGE).status_code == 401
    assert "secure" in sign_in(team, **{"x-forwarded-proto": "https"}).headers["set-cookie"].lower()


def test_cookie_counts_only_on_our_own_page(team: Team) -> None:
    sign_in(team)
    note = {"content": "forged"}
    forged = [
        team.client.post("/api/knowledge", json=note, headers=EVIL),
        team.client.post("/api/knowledge", json=note, headers={"sec-fetch-site": "cross-site"}),
        team.client.post("/api/knowledge", json=note, headers={"origin": "null"}),
        team.client.post("/api/knowledge", json=note),  # browsers always send the origin of a POST
        team.client.get("/api/sessions", headers={"sec-fetch-site": "cross-site"}),
    ]
    assert [answer.status_code for answer in forged] == [403, 403, 403, 401, 403]
    assert team.client.post("/api/knowledge", json=note, headers=PAGE).status_code == 201


@pytest.mark.parametrize("neighbour", ['prefs={"theme":"dark"}', "name=田中", "last=a b", "=", "flag", 'q="x'])
def test_malformed_cookie_of_another_app_does_not_hide_ours(team: Team, neighbour: str) -> None:
    """Cookies ignore ports: all programs on localhost share them."""
    for cookies in (f"{neighbour}; {COOKIE}={team.tokens['aki']}", f"{COOKIE}={team.tokens['aki']}; {neighbour}"):
        answer = team.client.get("/api/me", headers={b"cookie": cookies.encode()} | _bytes(PAGE))
        assert (answer.status_code, answer.json().get("id")) == (200, "aki"), neighbour


def _bytes(headers: dict[str, str]) -> dict[bytes, bytes]:
    return {name.encode(): value.encode() for name, value in headers.items()}


def test_malformed_origin_is_rejected(team: Team) -> None:
    answer = team.call("aki", "GET", "/api/me", headers={"origin": "http://[x"})
    assert (answer.status_code, answer.json()["code"]) == (403, "access.origin_not_allowed")


def test_another_site_cannot_sign_in(team: Team) -> None:
    answer = team.client.post("/api/login", json={"token": team.tokens["ben"]}, headers=EVIL)
    assert answer.status_code == 403
    assert COOKIE not in answer.headers.get("set-cookie", "")


def test_foreign_origin_is_rejected_everywhere_despite_a_token(team: Team) -> None:
    for path in ("/", "/health", "/api/me", "/mcp/knowledge", "/v1/models", "/metrics"):
        answer = team.call("aki", "GET", path, headers=EVIL)
        assert (answer.status_code, answer.json()["code"]) == (403, "access.origin_not_allowed"), path


def test_unknown_host_needs_a_token(team: Team) -> None:
    """A page that rebinds its DNS name to this machine has no cookie; any host name of a proxy is fine."""
    sign_in(team)
    team.client.cookies.clear()
    rebound = {"host": "evil.example", "origin": "http://evil.example"}
    assert team.client.get("/api/sessions", headers=rebound).status_code == 401
    assert team.call("aki", "GET", "/api/me", headers={"host": "chie.example"}).json()["id"] == "aki"


def test_token_in_the_url_is_rejected_and_not_repeated(team: Team) -> None:
    token = team.tokens["aki"]
    for name in ("access_token", "token", "api_key", "Authorization", "ID_TOKEN"):
        for path in ("/api/me", "/mcp/knowledge", "/v1/models", "/"):
            alone = team.client.get(path, params={name: token})
            beside = team.call("aki", "GET", path, params={name: token})
            assert (alone.status_code, beside.status_code) == (403, 403), (name, path)
            assert alone.json()["code"] == "access.token_in_url"
            assert token not in alone.text


def test_only_bearer_tokens_count(team: Team) -> None:
    for header in ("Basic {}", "{}", "Token {}", "Bearer", "Bearer  ", "bearer\t{}"):
        headers = {"authorization": header.format(team.tokens["aki"])}
        assert team.client.get("/api/me", headers=headers).status_code == 401, header


def test_own_header_if_a_platform_uses_authorization(team: Team) -> None:
    headers = {"authorization": "Bearer eyJ.platform.token", "x-chie-token": team.tokens["ben"]}
    assert team.client.get("/api/me", headers=headers).json()["id"] == "ben"


def test_rate_limit_is_per_user(limited: Team) -> None:
    answers = [limited.call("aki", "GET", "/api/me") for _ in range(7)]
    assert [answer.status_code for answer in answers[:5]] == [200] * 5
    assert answers[-1].status_code == 429
    assert int(answers[-1].headers["retry-after"]) >= 1
    assert answers[-1].json()["code"] == "access.too_many_requests"
    assert limited.call("aki", "POST", "/mcp/knowledge", json={}).status_code == 429
    assert limited.call("ben", "GET", "/api/me").status_code == 200


def test_guessing_tokens_is_rate_limited(limited: Team) -> None:
    limited.tokens["thief"] = "chie_guess"
    guesses = [limited.call("thief", "GET", "/api/me").status_code for _ in range(25)]
    assert (guesses[0], guesses[-1]) == (401, 429)
    login = limited.client.post("/api/login", json={"token": "chie_guess"}, headers=PAGE)
    assert (login.status_code, "retry-after" in login.headers) == (429, True)
    assert limited.call("ben", "GET", "/api/me").status_code == 200


def test_allowed_origins_get_cors_without_credentials(limited: Team) -> None:
    wiki = {"origin": "https://wiki.example"}
    asked = {**wiki, "access-control-request-method": "POST", "access-control-request-headers": "authorization"}
    before = limited.client.options("/api/knowledge", headers=asked)
    assert before.headers["access-control-allow-origin"] == "https://wiki.example"
    assert "access-control-allow-credentials" not in before.headers
    assert limited.call("aki", "GET", "/api/me", headers=wiki).headers["access-control-allow-origin"] == wiki["origin"]
    assert limited.call("aki", "GET", "/api/me", headers=EVIL).status_code == 403


def test_allowed_origin_cannot_use_the_cookie(limited: Team) -> None:
    """It may be on the same site, so that browsers send the cookie."""
    wiki = {"origin": "https://wiki.example", "sec-fetch-site": "same-site"}
    assert sign_in(limited, **wiki).status_code == 403
    assert sign_in(limited).status_code == 200
    assert limited.client.post("/api/knowledge", json={"content": "forged"}, headers=wiki).status_code == 403
    assert limited.client.get("/api/me", headers=wiki).status_code == 403
    assert limited.call("aki", "POST", "/api/knowledge", headers=wiki, json={"content": "meant"}).status_code == 201


def test_no_cors_by_default(team: Team) -> None:
    asked = {**EVIL, "access-control-request-method": "POST"}
    answers = [team.client.options("/api/knowledge", headers=asked), team.call("aki", "GET", "/api/me")]
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


def test_every_kind_of_response_has_security_headers(team: Team) -> None:
    for kind, (method, path) in KINDS.items():
        options = {"json": {"message": "hello"}} if kind == "stream" else {}
        for who in ("aki", None):
            answer = team.call(who, method, path, **options)
            assert "frame-ancestors 'none'" in answer.headers["content-security-policy"], kind
            assert "default-src 'none'" in answer.headers["content-security-policy"], kind
            assert answer.headers["x-content-type-options"] == "nosniff", kind
            assert answer.headers["referrer-policy"] == "no-referrer", kind
            assert answer.headers["x-frame-options"] == "DENY", kind
    refused = team.call("aki", "GET", "/", headers=EVIL)
    assert "frame-ancestors 'none'" in refused.headers["content-security-policy"]


def test_internal_error_has_security_headers(team: Team, monkeypatch: pytest.MonkeyPatch) -> None:
    def fall(*_: object, **__: object) -> None:
        raise RuntimeError(SECRET)

    monkeypatch.setattr(team.store, "tags", fall)
    quiet = TestClient(team.client.app, base_url=ADDRESS, raise_server_exceptions=False)
    answer = quiet.get("/api/knowledge/tags", headers={"authorization": f"Bearer {team.tokens['aki']}"})
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


def test_no_path_leads_out_of_the_static_folder(team: Team) -> None:
    for path in OUTSIDE:
        for who in ("aki", None):
            answer = team.call(who, "GET", path)
            assert answer.status_code in (400, 401, 404), path
            assert "token_sha256" not in answer.text
            assert "root:" not in answer.text


def test_writes_are_audited_without_their_content(team: Team, home: Path) -> None:
    team.call("ben", "DELETE", f"/api/knowledge/{team.note_id}")
    team.call("aki", "PATCH", f"/api/knowledge/{team.note_id}", json={"title": f"{SECRET} again"})
    team.tool("root", "knowledge", "delete_knowledge", id=team.shared_id)
    team.tool("ben", "n8n", "delete_workflow", id="abc123")
    team.call("aki", "DELETE", f"/api/sessions/{team.session_id}")
    text = (home / "audit.log").read_text()
    noted = [(row["user"], row["kind"], row["id"], row["outcome"]) for row in map(json.loads, text.splitlines())]
    assert noted == [
        ("aki", "project.created", team.project_id, "done"),
        ("aki", "session.shared", team.session_id, "done"),
        ("aki", "note.created", team.note_id, "done"),
        ("aki", "anchors.reported", "abcdef0", "done"),
        ("aki", "note.created", team.shared_id, "done"),
        ("aki", "note.created", team.trashed_id, "done"),
        ("aki", "note.deleted", team.trashed_id, "done"),
        ("aki", "note.created", team.proposal_id, "done"),
        ("aki", "note.changed", team.note_id, "done"),
        ("root", "note.deleted", team.shared_id, "done"),
        ("ben", "n8n-mcp-server.delete_workflow", "abc123", "failed"),
        ("aki", "session.deleted", team.session_id, "done"),
    ]
    assert SECRET not in text
    assert team.share_token not in text


def test_revoked_user_is_rejected_at_once(team: Team) -> None:
    assert team.call("ben", "GET", "/api/me").status_code == 200
    UserFile(load_authenticator().settings.users_path).revoke("ben")
    assert team.call("ben", "GET", "/api/me").status_code == 401


def test_broken_user_file_rejects_everyone(team: Team, home: Path) -> None:
    (home / "users.json").write_text("{")
    answer = team.call("aki", "GET", "/api/me")
    assert answer.status_code == 503
    assert answer.json()["code"] == "access.users_unavailable"
    signing_in = team.call(None, "POST", "/api/login", json={"token": "chie_x"})
    assert signing_in.status_code >= 500
    assert str(home) not in answer.text + signing_in.text
    assert team.call(None, "GET", "/health").status_code in (200, 503)


def test_without_users_everyone_is_anonymous(store: SqliteStore, page_folder: Path) -> None:
    app = create_app(load_servers(store), nullcontext(FakeRegistry()), page=page_folder)
    with TestClient(app, base_url=ADDRESS) as client:
        assert client.get("/api/me").json() == {"id": "anonymous", "admin": True, "authentication": "none"}
        saved = client.post("/api/knowledge", json={"content": "anybody's"}).json()
        assert saved["user_id"] == "anonymous"
        samples = client.post("/api/knowledge/samples").json()["ids"]
        assert client.delete(f"/api/knowledge/{samples[0]}").json()["user_id"] == "chie"


def test_importing_user_is_the_author(team: Team) -> None:
    moment = "2026-01-01T00:00:00Z"
    note = {"id": "k-new", "title": "t", "content": "c", "user_id": "aki", "created_at": moment, "updated_at": moment}
    assert team.call("ben", "PUT", "/api/knowledge/k-new", json=note).json()["user_id"] == "ben"
    file = {"files": ("a.md", exported("k-other", "forged").encode(), "text/markdown")}
    assert team.call("ben", "POST", "/api/knowledge/import", files=file).json()["saved"] == 1
    assert team.call("ben", "GET", "/api/knowledge/k-other").json()["user_id"] == "ben"
    note |= {"id": "k-third"}
    assert team.call("root", "PUT", "/api/knowledge/k-third", json=note).json()["user_id"] == "aki"


@pytest.mark.parametrize("victim", ["aki", "root"])
@pytest.mark.parametrize("private", [False, True])
def test_an_import_never_ends_up_in_a_note_that_another_user_put_there(team: Team, victim: str, private: bool) -> None:
    def imported(text: str) -> dict[str, Any]:
        file = {"files": ("計画 plan.md", text.encode(), "text/markdown")}
        report: dict[str, Any] = team.call(victim, "POST", "/api/knowledge/import", files=file).json()
        return report

    def own() -> list[dict[str, Any]]:
        found = team.call(victim, "GET", "/api/knowledge").json()["notes"]
        return [note for note in found if note["title"] == "計画 plan"]

    assert imported("first")["saved"] == 1
    [note] = own()
    for path in (note["id"], f"trash/{note['id']}"):  # until it is purged, the id is the victim's
        assert team.call(victim, "DELETE", f"/api/knowledge/{path}").status_code < 300
    moment = "2026-01-01T00:00:00Z"
    trap = {"id": note["id"], "title": "trap", "content": "罠", "created_at": moment, "updated_at": moment}
    put = team.call("ben", "PUT", f"/api/knowledge/{note['id']}", json=trap | {"private": private})
    assert put.json()["user_id"] == "ben"
    assert (imported("secret")["saved"], imported("secret")["unchanged"], imported("second")["saved"]) == (1, 1, 1)
    [kept] = own()
    assert (kept["user_id"], kept["id"] == note["id"]) == (victim, False)
    assert team.call(victim, "GET", f"/api/knowledge/{kept['id']}").json()["content"] == "second"
    assert team.call("ben", "GET", f"/api/knowledge/{note['id']}").json()["content"] == "罠"


def test_two_who_import_a_file_of_the_same_name_have_two_notes(team: Team) -> None:
    for who in ("aki", "ben"):
        file = {"files": ("todo.md", f"what {who} has to do".encode(), "text/markdown")}
        assert team.call(who, "POST", "/api/knowledge/import", files=file).json()["saved"] == 1
        again = {"files": ("todo.md", f"what {who} has to do now".encode(), "text/markdown")}
        assert team.call(who, "POST", "/api/knowledge/import", files=again).json()["saved"] == 1
    found = team.call("aki", "GET", "/api/knowledge").json()["notes"]
    assert sorted(note["user_id"] for note in found if note["title"] == "todo") == ["aki", "ben"]
