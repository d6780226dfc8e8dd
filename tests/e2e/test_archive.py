"""Pinning conversations on top of the list, and archiving them."""

import re
from uuid import uuid4

import pytest
from playwright.sync_api import Locator, expect
from tests.e2e.conftest import OpenScreen
from tests.e2e.screen import Screen
from tests.e2e.test_accessibility import serious_findings
from tests.e2e.test_sessions import act, ask_over_http, row

TEXTS = {
    "en": {"pin": "Pin", "unpin": "Unpin", "pinned": "Pinned", "archive": "Archive", "undo": "Undo",
           "search": "Search conversations", "mark": "Archived", "restore": "Restore", "remove": "Delete",
           "menu": "Actions for all conversations", "view": "Archived conversations"},
    "ja": {"pin": "ピン留め", "unpin": "ピン留めを外す", "pinned": "ピン留め", "archive": "アーカイブ",
           "undo": "元に戻す", "search": "会話を検索", "mark": "アーカイブ済み", "restore": "一覧に戻す",
           "remove": "削除", "menu": "会話全体の操作", "view": "アーカイブした会話"},
}  # fmt: skip


def rows(screen: Screen) -> Locator:
    return screen.page.locator(".session-rows > li")


@pytest.mark.req("AG-12")
@pytest.mark.parametrize("language", ["en", "ja"])
def test_pinned_conversation_is_in_a_group_on_top(open_screen: OpenScreen, language: str) -> None:
    t = TEXTS[language]
    screen = open_screen(locale=language)
    title = f"weekly report {uuid4()}"
    ask_over_http(screen.address, title)
    ask_over_http(screen.address, f"newer question {language}")
    screen.page.reload()
    expect(row(screen, title)).to_be_visible()
    act(screen, title, t["pin"])
    expect(rows(screen).nth(0)).to_have_text(t["pinned"])
    expect(rows(screen).nth(1)).to_contain_text(title)
    screen.page.reload()
    expect(rows(screen).nth(1)).to_contain_text(title)
    expect(row(screen, title)).to_have_count(1)
    act(screen, title, t["unpin"])
    expect(rows(screen).nth(0)).not_to_have_text(t["pinned"])
    expect(row(screen, title)).to_be_visible()


@pytest.mark.req("AG-12")
@pytest.mark.parametrize("language", ["en", "ja"])
def test_archived_conversation_is_out_of_the_list_and_comes_back(open_screen: OpenScreen, language: str) -> None:
    t = TEXTS[language]
    screen = open_screen(locale=language)
    title = f"outage of {uuid4()}"
    session = ask_over_http(screen.address, title)
    screen.open(f"/#/chat/{session}")
    screen.page.reload()
    expect(row(screen, title)).to_be_visible()
    act(screen, title, t["archive"])
    expect(row(screen, title)).to_have_count(0)
    expect(screen.page).to_have_url(re.compile(r"#/chat$"))
    screen.button(t["undo"]).click()
    expect(row(screen, title)).to_be_visible()
    act(screen, title, t["archive"])
    expect(row(screen, title)).to_have_count(0)
    screen.page.get_by_label(t["search"], exact=True).fill(title)
    expect(row(screen, title)).to_contain_text(t["mark"])
    screen.page.get_by_label(t["search"], exact=True).fill("")
    expect(row(screen, title)).to_have_count(0)
    screen.button(t["menu"]).click()
    screen.page.get_by_role("menuitem", name=t["view"]).click()
    expect(screen.page.get_by_role("heading", level=1)).to_have_text(t["view"])
    entry = screen.page.locator(".archive-row").filter(has_text=title)
    entry.get_by_text(t["restore"]).click()
    expect(entry).to_have_count(0)
    expect(row(screen, title)).to_be_visible()


@pytest.mark.req("AG-12")
def test_conversation_is_archived_and_deleted_by_keyboard_on_a_narrow_screen(open_screen: OpenScreen) -> None:
    screen = open_screen("/#/archive", viewport={"width": 360, "height": 740})
    page = screen.page
    title = f"archive {uuid4()}"
    ask_over_http(screen.address, title)
    page.reload()
    expect(page.get_by_role("heading", level=1)).to_be_visible()
    screen.button("Menu").click()
    drawer = page.get_by_role("dialog")
    menu = drawer.get_by_role("button", name=f"Actions for “{title}”")
    expect(menu).to_be_visible()
    menu.focus()
    page.keyboard.press("Enter")
    archive = page.get_by_role("menuitem", name="Archive")
    expect(archive).to_be_visible()
    page.keyboard.type("Arch")
    expect(archive).to_be_focused()
    page.keyboard.press("Enter")
    expect(menu).to_have_count(0)
    page.keyboard.press("Escape")
    expect(drawer).to_have_count(0)
    assert screen.script("() => document.documentElement.scrollWidth") == 360
    remove = screen.button(f"Delete “{title}”")
    remove.focus()
    page.keyboard.press("Enter")
    expect(remove).to_have_count(0)
    screen.button("Undo").last.click()
    expect(remove).to_be_visible()


@pytest.mark.req("AG-12")
@pytest.mark.parametrize("theme", ["light", "dark"])
def test_axe_finds_nothing_in_the_archive(open_screen: OpenScreen, theme: str) -> None:
    title = f"axe {uuid4()}"  # of its own when the test is repeated, too
    screen = open_screen("/#/archive", color_scheme=theme, bypass_csp=True)
    ask_over_http(screen.address, title)
    screen.page.reload()
    expect(row(screen, title)).to_be_visible()
    act(screen, title, "Archive")
    expect(screen.page.locator(".archive-row").filter(has_text=title)).to_be_visible()
    screen.page.get_by_label("Search conversations", exact=True).fill(title)
    expect(row(screen, title)).to_contain_text("Archived")
    assert serious_findings(screen) == []
