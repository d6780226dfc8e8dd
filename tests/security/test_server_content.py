"""Notes in the composer: the chat asks the knowledge server as the user, never as the process."""

import pytest
from tests.security.conftest import Team


@pytest.mark.req("AG-10")
@pytest.mark.parametrize("other", ["ben", "root"])
def test_private_notes_are_listed_and_attached_by_their_owner_only(team_with_agents: Team, other: str) -> None:
    team = team_with_agents
    note = team.call(
        "aki", "POST", "/api/knowledge", json={"content": "合併の暗号名は kestrel", "private": True}
    ).json()
    shared = team.call("ben", "POST", "/api/knowledge", json={"content": "the safe is in the cellar"}).json()
    path, of_agent = "/api/mcp/resources", {"params": {"agent_id": "assistant"}}
    for who, expected in ((other, {shared["id"]}), ("aki", {note["id"], shared["id"]}), (other, {shared["id"]})):
        listed = team.call(who, "GET", path, **of_agent).json()["resources"]
        assert {one["uri"].removeprefix("note://") for one in listed} == expected, who
    attach = {"json": {"uri": f"note://{note['id']}"}}
    refused = team.call(other, "POST", "/api/mcp/servers/knowledge/resource", **attach)
    assert (refused.status_code, refused.json()["code"]) == (404, "toolbox.resource_not_found")
    attached = team.call("aki", "POST", "/api/mcp/servers/knowledge/resource", **attach)
    assert attached.status_code == 201, attached.text
    text = f"/api/attachments/{attached.json()['attachment_id']}/text"
    assert "kestrel" in team.call("aki", "GET", text).text
    assert team.call(other, "GET", text).status_code == 404
