"""Filters in the query through every way to search: MCP, the API and the command line."""

import json
from collections.abc import AsyncIterator, Callable
from typing import Any

import pytest
from click.testing import CliRunner
from fastmcp import Client
from starlette.testclient import TestClient
from tests.fakes.hashed_notes import store

from chie.access.identity import User, acting_as
from chie.app import create_app
from chie.cli import main
from chie.knowledge.server import create_server
from chie.knowledge.service import KnowledgeService
from chie.knowledge.store.sqlite.store import SqliteStore

__all__ = ["store"]

pytestmark = pytest.mark.req("SE-4")

NOTES = {
    "en": ("The proxy answers 502 when the upstream is down", ["web"]),
    "docker": ("The proxy: upstream timed out behind docker", ["web", "docker"]),
    "ja": ("プロキシが 502 を返すときは upstream を確認する", ["障害"]),
}
QUERIES = [
    ("upstream tag:web -tag:docker", {"en"}),
    ("upstream tag:障害", {"ja"}),
    ("upstream -docker", {"en", "ja"}),
    ("upstream -確認", {"en", "docker"}),
    ('upstream "timed out"', {"docker"}),
    ('upstream "を返すとき"', {"ja"}),
    ("upstream author:aki", {"en", "docker", "ja"}),
    ("upstream author:ben", set()),
    ("upstream after:2000-01 before:2100", {"en", "docker", "ja"}),
    ("upstream before:2000-01-01", set()),
]

TOO_MANY = " ".join(f"-word{number}" for number in range(700))

Search = Callable[[str], Any]


@pytest.fixture
def names(store: SqliteStore) -> dict[str, str]:
    service = KnowledgeService(store)
    with acting_as(User("aki")):
        return {service.save(text, tags=tags).id: name for name, (text, tags) in NOTES.items()}


@pytest.fixture
async def mcp(store: SqliteStore) -> AsyncIterator[Client[Any]]:
    async with Client(create_server(store=store)) as client:
        yield client


@pytest.mark.parametrize(("query", "expected"), QUERIES)
async def test_through_mcp(mcp: Client[Any], names: dict[str, str], query: str, expected: set[str]) -> None:
    result = await mcp.call_tool("search_knowledge", {"query": query})
    assert result.structured_content
    assert {names[hit["id"]] for hit in result.structured_content["hits"]} == expected


async def test_too_many_filters_are_named_through_mcp(mcp: Client[Any]) -> None:
    result = await mcp.call_tool("search_knowledge", {"query": TOO_MANY}, raise_on_error=False)
    assert result.is_error
    assert result.structured_content
    assert result.structured_content["code"] == "knowledge.filters_too_many"


def test_through_the_api(store: SqliteStore, names: dict[str, str]) -> None:
    with TestClient(create_app({"knowledge": create_server(store=store)}), base_url="http://127.0.0.1:8080") as page:
        for query, expected in QUERIES:
            found = page.get("/api/knowledge/search", params={"q": query}).json()
            assert {names[one["hit"]["id"]] for one in found["hits"]} == expected, query
        refused = page.get("/api/knowledge/search", params={"q": "upstream after:soon"})
        too_many = page.get("/api/knowledge/search", params={"q": TOO_MANY})
    assert (refused.status_code, refused.json()["code"]) == (400, "knowledge.date_invalid")
    assert (too_many.status_code, too_many.json()["code"]) == (400, "knowledge.filters_too_many")


def test_on_the_command_line(names: dict[str, str]) -> None:
    for query, expected in QUERIES:
        result = CliRunner().invoke(main, ["notes", "search", query, "--json"])
        assert {names[hit["id"]] for hit in json.loads(result.output)["hits"]} == expected, query
    refused = CliRunner().invoke(main, ["notes", "search", "upstream after:soon"])
    assert (refused.exit_code, "`after:2026-03`" in refused.output) == (1, True)
    refused = CliRunner().invoke(main, ["notes", "search", "--", f"x {TOO_MANY}"])
    assert (refused.exit_code, "filters" in refused.output) == (1, True)
