"""Who may accept the changed tools of a server: admins alone."""

from tests.security.conftest import Team


def test_only_admins_accept_changed_tools(team: Team) -> None:
    refused = team.call("ben", "POST", "/api/mcp/servers/knowledge/accept")
    assert (refused.status_code, refused.json()["code"]) == (403, "toolbox.accept_needs_admin")
    assert team.call("root", "POST", "/api/mcp/servers/nobody/accept").status_code == 404
