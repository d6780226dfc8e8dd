"""The page with tokens, cost and limits, in a real browser."""

import sqlite3
from collections.abc import Iterator
from contextlib import closing
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import expect
from tests.e2e.app_process import app_process
from tests.e2e.conftest import OpenScreen
from tests.e2e.screen import Screen
from tests.e2e.test_accessibility import serious_findings
from tests.e2e.test_sign_in import sign_in
from tests.fakes.chat import sqlite_url

from chie.access.users import UserFile
from chie.chat.sessions.upgrade import upgrade
from chie.chat.sessions.usage_entry import UsageEntry

pytestmark = pytest.mark.req("AG-13")

NARROW = {"width": 360, "height": 740}
TOKENS: dict[str, str] = {}


def entries() -> Iterator[UsageEntry]:
    today = datetime.now(UTC).date()
    before = today.replace(day=1) - timedelta(days=1)
    counts: dict[str, Any] = {"requests": 3, "input_tokens": 120_000, "cached_tokens": 90_000, "output_tokens": 4_000}
    gpt: dict[str, Any] = {
        "model": "gpt-5.4",
        "host": "api.openai.com",
        "price": "2.5/0.25/2.5/15",
        "cost": 157_500_000,
    }
    own: dict[str, Any] = {"model": "社内モデル", "host": "gpu.example:8000", "price": "unknown", "cost": None}
    for day in (f"{today}", f"{today.replace(day=1)}", f"{before}"):
        for user in ("aki", "root"):
            yield UsageEntry(day=day, user_id=user, agent_id="assistant", **{**counts, **gpt})
    yield UsageEntry(day=f"{today}", user_id="aki", agent_id="gone", estimated_requests=1, **{**counts, **own})


def seed(home: Path) -> None:
    """Through SQL: Playwright's event loop runs in this thread already."""
    upgrade(sqlite_url(home))
    rows: dict[tuple[str, ...], UsageEntry] = {entry.key: entry for entry in entries()}
    with closing(sqlite3.connect(home / "chie.db")) as connection:
        for entry in rows.values():
            values = vars(entry)
            names, places = ", ".join(values), ", ".join("?" * len(values))
            connection.execute(f"INSERT INTO model_usage ({names}) VALUES ({places})", tuple(values.values()))  # noqa: S608
        connection.commit()


@pytest.fixture(scope="module")
def address(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    home = tmp_path_factory.mktemp("home")
    file = UserFile(home / "users.json")
    TOKENS.update({name: file.add(name, admin=name == "root") for name in ("aki", "root")})
    seed(home)
    with app_process(home) as (address, _):
        yield address


def opened(open_screen: OpenScreen, user: str, **options: object) -> Screen:
    screen = open_screen("/#/usage", bypass_csp=True, **options)
    japanese = options.get("locale") == "ja-JP"
    sign_in(
        screen, TOKENS[user], label="トークン" if japanese else "Token", button="サインイン" if japanese else "Sign in"
    )
    expect(screen.page.get_by_role("heading", name="使用量" if japanese else "Usage", exact=True)).to_be_visible()
    return screen


def test_own_usage_by_day_model_and_agent(open_screen: OpenScreen) -> None:
    screen = opened(open_screen, "aki")
    page = screen.page
    models = page.get_by_role("region", name="By model")
    expect(models.get_by_role("row")).to_have_count(3)
    expect(models.get_by_role("row").nth(1)).to_contain_text("gpt-5.4")
    expect(models.get_by_role("row").nth(2)).to_contain_text("unknown")
    expect(page.get_by_role("img", name="Cost by day")).to_be_visible()
    screen.button("Tokens").click()
    expect(page.get_by_role("img", name="Tokens by day")).to_be_visible()
    expect(page.get_by_text("Cost unknown for 3 requests")).to_be_visible()
    expect(page.get_by_text("By user")).to_have_count(0)
    expect(page.get_by_text("Set limits")).to_have_count(0)
    screen.button("Previous month").click()
    expect(models.get_by_role("row")).to_have_count(2)
    expect(page.get_by_role("button", name="Previous month")).to_be_disabled()
    with page.expect_download() as download:
        page.get_by_role("link", name="Export CSV").click()
    assert "gpt-5.4" in Path(download.value.path()).read_text(encoding="utf-8-sig")


def test_admin_sees_all_users_and_sets_limits_by_keyboard(open_screen: OpenScreen) -> None:
    screen = opened(open_screen, "root", locale="ja-JP")
    page = screen.page
    team = page.get_by_role("button", name="チーム全体", exact=True)
    team.focus()
    team.press("Enter")
    users = page.get_by_role("region", name="ユーザーごと")
    expect(users.get_by_role("row")).to_have_count(3)
    expect(users).to_contain_text("aki")
    summary = page.get_by_text("上限を設定", exact=True)
    summary.focus()
    summary.press("Enter")
    page.get_by_label("対象").select_option("user")
    page.get_by_label("ユーザー名").fill("aki")
    page.get_by_label("1 か月のトークン数").fill("1000")
    page.get_by_label("1 か月のトークン数").press("Enter")
    row = page.locator(".us-set li").filter(has_text="aki")
    expect(row).to_contain_text("1,000 トークン")
    other = opened(open_screen, "aki")
    bar = other.page.get_by_role("meter", name="Your tokens")
    expect(bar).to_be_visible()
    expect(other.page.get_by_text("The limit is reached.")).to_be_visible()
    other.open("/")
    notice = other.page.locator(".limit-notice")
    expect(notice).to_contain_text("Your limit for this month is used up.")
    expect(notice).to_contain_text("an admin can raise it")
    expect(other.field).to_be_enabled()
    other.field.fill("hello?")
    other.field.press("Enter")
    expect(other.page.get_by_text("You have used up your limit of 1,000 tokens for this month.")).to_be_visible()
    expect(other.field).to_have_value("hello?")
    page.get_by_role("button", name="外す: aki").click()
    expect(row).to_have_count(0)


@pytest.mark.parametrize("theme", ["light", "dark"])
@pytest.mark.parametrize("locale", ["en-US", "ja-JP"])
def test_page_is_accessible_on_a_narrow_screen(open_screen: OpenScreen, locale: str, theme: str) -> None:
    screen = opened(open_screen, "root", locale=locale, viewport=NARROW, color_scheme=theme)
    expect(screen.page.get_by_role("img")).to_be_visible()
    for details in screen.page.locator("details > summary").all():
        details.click()
    expect(screen.page.locator(".us-form")).to_be_visible()
    assert screen.script("() => document.documentElement.scrollWidth <= innerWidth")
    assert serious_findings(screen) == []


def test_answer_shows_what_it_used(open_screen: OpenScreen) -> None:
    screen = opened(open_screen, "root")
    screen.open("/")
    expect(screen.field).to_be_enabled()
    screen.field.fill("hello")
    screen.field.press("Enter")
    tokens = screen.page.locator(".tokens").last
    expect(tokens).to_be_visible()
    tokens.locator("summary").click()
    expect(tokens.locator("dl")).to_contain_text("Input tokens")
    expect(tokens.locator("dl")).to_contain_text("Cost")
    expect(tokens.locator("dl")).to_contain_text("unknown")
