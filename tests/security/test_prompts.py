"""Saved prompts: private ones are their author's; shared ones are changed by their author or an admin."""

import pytest
from tests.security.conftest import Team

pytestmark = pytest.mark.req("AG-12")

REPLY = {"name": "返信の下書き", "text": "{{相手}}さんへ、{{tone=丁寧|カジュアル}}な返信を書いて。"}


def names(team: Team, who: str) -> list[str]:
    return [one["name"] for one in team.call(who, "GET", "/api/prompts").json()["prompts"]]


def test_shared_prompt_is_seen_by_all_and_changed_by_its_author_or_an_admin(team: Team) -> None:
    path = f"/api/prompts/{team.call('aki', 'POST', '/api/prompts', json=REPLY).json()['prompt_id']}"
    assert names(team, "ben") == []
    assert team.call("aki", "PATCH", path, json={"shared": True}).json()["shared"] is True
    assert names(team, "ben") == ["返信の下書き"]
    assert team.call("ben", "GET", path).json()["text"] == REPLY["text"]
    for refused in (team.call("ben", "PATCH", path, json={"text": "mine"}), team.call("ben", "DELETE", path)):
        assert (refused.status_code, refused.json()["code"]) == (403, "prompts.not_yours")
    changed = team.call("root", "PATCH", path, json={"text": "見直した本文"}).json()
    assert (changed["text"], changed["user_id"]) == ("見直した本文", "aki")
    assert team.call("root", "DELETE", path).status_code == 204
    assert names(team, "aki") == ["plan"]


def test_export_has_the_callers_own_prompts_and_can_be_imported_repeatedly(team: Team) -> None:
    team.call("ben", "POST", "/api/prompts", json=REPLY)
    team.call("ben", "POST", "/api/prompts", json={"name": "Bug report", "text": "Steps", "shared": True})
    team.call("aki", "PATCH", f"/api/prompts/{team.prompt_id}", json={"shared": True})
    exported = team.call("ben", "GET", "/api/prompts/export")
    assert exported.headers["content-disposition"] == 'attachment; filename="chie-prompts.json"'
    own = {"prompts": [{"name": "Bug report", "text": "Steps", "shared": True}, REPLY | {"shared": False}]}
    assert exported.json() == own
    first = team.call("root", "POST", "/api/prompts/import", json=own).json()
    again = team.call("root", "POST", "/api/prompts/import", json=own).json()
    assert (first, again) == ({"imported": 2, "existing": 0}, {"imported": 0, "existing": 2})
    assert names(team, "root") == ["Bug report", "Bug report", "plan", "返信の下書き"]
