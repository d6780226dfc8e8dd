"""`chie usage`: a month on the command line."""

import asyncio
import csv
import io
from pathlib import Path

import pytest
from click.testing import CliRunner
from tests.chat.usage.test_recording import entry

from chie.chat.sessions.database import Database
from chie.chat.sessions.upgrade import upgrade
from chie.chat.sessions.usage import UsageStore
from chie.chat.sessions.usage_entry import UsageRecord
from chie.cli import main
from chie.database.engine import sqlalchemy_url
from chie.database.settings import DatabaseSettings, database_url
from chie.settings import load

pytestmark = pytest.mark.req("AG-13")


def shown(*options: str) -> str:
    result = CliRunner().invoke(main, ["usage", "--month", "2026-11", *options])
    assert result.exit_code == 0, result.output
    return result.output


@pytest.fixture(autouse=True)
def used(home: Path) -> None:
    home.mkdir(exist_ok=True)
    url = sqlalchemy_url(database_url(load(DatabaseSettings)))
    upgrade(url)
    entries = [
        entry(user_id="anonymous", day="2026-11-02", model="日本語-7b", cost=2_000_000_000),
        entry(user_id="ada", day="2026-11-30", agent_id="other", price="unknown", cost=None),
        entry(user_id="ada", day="2026-12-01", cost=9_000_000_000),
    ]

    async def fill() -> None:
        database = Database(url)
        await UsageStore(database).record(UsageRecord(entries=entries))
        await database.close()

    asyncio.run(fill())


def test_own_month_is_summed_by_model_and_agent() -> None:
    output = shown()
    assert output.startswith("2026-11-01 to 2026-11-30: $2.00, ")
    assert "日本語-7b" in output
    assert "By user" not in output
    assert "other" not in output


def test_all_users_are_shown_with_what_has_no_price() -> None:
    output = shown("--all")
    assert output.startswith("2026-11-01 to 2026-11-30: $2.00 + unknown, ")
    assert "By user" in output
    assert "  ada: $0.00 + unknown, " in output


def test_csv_has_a_line_for_each_day_user_agent_and_model() -> None:
    rows = list(csv.DictReader(io.StringIO(shown("--all", "--csv"))))
    assert [(row["day"], row["user"]) for row in rows] == [("2026-11-02", "anonymous"), ("2026-11-30", "ada")]


def test_month_without_usage_says_so() -> None:
    result = CliRunner().invoke(main, ["usage", "--month", "2020-01"])
    assert result.output.startswith("2020-01-01 to 2020-01-31: $0.00, ")
