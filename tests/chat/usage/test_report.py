"""Reports by day, model, agent and user, and the CSV file."""

import csv
import io
from typing import Any

import pytest
from tests.chat.usage.test_recording import entry
from tests.fakes.chat import ChatClient

from chie.chat.sessions.usage_entry import UsageRecord

pytestmark = pytest.mark.req("AG-13")

DAYS = {"first": "2026-11-01", "last": "2026-11-30"}


@pytest.fixture
async def used(chat: ChatClient) -> ChatClient:
    await chat.client.get("/api/usage/month")  # opens the database
    entries = [
        entry(user_id="anonymous", day="2026-11-02", cost=2_000_000_000),
        entry(user_id="anonymous", day="2026-11-03", agent_id="other", model="=cmd()", price="unknown", cost=None),
        entry(user_id="ada", day="2026-11-03", cost=1_000_000_000),
        entry(user_id="ada", day="2026-10-31"),
    ]
    await chat.app.state.chat.usage.record(UsageRecord(entries=entries))
    return chat


def named(groups: list[dict[str, Any]]) -> list[tuple[str, int, float]]:
    return [(group["name"], group["requests"], group["cost"]) for group in groups]


async def test_own_usage_without_scope_and_all_for_an_admin(used: ChatClient) -> None:
    own = await used.get("/api/usage", **DAYS)
    assert named(own["users"]) == [("anonymous", 2, 2.0)]
    assert named(own["days"]) == [("2026-11-02", 1, 2.0), ("2026-11-03", 1, 0.0)]
    assert own["total"]["unpriced_requests"] == 1
    assert own["since"] == "2026-11-02"
    team = await used.get("/api/usage", scope="team", **DAYS)
    assert named(team["users"]) == [("anonymous", 2, 2.0), ("ada", 1, 1.0)]
    assert named(team["models"]) == [("m", 2, 3.0), ("=cmd()", 1, 0.0)]
    assert team["since"] == "2026-10-31"


async def test_filters(used: ChatClient) -> None:
    ada = await used.get("/api/usage", user="ada", **DAYS)
    assert named(ada["days"]) == [("2026-11-03", 1, 1.0)]
    other = await used.get("/api/usage", scope="team", agent="other", **DAYS)
    assert named(other["models"]) == [("=cmd()", 1, 0.0)]
    by_model = await used.get("/api/usage", scope="team", model="m", **DAYS)
    assert by_model["total"]["requests"] == 2
    day = await used.get("/api/usage", scope="team", first="2026-11-03", last="2026-11-03")
    assert day["total"]["requests"] == 2


async def test_csv_is_safe_for_spreadsheets(used: ChatClient) -> None:
    response = await used.client.get("/api/usage/export", params={"scope": "team", **DAYS})
    assert response.headers["content-type"] == "text/csv; charset=utf-8"
    assert 'filename="chie-usage-2026-11-01-2026-11-30.csv"' in response.headers["content-disposition"]
    rows = list(csv.DictReader(io.StringIO(response.content.decode("utf-8-sig"))))
    assert [(row["day"], row["user"], row["model"], row["cost_usd"]) for row in rows] == [
        ("2026-11-02", "anonymous", "m", "2.000000000"),
        ("2026-11-03", "ada", "m", "1.000000000"),
        ("2026-11-03", "anonymous", "'=cmd()", ""),
    ]
    assert rows[0]["price"] == "1/1/1/1"


@pytest.mark.parametrize(
    ("query", "code"),
    [
        ({"first": "2026-11-02", "last": "2026-11-01"}, "usage.days_reversed"),
        ({"first": "2024-01-01", "last": "2026-11-01"}, "usage.too_many_days"),
        ({"first": "soon"}, "http.invalid_request"),
        ({"scope": "all"}, "http.invalid_request"),
    ],
)
async def test_wrong_days_are_explained(chat: ChatClient, query: dict[str, str], code: str) -> None:
    response = await chat.client.get("/api/usage", params=query)
    assert (response.status_code, response.json()["code"]) == (400, code)
