"""Importing the exports of ChatGPT and Claude on the page."""

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import FilePayload, expect
from tests.chat.imports import exports
from tests.e2e.app_process import app_process
from tests.e2e.conftest import OpenScreen
from tests.e2e.screen import Screen
from tests.e2e.test_accessibility import serious_findings
from tests.e2e.test_sessions import row

pytestmark = pytest.mark.req("AG-12")

TEXTS = {
    "en": {"menu": "Actions for all conversations", "item": "Import from ChatGPT or Claude…",
           "found": "What would be imported", "start": "Import 2 conversations", "result": "Imported",
           "fresh": "New conversations", "done": "Done",
           "why": "What is skipped, and why", "reason": "It is damaged.",
           "nothing": "There is nothing new in this file.", "none": "Nothing in this file can be imported.",
           "existing": "Already there", "refused": "This is no export of ChatGPT or Claude."},
    "ja": {"menu": "会話全体の操作", "item": "ChatGPT・Claude からインポート…", "found": "インポートする内容",
           "start": "2 件の会話をインポート", "result": "インポートの結果", "fresh": "新しい会話", "done": "閉じる",
           "why": "スキップする会話と理由", "reason": "データが壊れています。",
           "nothing": "このファイルに新しい内容はありません。",
           "none": "このファイルにはインポートできる会話がありません。",
           "existing": "取り込み済み", "refused": "ChatGPT や Claude のエクスポートではありません。"},
}  # fmt: skip


@pytest.fixture
def address(home_folder: Path) -> Iterator[str]:
    """An app of its own: among many conversations, imported ones are too far down the list to be rendered."""
    with app_process(home_folder) as (address, _):
        yield address


def export(language: str) -> FilePayload:
    """Of two conversations, and one that is damaged."""
    tree = exports.chatgpt_2023() | {"id": f"tree-{language}", "title": f"branches {language}"}
    talk = exports.claude_2026() | {"uuid": f"talk-{language}", "name": f"weather {language}"}
    broken: dict[str, Any] = {"id": "x", "title": "<b>壊れた会話</b>", "mapping": 5}
    data = exports.as_zip({"conversations.json": exports.as_json(tree, broken, talk)})
    return FilePayload(name="export.zip", mimeType="application/zip", buffer=data)


def open_dialog(screen: Screen, t: dict[str, str]) -> None:
    screen.button(t["menu"]).click()
    screen.page.get_by_role("menuitem", name=t["item"]).click()
    expect(screen.page.get_by_role("dialog").locator("input[type=file]")).to_have_count(1)


@pytest.mark.parametrize("language", ["en", "ja"])
def test_export_is_checked_imported_and_continued(open_screen: OpenScreen, language: str) -> None:
    t = TEXTS[language]
    screen = open_screen(locale=language, bypass_csp=True, color_scheme="dark" if language == "ja" else "light")
    page = screen.page
    open_dialog(screen, t)
    dialog = page.get_by_role("dialog")
    assert serious_findings(screen) == []
    dialog.locator("input[type=file]").set_input_files([export(language)])
    plan = dialog.get_by_role("region", name=t["found"])
    expect(plan).to_contain_text(re.compile(f"{t['fresh']}\\s*2"))
    plan.get_by_text(t["why"]).click()
    expect(plan.get_by_role("listitem")).to_contain_text("<b>壊れた会話</b>")
    expect(plan.get_by_role("listitem")).to_contain_text(t["reason"])
    expect(row(screen, f"weather {language}")).to_have_count(0)
    assert serious_findings(screen) == []
    screen.button(t["start"]).click()
    expect(dialog.get_by_role("region", name=t["result"])).to_contain_text(re.compile(f"{t['fresh']}\\s*2"))
    screen.button(t["done"], dialog).last.click()
    expect(dialog).to_have_count(0)
    row(screen, f"branches {language}").get_by_role("link").click()
    expect(screen.answer).to_contain_text("worker_connections を上げます。")
    expect(screen.answer).to_contain_text("ChatGPT")
    screen.choose_agent("Echo")
    screen.ask("続けて")
    expect(screen.answers).to_have_count(2)
    screen.wait_for_end()
    expect(screen.answer).to_contain_text("続けて")
    open_dialog(screen, t)
    dialog.locator("input[type=file]").set_input_files([export(language)])
    expect(dialog.get_by_text(t["nothing"])).to_be_visible()
    expect(dialog.get_by_role("region", name=t["found"])).to_contain_text(re.compile(f"{t['existing']}\\s*2"))


@pytest.mark.parametrize("language", ["en", "ja"])
def test_other_file_is_refused_by_name_on_a_narrow_screen(open_screen: OpenScreen, language: str) -> None:
    t = TEXTS[language]
    screen = open_screen(locale=language, viewport={"width": 360, "height": 740})
    screen.page.locator(".shell-bar button").first.click()
    expect(screen.button(t["menu"])).to_be_visible()
    screen.button(t["menu"]).focus()
    screen.page.keyboard.press("Enter")
    item = screen.page.get_by_role("menuitem", name=t["item"])
    expect(item).to_be_visible()
    screen.page.keyboard.press("End")
    expect(item).to_be_focused()
    screen.page.keyboard.press("Enter")
    dialog = screen.page.get_by_role("dialog").last
    expect(dialog.locator("input[type=file]")).to_have_count(1)
    other = FilePayload(name="notes.txt", mimeType="text/plain", buffer="ただのメモ".encode())
    dialog.locator("input[type=file]").set_input_files([other])
    expect(dialog.get_by_role("alert")).to_contain_text(t["refused"])
    assert screen.script("() => document.documentElement.scrollWidth") == 360


@pytest.mark.parametrize("language", ["en", "ja"])
def test_file_without_conversations_says_why(open_screen: OpenScreen, language: str) -> None:
    t = TEXTS[language]
    screen = open_screen(locale=language)
    open_dialog(screen, t)
    dialog = screen.page.get_by_role("dialog")
    other = FilePayload(name="other.json", mimeType="application/json", buffer=b'{"hello": 1}')
    dialog.locator("input[type=file]").set_input_files(other)
    expect(dialog).to_contain_text(t["none"])
    expect(dialog).not_to_contain_text(t["nothing"])
    expect(dialog.locator(".import-skipped")).to_be_visible()
