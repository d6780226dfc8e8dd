"""A user never sees the usage of another, and only admins set limits."""

import pytest
from tests.security.conftest import Team

pytestmark = pytest.mark.req("AG-13")


def test_usage_of_others_is_hidden(team: Team) -> None:
    own = team.call("aki", "GET", "/api/usage").json()
    assert [user["name"] for user in own["users"]] == ["aki"]
    assert own["total"]["requests"] == 1
    ben = team.call("ben", "GET", "/api/usage").json()
    assert (ben["total"]["requests"], ben["users"], ben["since"]) == (0, [], None)
    assert "aki" not in team.call("ben", "GET", "/api/usage/export").text
    for path in ("/api/usage", "/api/usage/export"):
        for query in ({"scope": "team"}, {"user": "aki"}, {"scope": "team", "user": "ben"}):
            refused = team.call("ben", "GET", path, params=query)
            assert (refused.status_code, refused.json()["code"]) == (403, "usage.needs_admin")
    assert team.call("ben", "GET", "/api/usage", params={"user": "ben"}).status_code == 200
    everybody = team.call("root", "GET", "/api/usage", params={"scope": "team"}).json()
    assert [user["name"] for user in everybody["users"]] == ["aki"]


def test_only_admins_see_and_set_limits(team: Team) -> None:
    limit = {"scope": "user", "user_id": "ben", "tokens": 10**9}
    for who, status in (("ben", 403), ("root", 204)):
        assert team.call(who, "PUT", "/api/usage/limits", json=limit).status_code == status
        assert team.call(who, "GET", "/api/usage/limits").status_code == (200 if who == "root" else 403)
    assert (
        team.call("ben", "DELETE", "/api/usage/limits", params={"scope": "user", "user_id": "ben"}).status_code == 403
    )
    team.call("root", "PUT", "/api/usage/limits", json={"scope": "team", "tokens": 10**6})
    shown = team.call("ben", "GET", "/api/usage/month").json()["limits"]
    assert [(one["scope"], one["used"], one["limit"]) for one in shown] == [("team", None, None), ("user", 0, 10**9)]
