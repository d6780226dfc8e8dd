"""Decisions of the inbox and the review, and what belongs to a user: for tokens and users who may write."""

import pytest
from tests.contract.note_review import records_of
from tests.security.conftest import Team
from tests.security.test_hidden_notes import save
from tests.security.test_spaces import vault

from chie.access.settings import AccessSettings
from chie.access.users import UserFile
from chie.knowledge.review.findings import FoundPair
from chie.settings import load

__all__ = ["vault"]

DECISIONS = "/api/knowledge/review/decisions"


@pytest.fixture
def finding(vault: Team) -> str:
    """A contradiction between a note of the vault and one of the team's, both Aki's."""
    mine, shared = save(vault, "aki", "the limit is 30 s", space="vault"), save(vault, "aki", "the limit is 60 s")
    first, second = sorted((mine, shared))
    pair = FoundPair(a=first, b=second, kind="contradiction", probability=0.9, reason="number", here="30", there="60")
    records_of(vault.store).store_pairs({first: "v", second: "v"}, [pair])
    return f"contradiction:{first}:{second}"


def found(team: Team, who: str) -> list[str]:
    return [one["id"] for one in team.call(who, "GET", "/api/knowledge/review").json()["findings"]]


@pytest.mark.req("MT-6")
@pytest.mark.parametrize("who", ["cho", "aki reads both"])
@pytest.mark.parametrize("action", ["dismiss", "keep", "archive", "merge", "supersede"])
def test_readers_settle_no_finding(vault: Team, finding: str, who: str, action: str) -> None:
    """A decision hides the finding from everybody."""
    users = UserFile(load(AccessSettings).users_path)
    vault.tokens["aki reads both"] = users.add_token("aki", spaces={"vault": "read", "team": "write"})
    before = vault.possessions()
    body = {"finding": finding, "action": action, "content": "merged"}
    refused = vault.call(who, "POST", DECISIONS, json=body)
    assert (refused.status_code, refused.json()["code"]) == (403, "knowledge.space_read_only"), refused.text
    assert vault.possessions() == before
    assert finding in found(vault, "aki")


@pytest.mark.req("MT-6")
@pytest.mark.parametrize("action", ["dismiss", "keep", "archive", "merge", "supersede"])
def test_a_decision_is_undone_by_users_who_may_still_write(vault: Team, finding: str, action: str) -> None:
    users = UserFile(load(AccessSettings).users_path)
    vault.tokens |= {
        "aki reads both": users.add_token("aki", spaces={"vault": "read", "team": "read"}),
        "root in team": users.add_token("root", spaces={"team": "write"}),
    }
    body = {"finding": finding, "action": action, "content": "merged"}
    decided = vault.call("aki", "POST", DECISIONS, json=body)
    assert decided.status_code == 201, decided.text
    path, before = f"{DECISIONS}/{decided.json()['id']}", vault.possessions()
    assert vault.call("aki reads both", "DELETE", path).status_code == 403
    vault.store.spaces.grant("vault", "aki", "read")
    assert vault.call("aki", "DELETE", path).status_code == 403
    vault.store.spaces.grant("vault", "aki", "none")
    assert vault.call("aki", "DELETE", path).status_code in (403, 404)
    for stranger in ("cho", "ben", "root in team"):
        assert vault.call(stranger, "DELETE", path).status_code == 404, stranger
    vault.store.spaces.grant("vault", "aki", "write")
    assert vault.possessions() == before
    undone = vault.call("aki", "DELETE", path)
    assert undone.status_code == 200, undone.text
    assert finding in found(vault, "aki")


@pytest.mark.req("MT-6")
def test_a_decision_on_a_proposal_is_undone_by_users_who_may_still_write(vault: Team) -> None:
    path = f"/api/knowledge/inbox/{vault.proposal_id}"
    assert vault.call("aki", "POST", f"{path}/reject").status_code == 200
    vault.store.spaces.grant("vault", "aki", "read")
    for who in ("aki", "aki reads"):
        assert vault.call(who, "POST", f"{path}/undo").status_code == 403
    assert vault.store.get(vault.proposal_id) is None


@pytest.mark.req("MT-8")
@pytest.mark.parametrize("who", ["aki reads", "aki in team"])
def test_recorded_searches_are_no_matter_of_a_limited_token(vault: Team, who: str) -> None:
    assert vault.call("aki", "PUT", "/api/knowledge/recording", json={"recording": True}).status_code == 200
    vault.call("aki", "GET", "/api/knowledge/search", params={"q": "zeppelin quux"})
    unanswered = found(vault, "aki")[-1]
    assert unanswered.startswith("unanswered:")
    assert not any(one.startswith("unanswered:") for one in found(vault, who))
    for method, body in (("GET", None), ("PUT", {"recording": False})):
        refused = vault.call(who, method, "/api/knowledge/recording", json=body)
        assert (refused.status_code, refused.json()["code"]) == (403, "knowledge.token_limited")
    decision = {"finding": unanswered, "action": "dismiss"}
    assert vault.call(who, "POST", DECISIONS, json=decision).status_code == 404
    assert vault.call("aki", "GET", "/api/knowledge/recording").json()["recording"] is True
    assert vault.call("aki", "POST", DECISIONS, json=decision).status_code == 201


@pytest.mark.req("MT-8")
def test_a_limited_token_of_an_admin_sees_no_searches_of_others(vault: Team) -> None:
    users = UserFile(load(AccessSettings).users_path)
    vault.tokens["root in team"] = users.add_token("root", spaces={"team": "write"})
    vault.call("ben", "PUT", "/api/knowledge/recording", json={"recording": True})
    vault.call("ben", "GET", "/api/knowledge/search", params={"q": "zeppelin quux"})
    assert any(one.startswith("unanswered:") for one in found(vault, "root"))
    assert not any(one.startswith("unanswered:") for one in found(vault, "root in team"))
