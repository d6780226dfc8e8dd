"""The security matrix is complete: every write says what decides a race, with tests that exist; all have a bound."""

import ast
from collections.abc import Iterator

import pytest
from docs.generate import security
from docs.requirement_table import TESTS
from tests.security import matrix
from tests.security.conftest import Team
from tests.security.matrix import Race
from tests.security.routes import ROUTES
from tests.security.test_every_route import request
from tests.security.tools import TOOLS

from chie.mcp_kit.server import Server
from chie.servers import load_agent_servers

RACES = {name: race for name, race in vars(matrix).items() if isinstance(race, Race)}


def functions(file: str) -> Iterator[str]:
    for node in ast.walk(ast.parse((TESTS / file).read_text("utf-8"))):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            yield node.name


def test_every_write_says_what_decides_a_race_and_no_read_does() -> None:
    writes = {name for name in ROUTES if not name.startswith("GET ")}
    assert {name for name, case in ROUTES.items() if case.race} == writes


async def test_every_tool_that_may_write_says_what_decides_a_race(team: Team) -> None:
    for name, server in (team.servers | load_agent_servers()).items():
        assert isinstance(server, Server)
        for tool in await server.list_tools():
            reads = bool(tool.annotations and tool.annotations.read_only_hint)
            assert (TOOLS[name][tool.name].race is None) is reads, tool.name


@pytest.mark.parametrize("name", RACES)
def test_proofs_of_a_race_exist(name: str) -> None:
    race = RACES[name]
    assert race.tests or name == "STORES_NOTHING"
    for test in race.tests:
        file, _, function = test.partition("::")
        assert function in functions(file), test


@pytest.mark.parametrize("table", ["routes", "tools"])
def test_every_line_has_a_bound(table: str) -> None:
    rows = security(table)
    assert not isinstance(rows, str)
    assert [row for row in rows.rows if not all(row)] == []


def test_what_is_for_admins_is_refused_to_others(team: Team) -> None:
    for name in (name for name, case in ROUTES.items() if case.admins):
        assert request(team, "ben", name).status_code == 403, name
