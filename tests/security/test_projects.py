"""Projects and links between users: roles hold, and a link opens what was shared and nothing else."""

from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from tests.security.conftest import SECRET, Team

pytestmark = pytest.mark.req("AG-12")


def invite(team: Team, role: str, who: str = "ben") -> Any:
    return team.call("aki", "PUT", f"/api/projects/{team.project_id}/members/{who}", json={"role": role})


def changes(team: Team) -> list[tuple[str, str, dict[str, Any]]]:
    path = f"/api/projects/{team.project_id}"
    return [
        ("PATCH", path, {"json": {"instructions": "mine"}}),
        ("POST", f"{path}/files", {"files": {"file": ("own.txt", b"mine", "text/plain")}}),
        ("DELETE", f"{path}/files/{team.project_file_id}", {}),
    ]


def management(team: Team) -> list[tuple[str, str, dict[str, Any]]]:
    path = f"/api/projects/{team.project_id}"
    return [
        ("PUT", f"{path}/members/ben", {"json": {"role": "owner"}}),
        ("PUT", f"{path}/members/root", {"json": {"role": "viewer"}}),
        ("DELETE", f"{path}/members/aki", {}),
        ("DELETE", path, {}),
        ("DELETE", f"{path}?conversations=delete", {}),
    ]


def test_viewer_reads_and_uses_but_writes_nothing(team: Team) -> None:
    assert invite(team, "viewer").status_code == 200
    path = f"/api/projects/{team.project_id}"
    before = team.possessions()
    assert SECRET in team.call("ben", "GET", path).json()["instructions"]
    assert SECRET in team.call("ben", "GET", f"{path}/files/{team.project_file_id}/text").text
    for method, url, options in [*changes(team), *management(team)]:
        refused = team.call("ben", method, url, **options)
        assert refused.status_code == 403, (method, url, refused.text)
        assert team.possessions() == before, (method, url)
    asked = team.call("ben", "POST", "/api/chat/stream", json={"message": "hi", "project_id": team.project_id})
    assert asked.status_code == 200
    assert team.possessions()["project"]["conversations"] == 1  # Aki's own


def test_editor_changes_the_project_but_not_its_members(team: Team) -> None:
    invite(team, "editor")
    for method, url, options in management(team):
        assert team.call("ben", method, url, **options).status_code == 403, (method, url)
    for method, url, options in changes(team):
        assert team.call("ben", method, url, **options).status_code in (200, 201, 204), (method, url)
    assert team.possessions()["project"]["instructions"] == "mine"


def test_members_see_only_the_conversations_that_were_shared(team: Team) -> None:
    invite(team, "editor")
    assert team.call("ben", "GET", "/api/sessions", params={"project_id": team.project_id}).json()["sessions"] == []
    assert team.call("ben", "GET", f"/api/sessions/{team.session_id}").status_code == 404
    [share] = team.call("ben", "GET", f"/api/projects/{team.project_id}/shares").json()["shares"]
    assert (share["token"], share["user_id"]) == (team.share_token, "aki")
    shared = team.call("ben", "GET", f"/api/shared/{share['token']}")
    assert SECRET in shared.text
    assert team.session_id not in shared.text
    path = f"/api/shared/{share['token']}/attachments/{team.attachment_id}"
    assert SECRET in team.call("ben", "GET", path).text
    assert team.call("ben", "GET", f"/api/attachments/{team.attachment_id}").status_code == 404
    assert team.call("ben", "DELETE", f"/api/shares/{share['token']}").status_code == 404


def test_former_member_keeps_own_conversations_and_loses_the_project(team: Team) -> None:
    invite(team, "viewer")
    asked = team.call("ben", "POST", "/api/chat/stream", json={"message": "hi", "project_id": team.project_id})
    own = asked.headers["x-chie-session"]
    link = team.call("ben", "POST", f"/api/sessions/{own}/shares", json={"with_project": True}).json()["token"]
    assert team.call("aki", "GET", f"/api/shared/{link}").status_code == 200
    assert team.call("ben", "DELETE", f"/api/projects/{team.project_id}/members/ben").status_code == 204
    assert team.call("ben", "GET", f"/api/sessions/{own}").json()["project_id"] is None
    assert team.call("ben", "GET", f"/api/projects/{team.project_id}").status_code == 404
    assert team.call("ben", "GET", f"/api/shared/{team.share_token}").status_code == 404
    assert team.call("aki", "GET", f"/api/shared/{link}").status_code == 404


def test_deleting_a_project_never_deletes_conversations_of_others(team: Team) -> None:
    invite(team, "viewer")
    asked = team.call("ben", "POST", "/api/chat/stream", json={"message": "hi", "project_id": team.project_id})
    own = asked.headers["x-chie-session"]
    path = f"/api/projects/{team.project_id}"
    assert team.call("aki", "DELETE", path, params={"conversations": "delete"}).status_code == 204
    assert team.call("aki", "GET", f"/api/sessions/{team.session_id}").status_code == 404
    kept = team.call("ben", "GET", f"/api/sessions/{own}").json()
    assert (kept["project_id"], len(kept["messages"])) == (None, 2)


def test_unknown_user_is_not_added(team: Team) -> None:
    refused = invite(team, "viewer", "nobody-of-this-name")
    assert (refused.status_code, refused.json()["code"]) == (404, "projects.user_not_found")


def test_link_for_everybody_opens_the_conversation_for_signed_in_users_alone(team: Team) -> None:
    token = team.call("aki", "POST", f"/api/sessions/{team.session_id}/shares").json()["token"]
    shared = team.call("ben", "GET", f"/api/shared/{token}").json()
    assert (shared["user_id"], shared["own"]) == ("aki", False)
    assert team.call(None, "GET", f"/api/shared/{token}").status_code == 401
    copied = team.call("ben", "POST", f"/api/shared/{token}/continue").json()
    mine = team.call("ben", "GET", f"/api/sessions/{copied['session_id']}").json()
    assert (mine["user_id"], mine["project_id"]) == ("ben", None)
    [file] = mine["messages"][0]["attachments"]
    assert SECRET in team.call("ben", "GET", f"/api/attachments/{file['attachment_id']}/text").text
    assert team.call("aki", "GET", f"/api/sessions/{copied['session_id']}").status_code == 404
    assert team.call("ben", "GET", "/api/shares").json()["shares"] == []
    before = team.possessions()
    assert team.call("ben", "DELETE", f"/api/shares/{token}").status_code == 404
    for message in shared["messages"]:
        path = f"/api/chat/{message['message_id']}/regenerate"
        assert team.call("ben", "POST", path).status_code == 404
    assert team.possessions() == before
    assert team.call("aki", "DELETE", f"/api/shares/{token}").status_code == 204
    assert team.call("ben", "GET", f"/api/shared/{token}").status_code == 404


@settings(max_examples=30, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(data=st.data())
def test_links_cannot_be_guessed_from_others(team: Team, data: st.DataObject) -> None:
    """Not by changing, cutting or extending a token, and not with the characters that SQL and paths know."""
    token = team.share_token
    position = data.draw(st.integers(0, len(token) - 1))
    other = data.draw(st.sampled_from("AZaz09-_%*'\"; .~"))
    guesses = [token[:position] + other + token[position + 1 :], token[:position], token + other, token.swapcase()]
    for guess in guesses:
        if guess == token:
            continue
        answer = team.client.request(
            "GET",
            "/api/shared/" + "".join(f"%{byte:02X}" for byte in guess.encode()),
            headers={"authorization": f"Bearer {team.tokens['aki']}"},
        )
        assert answer.status_code in (404, 405, 422), guess
        assert SECRET not in answer.text
