"""Every route: unauthenticated requests are rejected, and private things of others do not exist for the caller.

A new route fails the first test until the table in `routes.py` has it, with a decision on whose things it shows.
"""

import io
import json
import zipfile
from collections.abc import Iterable, Mapping
from typing import Any

import pytest
from tests.security.conftest import SECRET, Team, exported
from tests.security.matrix import LISTING, PRIVATE, SHARED
from tests.security.routes import ROUTES

from chie.http.routing import all_routes


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
        .replace("{user}", "ben")
        .replace("{name}", "team")
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
