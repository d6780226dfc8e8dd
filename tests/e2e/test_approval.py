"""Approval in words: what a call would do, by name and with differences; red is what deletes."""

from collections.abc import Iterator

import pytest
from playwright.sync_api import Locator, expect
from tests.e2e.approvals import TITLE, waiting_app
from tests.e2e.conftest import OpenScreen
from tests.e2e.screen import Screen

pytestmark = pytest.mark.req("AG-9")
AGENTS = {"en": "Assistant", "ja": "アシスタント"}
WORDS = {
    "en": (
        f"Delete the note “{TITLE}”",
        f"Change the note “{TITLE}”",
        "Change the workflow “請求書”: node “Webhook” changed",
    ),
    "ja": (
        f"メモ「{TITLE}」を削除",
        f"メモ「{TITLE}」を変更",
        "ワークフロー「請求書」を変更：ノード「Webhook」を変更",
    ),
}
DECISIONS = {"en": ("Allow once", "Deny"), "ja": ("今回だけ許可", "許可しない")}


@pytest.fixture
def app(monkeypatch: pytest.MonkeyPatch) -> Iterator[str]:
    with waiting_app(monkeypatch) as url:
        yield url


def waiting(screen: Screen, language: str) -> list[Locator]:
    screen.choose_agent(AGENTS[language])
    screen.ask("片付けて")
    cards = screen.page.locator(".approval")
    for index, words in enumerate(WORDS[language]):
        expect(cards.nth(index).get_by_role("heading")).to_have_text(words)
    return [screen.page.get_by_role("region", name=words, exact=True) for words in WORDS[language]]


@pytest.mark.parametrize("language", ["ja", "en"])
def test_the_card_says_what_would_happen(open_screen: OpenScreen, app: str, language: str) -> None:
    screen = open_screen(at=app, locale=language)
    deletion, change, workflow = waiting(screen, language)
    allow, deny = DECISIONS[language]
    expect(deletion.get_by_role("button", name=allow)).to_have_class("button destructive small")
    expect(change.get_by_role("button", name=allow)).to_have_class("button primary small")
    expect(deletion.get_by_role("button", name=deny)).to_have_class("button small")
    expect(screen.field).to_be_focused()
    expect(change.locator("del")).to_have_text("手")
    expect(change.locator("ins")).to_have_text("スクリプト")
    expect(workflow.locator("ins")).to_contain_text("v2")
    expect(change.locator(".raw-arguments pre")).to_be_hidden()
    screen.page.reload()
    expect(deletion.get_by_role("heading")).to_have_text(WORDS[language][0])
    screen.button(deny, deletion).click()
    screen.button(allow, change).click()
    screen.button(deny, workflow).click()
    screen.wait_for_end()
    screen.page.reload()
    summaries = screen.answer.locator("details.tool > summary")
    for index, words in enumerate(WORDS[language]):
        expect(summaries.nth(index)).to_contain_text(words)
    summaries.nth(1).click()
    expect(screen.answer.locator("details.tool").nth(1).locator("ins")).to_have_text("スクリプト")


def test_approval_fits_360_pixels_and_works_by_keyboard(open_screen: OpenScreen, app: str) -> None:
    screen = open_screen(at=app, locale="ja", viewport={"width": 360, "height": 740})
    deletion, *_ = waiting(screen, "ja")
    assert screen.script("() => document.documentElement.scrollWidth") == 360
    deny = screen.button("許可しない", deletion)
    screen.field.focus()
    while not deny.evaluate("element => element === document.activeElement"):  # limited by the test's timeout
        screen.page.keyboard.press("Shift+Tab")
    screen.page.keyboard.press("Enter")
    expect(screen.page.locator(".approval")).to_have_count(2)
    expect(screen.field).to_be_focused()
