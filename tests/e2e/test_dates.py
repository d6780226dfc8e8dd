"""Conversations grouped by date, in both languages and several time zones."""

import sqlite3
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta

import pytest
from playwright.sync_api import expect
from tests.e2e.app_process import app_process
from tests.e2e.conftest import OpenScreen
from tests.fakes import patient

NOON = datetime(2026, 7, 15, 3, 0, tzinfo=UTC)  # in Tokyo; the evening before in New York
AGES = {"now": 0, "one day": 1, "four days": 4, "twenty days": 20, "May": 65, "last year": 250}


@pytest.fixture(scope="module")
def address(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """An app with conversations of many ages: created over HTTP, dated back in the database."""
    home = tmp_path_factory.mktemp("home")
    with app_process(home) as (address, _):
        for title, days in AGES.items():
            session = patient.post(f"{address}/api/sessions", json={"title": title}).json()["session_id"]
            moment = (NOON - timedelta(days=days)).strftime("%F %T.%f")
            with sqlite3.connect(home / "chie.db") as database:
                database.execute("UPDATE sessions SET updated_at = ? WHERE id = ?", [moment, session])
        yield address


@pytest.mark.parametrize(
    ("locale", "groups"),
    [
        ("en", ["Today", "Yesterday", "Last 7 days", "Last 30 days", "May 2026", "November 2025"]),
        ("ja", ["今日", "昨日", "過去 7 日間", "過去 30 日間", "2026年5月", "2025年11月"]),
    ],
)
@pytest.mark.parametrize("zone", ["Asia/Tokyo", "America/New_York"])
def test_conversations_are_grouped_by_the_readers_calendar(
    open_screen: OpenScreen, locale: str, groups: list[str], zone: str
) -> None:
    screen = open_screen("/icon.svg", locale=locale, timezone_id=zone)
    screen.page.clock.install(time=NOON)
    screen.open("/")
    expect(screen.page.locator(".session-group")).to_have_text(groups)
    rows = screen.page.locator(".session-row")
    expected = [line for pair in zip(groups, AGES, strict=True) for line in pair]
    expect(rows).to_have_text(expected)


def test_the_next_day_moves_them_on(open_screen: OpenScreen) -> None:
    screen = open_screen("/icon.svg", timezone_id="Asia/Tokyo")
    screen.page.clock.install(time=NOON + timedelta(days=1))
    screen.open("/")
    expect(screen.page.locator(".session-row").first).to_have_text("Yesterday")
