"""Every route: unauthenticated requests are rejected, and private things of others do not exist for the caller.

A new route fails the first test until it is added to the table, with a decision on whose things it shows.
"""

import io
import json
import zipfile
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

import pytest
from tests.security.conftest import SECRET, Team, exported

from chie.http.routing import all_routes
from chie.http.static_files import PAGES

PUBLIC = "public"  # needs no token, and has no team data
SHARED = "shared"  # the same for every user
PRIVATE = "private"  # about one thing: that of another user is not found
LISTING = "listing"  # about many: those of other users are not listed


@dataclass(frozen=True)
class Case:
    kind: str
    body: dict[str, Any] | None = None
    query: dict[str, Any] = field(default_factory=dict)


NOTE = {
    "id": "{note_id}",
    "title": "mine",
    "content": "mine now",
    "created_at": "2026-01-01T00:00:00Z",
    "updated_at": "2026-01-01T00:00:00Z",
}

PROMPT = {
    "hook_event_name": "UserPromptSubmit",
    "session_id": "s",
    "prompt": "where is the password kept? in the safe?",
}

ANCHOR = {"repository": "github.com/org/repo", "path": "safe.py", "lines": "1-2"}
CHECK = {"id": "{note_id}", "anchor": ANCHOR, "state": "gone", "detail": "deleted"}
RESULTS = {"commit": "abcdef0", "committed_at": "2026-03-01T00:00:00Z", "checks": [CHECK]}

ROUTES: dict[str, Case] = {
    "GET /": Case(PUBLIC),
    "GET /assets/index-1.js": Case(PUBLIC),
    **{f"GET /{page}": Case(PUBLIC) for page in PAGES},
    "GET /health": Case(PUBLIC),
    "POST /api/login": Case(PUBLIC),
    "POST /api/logout": Case(PUBLIC),
    "GET /api/me": Case(SHARED),
    "GET /docs": Case(SHARED),
    "GET /openapi.json": Case(SHARED),
    "GET /metrics": Case(LISTING),
    "GET /api/agents": Case(SHARED),
    "GET /api/models": Case(SHARED),
    "GET /api/endpoints": Case(SHARED),  # where they are is for admins; see chat/endpoints/test_endpoints.py
    "POST /api/endpoints": Case(SHARED, body={"kind": "openai", "name": "x"}),  # for admins; see the same
    "POST /api/endpoints/test": Case(SHARED, body={"kind": "openai"}),
    "PATCH /api/endpoints/{endpoint_id}": Case(SHARED, body={}),
    "DELETE /api/endpoints/{endpoint_id}": Case(SHARED),
    "GET /api/mcp/servers": Case(SHARED),
    "POST /api/mcp/servers": Case(SHARED, body={"name": "x", "url": "http://127.0.0.1:9/"}),  # for admins
    "POST /api/mcp/servers/test": Case(SHARED, body={"url": "http://127.0.0.1:9/"}),  # see test_added_servers.py
    "PATCH /api/mcp/servers/{name}": Case(SHARED, body={}),
    "DELETE /api/mcp/servers/{name}": Case(SHARED),
    "POST /api/mcp/servers/{name}/reconnect": Case(SHARED),
    "POST /api/mcp/servers/{name}/login": Case(SHARED),  # of the caller alone; see test_oauth.py
    "DELETE /api/mcp/servers/{name}/login": Case(SHARED),
    "GET /api/mcp/oauth/callback": Case(PUBLIC),
    "GET /api/mcp/oauth/client.json": Case(PUBLIC),
    "POST /api/mcp/oauth/finish": Case(SHARED, body={"state": "x", "code": "y"}),
    "GET /api/mcp/servers/{name}/view": Case(SHARED, query={"uri": "ui://x"}),
    "POST /api/mcp/servers/{name}/view/call": Case(SHARED, body={"tool": "x"}),  # as the caller
    "GET /api/mcp/prompts": Case(SHARED, query={"agent_id": "echo"}),
    "GET /api/mcp/resources": Case(SHARED, query={"agent_id": "echo"}),  # as the caller; see test_server_content.py
    "POST /api/mcp/servers/{name}/prompt": Case(SHARED, body={"prompt": "x"}),
    "POST /api/mcp/servers/{name}/resource": Case(SHARED, body={"uri": "knowledge://x"}),  # the same
    "POST /api/mcp/servers/{name}/accept": Case(SHARED),  # for admins; see test_changed_tools.py
    "GET /api/setup": Case(SHARED),
    "GET /api/setup/connect": Case(SHARED),
    "POST /api/setup/endpoints/{endpoint_id}/test": Case(SHARED),
    "GET /v1/models": Case(SHARED),
    "GET /v1/models/{model}": Case(SHARED),
    "POST /v1/chat/completions": Case(SHARED),
    "POST /v1/embeddings": Case(SHARED),
    "POST /v1/responses": Case(SHARED),
    "GET /api/projects": Case(LISTING),
    "POST /api/projects": Case(LISTING, body={"name": "mine"}),
    "GET /api/projects/{project_id}": Case(PRIVATE),
    "PATCH /api/projects/{project_id}": Case(PRIVATE, body={"name": "mine"}),
    "POST /api/projects/{project_id}/files": Case(PRIVATE),
    "GET /api/projects/{project_id}/files/{attachment_id}": Case(PRIVATE),
    "GET /api/projects/{project_id}/files/{attachment_id}/text": Case(PRIVATE),
    "DELETE /api/projects/{project_id}/files/{attachment_id}": Case(PRIVATE),
    "GET /api/projects/{project_id}/shares": Case(PRIVATE),
    "PUT /api/projects/{project_id}/members/{user_id}": Case(PRIVATE, body={"role": "owner"}),
    "DELETE /api/projects/{project_id}/members/{user_id}": Case(PRIVATE),
    "POST /api/sessions/{session_id}/shares": Case(PRIVATE, body={"with_project": True}),
    "GET /api/shares": Case(LISTING),
    # A link for the members of a project; what a link for everybody shows is in test_projects.py.
    "GET /api/shared/{token}": Case(PRIVATE),
    "GET /api/shared/{token}/attachments/{attachment_id}": Case(PRIVATE),
    "GET /api/shared/{token}/attachments/{attachment_id}/text": Case(PRIVATE),
    "POST /api/shared/{token}/continue": Case(PRIVATE),
    "DELETE /api/shares/{token}": Case(PRIVATE),
    "DELETE /api/projects/{project_id}": Case(PRIVATE),
    "GET /api/sessions": Case(LISTING, query={"query": SECRET}),
    "POST /api/sessions": Case(LISTING, body={}),
    "GET /api/sessions/{session_id}": Case(PRIVATE),
    "PATCH /api/sessions/{session_id}": Case(PRIVATE, body={"title": "mine"}),
    "DELETE /api/sessions/{session_id}": Case(PRIVATE),
    "GET /api/sessions/{session_id}/export": Case(PRIVATE),
    "GET /api/sessions/marks": Case(LISTING),
    "POST /api/sessions/{session_id}/seen": Case(PRIVATE, body={"message_id": "{message_id}"}),
    "POST /api/sessions/import": Case(LISTING),  # into the caller's own sessions
    "GET /api/prompts": Case(LISTING),
    "POST /api/prompts": Case(LISTING, body={"name": "mine", "text": "own words"}),
    "GET /api/prompts/export": Case(LISTING),
    "POST /api/prompts/import": Case(LISTING, body={"prompts": [{"name": "mine", "text": "own words"}]}),
    "GET /api/prompts/{prompt_id}": Case(PRIVATE),
    "PATCH /api/prompts/{prompt_id}": Case(PRIVATE, body={"text": "mine now"}),
    "DELETE /api/prompts/{prompt_id}": Case(PRIVATE),
    "PUT /api/sessions/{session_id}/queue/{message_id}": Case(PRIVATE, body={"message": "and then?"}),
    "DELETE /api/sessions/{session_id}/queue/{message_id}": Case(PRIVATE),
    "POST /api/sessions/{session_id}/queue/{message_id}/send": Case(PRIVATE),
    "POST /api/attachments": Case(LISTING),
    "GET /api/attachments/{attachment_id}": Case(PRIVATE),
    "GET /api/attachments/{attachment_id}/text": Case(PRIVATE),
    "POST /api/chat/stream": Case(PRIVATE, body={"message": "and now?", "session_id": "{session_id}"}),
    "GET /api/chat/stream/{message_id}": Case(PRIVATE),
    "POST /api/chat/suggest-questions": Case(SHARED, body={"content": "mine"}),
    "POST /api/chat/compare-notes": Case(SHARED, body={"older": {"content": "a"}, "newer": {"content": "b"}}),
    "POST /api/chat/{message_id}/stop": Case(PRIVATE),
    "POST /api/chat/{message_id}/answer": Case(PRIVATE, body={"id": "question", "action": "accept"}),
    "POST /api/chat/{message_id}/approve": Case(PRIVATE, body={"id": "call-fetch"}),
    "POST /api/chat/{message_id}/regenerate": Case(PRIVATE),
    "POST /api/chat/{message_id}/edit": Case(PRIVATE, body={"message": "other words"}),
    "GET /api/usage": Case(SHARED),  # of the caller alone; see test_usage.py
    "GET /api/usage/export": Case(SHARED),
    "GET /api/usage/month": Case(SHARED),
    "GET /api/usage/limits": Case(SHARED),  # for admins
    "PUT /api/usage/limits": Case(SHARED, body={"scope": "team"}),
    "DELETE /api/usage/limits": Case(SHARED, query={"scope": "team"}),
    "GET /api/knowledge": Case(LISTING),
    "POST /api/knowledge": Case(LISTING, body={"content": "where the password is kept: in the safe"}),
    "GET /api/knowledge/search": Case(LISTING, query={"q": "password kept in the safe"}),
    "GET /api/knowledge/tags": Case(LISTING),
    "GET /api/knowledge/authors": Case(LISTING),
    "GET /api/knowledge/map": Case(LISTING),
    "GET /api/knowledge/graph": Case(LISTING),
    "GET /api/knowledge/export": Case(LISTING),
    "POST /api/knowledge/import": Case(LISTING),
    "POST /api/knowledge/samples": Case(LISTING),
    "GET /api/knowledge/{note_id}": Case(PRIVATE),
    "PATCH /api/knowledge/{note_id}": Case(PRIVATE, body={"content": "mine now"}),
    "PUT /api/knowledge/{note_id}": Case(PRIVATE, body=NOTE),
    "GET /api/knowledge/trash": Case(LISTING),
    "GET /api/knowledge/trash/{note_id}": Case(PRIVATE),
    "POST /api/knowledge/trash/{note_id}/restore": Case(PRIVATE),
    "DELETE /api/knowledge/trash/{note_id}": Case(PRIVATE),
    "GET /api/knowledge/{note_id}/history": Case(PRIVATE),
    "GET /api/knowledge/{note_id}/history/{version}": Case(PRIVATE),
    "POST /api/knowledge/{note_id}/history/{version}/restore": Case(PRIVATE),
    "DELETE /api/knowledge/{note_id}/history": Case(PRIVATE),
    "DELETE /api/knowledge/{note_id}": Case(PRIVATE),
    "GET /api/knowledge/{note_id}/similar": Case(PRIVATE),
    "PUT /api/knowledge/{note_id}/confirmation": Case(PRIVATE),
    "PUT /api/knowledge/{note_id}/mark": Case(PRIVATE, body={"mark": "wrong"}),
    "POST /api/knowledge/cited": Case(SHARED, body={"notes": ["{shared_id}"]}),
    "GET /api/knowledge/recording": Case(SHARED),
    "PUT /api/knowledge/recording": Case(SHARED, body={"recording": False}),
    "DELETE /api/knowledge/{note_id}/confirmation": Case(PRIVATE),
    "GET /api/knowledge/inbox": Case(LISTING),
    "GET /api/knowledge/inbox/count": Case(SHARED),
    "POST /api/knowledge/inbox/{note_id}/accept": Case(PRIVATE, body={}),
    "POST /api/knowledge/inbox/{note_id}/undo": Case(PRIVATE),
    "POST /api/knowledge/inbox/{note_id}/merge": Case(PRIVATE, body={"into": "{shared_id}", "content": "mine now"}),
    "POST /api/knowledge/inbox/{note_id}/reject": Case(PRIVATE),
    "GET /api/knowledge/spaces": Case(SHARED),  # see test_spaces.py
    "PUT /api/knowledge/spaces/{name}": Case(SHARED),
    "DELETE /api/knowledge/spaces/{name}": Case(SHARED),
    "PUT /api/knowledge/spaces/{name}/users/{user}": Case(SHARED),
    "GET /api/knowledge/repositories": Case(SHARED),
    "PUT /api/knowledge/repositories": Case(SHARED),
    "GET /api/knowledge/review": Case(LISTING),
    "GET /api/knowledge/review/count": Case(SHARED),
    "POST /api/knowledge/review/decisions": Case(SHARED, body={"finding": "stale:{note_id}", "action": "archive"}),
    "DELETE /api/knowledge/review/decisions/{decision_id}": Case(SHARED),
    "GET /api/knowledge/{note_id}/links": Case(PRIVATE),
    "GET /api/knowledge/anchors": Case(LISTING, query={"repository": "github.com/org/repo"}),
    "POST /api/knowledge/anchors": Case(LISTING, body=RESULTS),
    "GET /api/knowledge/anchors/changed": Case(LISTING),
    "POST /hooks/claude-code": Case(LISTING, body=PROMPT),
    "GET /hooks/status": Case(SHARED),
    "GET /api/n8n/workflows": Case(SHARED),
    "GET /api/n8n/workflows/{workflow_id}": Case(SHARED),
    "GET /api/n8n/workflows/{workflow_id}/executions": Case(SHARED),
    "GET /api/n8n/workflows/{workflow_id}/backups": Case(SHARED),
    "PATCH /api/n8n/workflows/{workflow_id}": Case(SHARED),
    "POST /api/n8n/workflows/{workflow_id}/rehearsals": Case(SHARED),
    "GET /api/n8n/executions/{execution_id}": Case(SHARED),
    "GET /api/n8n/backups/{workflow_id}/{file}": Case(SHARED),
    "POST /api/n8n/backups/{workflow_id}/{file}/restore": Case(SHARED),
    "GET /api/bedrock-kb": Case(SHARED),
    "POST /api/bedrock-kb/ask": Case(SHARED),
    "ANY /mcp/knowledge": Case(SHARED),
    "ANY /mcp/n8n": Case(SHARED),
    "ANY /mcp/bedrock-kb": Case(SHARED),
}


def names_of(routes: Iterable[Any]) -> set[str]:
    found: set[str] = set()
    for route in routes:
        methods = (route.methods or {"ANY"}) - {"HEAD"}
        found |= {f"{method} {route.path}" for method in methods}
    return found


def of_kind(*kinds: str) -> list[str]:
    return [name for name, case in ROUTES.items() if case.kind in kinds]


def filled(team: Team, text: str) -> str:
    message = team.question_id if text.endswith("/edit") else team.answer_id
    note = team.proposal_id if "/inbox/" in text else team.trashed_id if "/trash/" in text else team.note_id
    return (
        text.replace("{session_id}", team.session_id)
        .replace("{attachment_id}", team.project_file_id if "/projects/" in text else team.attachment_id)
        .replace("{prompt_id}", team.prompt_id)
        .replace("{project_id}", team.project_id)
        .replace("{user_id}", "ben")
        .replace("{token}", team.share_token)
        .replace("{message_id}", message)
        .replace("{version}", "1")
        .replace("{note_id}", note)
        .replace("{shared_id}", team.shared_id)
    )


def request(team: Team, who: str | None, name: str, headers: Mapping[str, str] | None = None) -> Any:
    method, path = name.split(" ")
    case = ROUTES[name]
    options: dict[str, Any] = {"params": case.query, "headers": headers or {}}
    if case.body is not None:
        options["json"] = json.loads(filled(team, json.dumps(case.body)))
    if name == "POST /api/knowledge/import":
        own = exported(team.note_id, "mine now")
        options["files"] = {"files": ("stolen.md", own.encode(), "text/markdown")}
    if name == "POST /api/sessions/import":
        options["files"] = {"file": ("conversations.json", b"[]", "application/json")}
    if name in ("POST /api/attachments", "POST /api/projects/{project_id}/files"):
        options["files"] = {"file": ("own.txt", b"mine", "text/plain")}
    return team.call(who, "POST" if method == "ANY" else method, filled(team, path), **options)


def test_table_lists_every_route(team: Team) -> None:
    app: Any = team.client.app
    assert names_of(all_routes(app)) == set(ROUTES)


def test_token_is_required(team: Team) -> None:
    team.tokens["thief"] = "chie_" + "A" * 43
    for name in of_kind(SHARED, PRIVATE, LISTING):
        anonymous, thief = request(team, None, name), request(team, "thief", name)
        assert (anonymous.status_code, thief.status_code) == (401, 401), name
        assert anonymous.headers["www-authenticate"] == 'Bearer realm="Chie"'
        assert 'error="invalid_token"' in thief.headers["www-authenticate"]
        assert anonymous.json()["code"] == "access.token_missing"
        assert SECRET not in anonymous.text + thief.text


@pytest.mark.parametrize("who", ["ben", "root"])
def test_private_things_of_others_are_not_found_and_not_changed(team: Team, who: str) -> None:
    unknown = team.call(who, "GET", "/api/knowledge/k-0000000000000000").json()["detail"]
    no_proposal = team.call(who, "POST", "/api/knowledge/inbox/k-0000000000000000/reject").json()["detail"]
    not_in_trash = team.call(who, "GET", "/api/knowledge/trash/k-0000000000000000").json()["detail"]
    no_decision = team.call(who, "POST", "/api/knowledge/inbox/k-0000000000000000/undo").json()["detail"]
    before = team.possessions()
    for name in of_kind(PRIVATE):
        answer = request(team, who, name)
        assert answer.status_code == 404, (name, answer.text)
        assert SECRET not in answer.text
        if "note_id" in name:
            expected = no_decision if name.endswith("/undo") else no_proposal if "/inbox/" in name else unknown
            expected = not_in_trash if "/trash/" in name else expected
            assert answer.json()["detail"] == expected, name
        assert team.possessions() == before, name


def test_same_requests_succeed_for_the_owner(team: Team) -> None:
    """So the test before this one cannot pass because the requests are wrong."""
    expected = {
        "PUT /api/knowledge/{note_id}": 409,
        "POST /api/chat/{message_id}/approve": 409,
        "POST /api/chat/{message_id}/answer": 409,
        "DELETE /api/sessions/{session_id}": 204,
        "POST /api/sessions/{session_id}/seen": 204,
        "DELETE /api/prompts/{prompt_id}": 204,
        "PUT /api/sessions/{session_id}/queue/{message_id}": 409,  # the id of a message that was sent
        "DELETE /api/sessions/{session_id}/queue/{message_id}": 404,  # see test_queue.py
        "POST /api/sessions/{session_id}/queue/{message_id}/send": 404,
        "POST /api/projects/{project_id}/files": 201,
        "DELETE /api/projects/{project_id}/files/{attachment_id}": 204,
        "DELETE /api/projects/{project_id}/members/{user_id}": 204,
        "POST /api/sessions/{session_id}/shares": 201,
        "POST /api/shared/{token}/continue": 201,
        "DELETE /api/shares/{token}": 204,
        "DELETE /api/projects/{project_id}": 204,
        "POST /api/knowledge/inbox/{note_id}/reject": 404,  # it has been merged
        "DELETE /api/knowledge/trash/{note_id}": 404,  # it has been restored
    }
    for name in sorted(of_kind(PRIVATE), key=lambda name: name.startswith("DELETE") and "confirm" not in name):
        assert request(team, "aki", name).status_code == expected.get(name, 200), name


def test_lists_hide_private_things_of_others(team: Team) -> None:
    before = team.possessions()
    for name in of_kind(LISTING):
        answer = request(team, "ben", name)
        shown = text_of(answer)
        assert answer.status_code in (200, 201), (name, answer.text)
        assert SECRET not in shown, name
        assert team.session_id not in shown, name
        assert team.project_id not in shown, name
        assert team.note_id not in shown, name
        assert team.proposal_id not in shown, name
        assert team.possessions() == before, name


def test_lists_show_everything_to_the_owner(team: Team) -> None:
    for name in of_kind(LISTING):
        if name.startswith("GET") and name not in ("GET /metrics", "GET /api/knowledge/graph"):  # nothing is linked
            shown = text_of(request(team, "aki", name))
            own = (team.note_id, team.session_id, team.proposal_id, SECRET, '"author":"aki"')
            assert any(mine in shown for mine in own), name


def text_of(answer: Any) -> str:
    if answer.headers["content-type"] != "application/zip":
        return str(answer.text)
    with zipfile.ZipFile(io.BytesIO(answer.content)) as archive:
        return "".join(archive.read(entry).decode() + entry for entry in archive.namelist())


def test_import_cannot_reveal_a_private_note(team: Team) -> None:
    refused = request(team, "ben", "POST /api/knowledge/import").json()["refused"]
    assert list(refused) == ["stolen.md"]
    assert refused["stolen.md"].startswith("knowledge not found")


def test_health_shows_only_the_status_without_a_token(team: Team) -> None:
    stranger, known = team.call(None, "GET", "/health"), team.call("ben", "GET", "/health")
    assert list(stranger.json()) == ["status"]
    assert set(known.json()["servers"]) == {"knowledge", "n8n", "bedrock-kb", "chat"}
