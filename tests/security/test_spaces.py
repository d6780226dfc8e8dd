"""Every route, tool and resource: notes of a space that the caller may not read do not exist for them.

The tables of routes and tools are those of the other modules, so that a new way to read notes is tested here too.
"""

from typing import Any

import pytest
from tests.security.conftest import SECRET, Team
from tests.security.matrix import LISTING, PRIVATE
from tests.security.routes import CHECK, RESULTS, ROUTES
from tests.security.test_every_route import of_kind, request, text_of
from tests.security.test_every_tool import LOOKS, _filled
from tests.security.test_hidden_notes import save
from tests.security.tools import TOOLS

from chie.access.settings import AccessSettings
from chie.access.users import UserFile
from chie.knowledge.spaces.space import Space
from chie.settings import load

STRANGERS = ["ben", "aki in team", "ben in hr"]  # another user, a limited token of the author's, one without `team`


@pytest.fixture
def vault(team: Team) -> Team:
    """Aki's private things, shared in a space that only Aki and Cho may use."""
    team.store.spaces.save(Space(name="vault", grants={"aki": "write", "cho": "read"}))
    team.store.spaces.save(Space(name="hr", grants={"ben": "write"}))
    for note_id in (team.note_id, team.proposal_id):
        moved = team.call("aki", "PATCH", f"/api/knowledge/{note_id}", json={"space": "vault", "private": False})
        assert moved.status_code == 200, moved.text
    team.call("aki", "DELETE", f"/api/knowledge/trash/{team.trashed_id}")
    team.trashed_id = save(team, "aki", f"the {SECRET} key was in the drawer", space="vault")
    team.call("aki", "DELETE", f"/api/knowledge/{team.trashed_id}")
    users = UserFile(load(AccessSettings).users_path)
    team.tokens |= {
        "cho": users.add("cho"),
        "aki in team": users.add_token("aki", spaces={"team": "write"}),
        "aki reads": users.add_token("aki", spaces={"vault": "read"}),
        "ben in hr": users.add_token("ben", spaces={"hr": "write", "vault": "write"}),
    }
    return team


def about_notes(*kinds: str) -> list[str]:
    return [name for name in of_kind(*kinds) if "/knowledge" in name or name.startswith("POST /hooks")]


@pytest.mark.req("MT-6")
@pytest.mark.parametrize("who", STRANGERS)
def test_notes_of_an_unreadable_space_are_not_found_and_not_changed(vault: Team, who: str) -> None:
    unknown = vault.call(who, "GET", "/api/knowledge/k-0000000000000000").json()["detail"]
    before = vault.possessions()
    for name in about_notes(PRIVATE):
        answer = request(vault, who, name)
        assert answer.status_code == 404, (name, answer.text)
        assert SECRET not in answer.text, name
        assert "vault" not in answer.text, name
        if "/inbox/" not in name and "/trash/" not in name:
            assert answer.json()["detail"] == unknown, name
        assert vault.possessions() == before, name


@pytest.mark.req("MT-6")
@pytest.mark.parametrize("who", STRANGERS)
def test_lists_and_tools_hide_notes_of_an_unreadable_space(vault: Team, who: str) -> None:
    before = vault.possessions()
    for name in about_notes(LISTING):
        answer = request(vault, who, name)
        limited = " in " in who and name.endswith("/recording")  # see test_decisions.py
        assert answer.status_code in ((403,) if limited else (200, 201)), (name, answer.text)
        shown = text_of(answer)
        assert not any(mark in shown for mark in (SECRET, vault.note_id, vault.proposal_id, "vault")), name
    for tool, case in TOOLS["knowledge"].items():
        answer = vault.tool(who, "knowledge", tool, **_filled(vault, case.arguments))
        assert not any(mark in str(answer) for mark in (SECRET, vault.note_id, "vault")), tool
    for asked, params in LOOKS:
        filled = {k: v.replace("{note}", vault.note_id) if isinstance(v, str) else v for k, v in params.items()}
        found = vault.ask(who, "knowledge", asked, **filled)
        assert SECRET not in str(found), asked
        assert vault.note_id not in str(found.get("result", "")), asked
    assert vault.possessions() == before


# They name no single note of the team here. `tests/knowledge/test_graph.py` has the graph's links.
NAMELESS = {f"GET /api/knowledge/{name}" for name in ("authors", "review", "graph")}


@pytest.mark.req("MT-6")
def test_readers_of_the_space_find_its_notes_and_change_nothing(vault: Team) -> None:
    """So the tests before cannot pass because nobody finds anything."""
    for who in ("aki", "cho", "root", "aki reads"):
        for name in about_notes(LISTING):
            if name.startswith("GET") and name not in NAMELESS:
                shown = text_of(request(vault, who, name))
                assert any(mark in shown for mark in (SECRET, vault.note_id, vault.proposal_id)), (who, name)
    before = vault.possessions()
    for who in ("cho", "aki reads"):
        for method, path, body in (
            ("PATCH", f"/api/knowledge/{vault.note_id}", {"content": "mine now"}),
            ("DELETE", f"/api/knowledge/{vault.note_id}", None),
            ("PUT", f"/api/knowledge/{vault.note_id}/confirmation", None),
            ("POST", f"/api/knowledge/inbox/{vault.proposal_id}/accept", {}),
            ("POST", f"/api/knowledge/inbox/{vault.proposal_id}/reject", None),
            ("POST", "/api/knowledge", {"content": "x", "space": "vault"}),
        ):
            answer = vault.call(who, method, path, json=body) if body is not None else vault.call(who, method, path)
            assert answer.status_code == 403, (who, path, answer.text)
            assert vault.possessions() == before, path


@pytest.mark.req("MT-6")
def test_unknown_and_unreadable_spaces_look_the_same(vault: Team) -> None:
    def told(space: str) -> list[Any]:
        found = [
            vault.call("ben", "POST", "/api/knowledge", json={"content": "x", "space": space}),
            vault.call("ben", "GET", "/api/knowledge", params={"space": space}),
            vault.call("ben", "GET", "/api/knowledge/search", params={"q": f"safe space:{space}"}),
            vault.call("ben", "GET", "/api/knowledge/search", params={"q": "safe", "space": space}),
            vault.call("ben", "PUT", f"/api/knowledge/spaces/{space}/users/ben", json={"access": "write"}),
            vault.call("ben", "DELETE", f"/api/knowledge/spaces/{space}"),
            vault.call("ben", "PUT", "/api/knowledge/repositories", json={"repository": "a/b/c", "space": space}),
        ]
        return [(answer.status_code, answer.text.replace(space, "?")) for answer in found]

    assert told("vault") == told("nowhere")
    assert [status for status, _ in told("vault")] == [404, 200, 200, 200, 403, 403, 403]
    assert vault.call("ben", "GET", "/api/knowledge/spaces").json()["spaces"] == [
        {"name": "team", "title": "Team", "access": "write", "notes": 1, "everybody": None, "grants": None},
        {"name": "hr", "title": "", "access": "write", "notes": 0, "everybody": None, "grants": None},
    ]


@pytest.mark.req("MT-6")
def test_moving_a_note_needs_write_on_both_spaces(vault: Team) -> None:
    assert vault.call("aki", "PATCH", f"/api/knowledge/{vault.note_id}", json={"space": "hr"}).status_code == 404
    own = save(vault, "ben", "ben's own", space="hr")
    vault.store.spaces.grant("hr", "ben", "read")
    for body in ({"space": "team"}, {"content": "x"}):
        assert vault.call("ben", "PATCH", f"/api/knowledge/{own}", json=body).status_code == 403
    vault.store.spaces.grant("hr", "ben", "write")
    moved = vault.call("ben", "PATCH", f"/api/knowledge/{own}", json={"space": "team"})
    assert moved.json()["space"] == "team"
    assert own in vault.call("cho", "GET", "/api/knowledge").text


@pytest.mark.req("MT-6")
def test_limited_token_is_for_notes_alone(vault: Team) -> None:
    for name in ROUTES:
        path = name.split(" ")[1]
        if "/knowledge" in path or path.startswith("/hooks") or ROUTES[name].kind == "public" or path == "/api/me":
            continue
        answer = request(vault, "aki in team", name)
        assert (answer.status_code, answer.json()["code"]) == (403, "access.token_limited"), name
    saved = vault.call("ben in hr", "POST", "/api/knowledge", json={"content": "goes where it may"}).json()
    assert saved["space"] == "hr"
    refused = vault.call("aki reads", "POST", "/api/knowledge", json={"content": "x"})
    assert refused.status_code in (403, 404)


@pytest.mark.req("MT-6")
@pytest.mark.parametrize("reader", ["cho", "aki reads"])
def test_who_may_only_read_reports_nothing_on_code(vault: Team, reader: str) -> None:
    report = {**RESULTS, "commit": "fedcba9", "checks": [{**CHECK, "id": vault.note_id}]}
    before = vault.possessions()
    assert vault.call(reader, "POST", "/api/knowledge/anchors", json=report).json() == {"stored": 0}
    assert vault.possessions() == before
    assert vault.call("aki", "POST", "/api/knowledge/anchors", json=report).json() == {"stored": 1}
