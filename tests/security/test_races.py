"""The same write several times at once, by threads: none fails on the server, and what can happen once happens once."""

from concurrent.futures import ThreadPoolExecutor
from threading import Barrier
from typing import Any

import pytest
from tests.security.conftest import Team
from tests.security.matrix import ADDS, ONCE, SETS, Case
from tests.security.routes import ROUTES
from tests.security.test_every_route import request

AT_ONCE = 4
DECIDED = {404, 409}
PREPARED = {"DELETE /api/usage/limits": "PUT /api/usage/limits"}
UNTOUCHED = {  # what the table's request does not reach: a server that is not there, a decision that was not made
    "POST /api/mcp/servers/{name}/accept",
    "POST /api/mcp/servers/{name}/reconnect",
    "POST /api/knowledge/inbox/{note_id}/undo",
}


def of(*races: object) -> list[str]:
    return [name for name, case in ROUTES.items() if case.race in races and name not in UNTOUCHED]


def at_once(team: Team, who: str, name: str) -> list[int]:
    start = Barrier(AT_ONCE)

    def send(_: int) -> Any:
        start.wait()
        return request(team, who, name).status_code

    with ThreadPoolExecutor(AT_ONCE) as pool:
        return sorted(pool.map(send, range(AT_ONCE)))


def sender(case: Case) -> str:
    return "root" if case.admins else "aki"


def test_writes_at_once_all_succeed(team: Team) -> None:
    for name in of(ADDS, SETS):
        statuses = at_once(team, sender(ROUTES[name]), name)
        assert max(statuses) < 300, (name, statuses)


@pytest.mark.req("TR-6")
@pytest.mark.parametrize("name", of(ONCE))
def test_only_one_of_several_at_once_succeeds(team: Team, name: str) -> None:
    if name in PREPARED:
        request(team, sender(ROUTES[name]), PREPARED[name])
    statuses = at_once(team, sender(ROUTES[name]), name)
    assert statuses[0] < 300, statuses
    assert set(statuses[1:]) <= DECIDED, statuses


@pytest.mark.parametrize("name", ["POST /api/endpoints", "POST /api/mcp/servers"])
def test_admins_add_one_of_a_name(team: Team, name: str) -> None:
    statuses = at_once(team, "root", name)
    assert statuses[0] < 300, statuses
    assert set(statuses[1:]) == {409}, statuses
