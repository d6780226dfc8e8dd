"""Prompts and resources of MCP servers in the composer: `/` and `@`, with a real server over stdio."""

import sys
from pathlib import Path

import pytest
from playwright.sync_api import expect
from tests.e2e.conftest import OpenScreen
from tests.e2e.test_accessibility import serious_findings
from tests.e2e.test_mcp_client import NARROW, served
from tests.fakes.model_server import say

ROOT = Path(__file__).parents[2]
LIBRARY = {"command": sys.executable, "args": ["-m", "tests.fakes.library"], "cwd": str(ROOT), "timeout": 60}

TEXTS = {
    "en": {
        "prompts": "Prompts",
        "resources": "Resources of your MCP servers",
        "insert": "Insert",
        "refused": "The prompt picture of library has images or audio",
    },
    "ja": {
        "prompts": "プロンプト",
        "resources": "MCP サーバーのリソース",
        "insert": "挿入",
        "refused": "library のプロンプト picture には画像または音声が含まれている",
    },
}


@pytest.mark.req("AG-10")
@pytest.mark.parametrize("locale", ["en", "ja"])
def test_prompt_asks_for_its_arguments_and_is_edited_before_it_is_sent(
    open_screen: OpenScreen, monkeypatch: pytest.MonkeyPatch, home: Path, locale: str
) -> None:
    t = TEXTS[locale]
    with served(monkeypatch, home, {"library": LIBRARY}) as url:
        screen = open_screen("/", at=url, locale=locale, viewport=NARROW, bypass_csp=True)
        screen.choose_agent("Tester")
        field, keyboard = screen.field, screen.page.keyboard
        prompts = screen.page.get_by_role("listbox", name=t["prompts"])
        selected = prompts.get_by_role("option", selected=True)
        field.press_sequentially("/")
        expect(prompts.get_by_role("option")).to_have_count(4)
        expect(selected).to_contain_text("変更をレビュー")
        expect(selected).to_contain_text("library")
        assert serious_findings(screen) == []
        assert screen.script("document.documentElement.scrollWidth") <= NARROW["width"]
        keyboard.press("ArrowUp")
        expect(selected).to_contain_text("broken")
        assert field.get_attribute("aria-activedescendant") == selected.get_attribute("id")
        keyboard.press("Escape")
        expect(prompts).to_have_count(0)
        expect(field).to_have_value("/")
        field.fill("")
        field.press_sequentially("/変更")
        expect(prompts.get_by_role("option")).to_have_count(1)
        keyboard.press("Enter")
        dialog = screen.page.get_by_role("dialog", name="Review a change / 変更をレビュー")
        expect(dialog.get_by_role("button", name=t["insert"])).to_be_disabled()
        expect(dialog.get_by_label("branch")).to_be_focused()
        assert serious_findings(screen) == []
        assert screen.script("document.documentElement.scrollWidth") <= NARROW["width"]
        keyboard.type("メイン")
        keyboard.press("Enter")
        expect(field).to_have_value("Review メイン for bugs. 日本語でもどうぞ。")
        expect(field).to_be_focused()
        field.fill("")
        field.press_sequentially("/pict")
        expect(prompts.get_by_role("option")).to_have_count(1)
        keyboard.press("Enter")
        expect(screen.page.locator(".toast")).to_contain_text(t["refused"])
        expect(field).to_have_value("/pict")


@pytest.mark.req("AG-10")
@pytest.mark.parametrize("locale", ["en", "ja"])
def test_resource_becomes_a_chip(
    open_screen: OpenScreen, monkeypatch: pytest.MonkeyPatch, home: Path, locale: str
) -> None:
    with served(monkeypatch, home, {"library": LIBRARY}, say("Read it.")) as url:
        screen = open_screen("/", at=url, locale=locale, viewport=NARROW)
        screen.choose_agent("Tester")
        field = screen.field
        resources = screen.page.get_by_role("listbox", name=TEXTS[locale]["resources"])
        field.press_sequentially("ask a@b.test about @hand")
        expect(resources.get_by_role("option")).to_have_count(1)
        field.press("Tab")
        expect(screen.page.locator(".composer .files li")).to_contain_text("Handbook - 手引き.md")
        expect(field).to_have_value("ask a@b.test about ")
        expect(screen.page.locator(".composer .send")).to_be_enabled()
        field.press("Enter")
        screen.wait_for_end()
        expect(screen.page.locator("article.user")).to_contain_text("Handbook - 手引き.md")
        field.press_sequentially("見て＠")
        expect(resources.get_by_role("option")).to_have_count(3)
        resources.get_by_role("option", name="raw").click()
        failed = screen.page.locator(".composer .file.failed")
        expect(failed).to_contain_text("raw")
        expect(field).to_have_value("見て")
        expect(field).to_be_focused()


@pytest.mark.req("AG-10")
def test_keys_of_the_input_method_choose_nothing(
    open_screen: OpenScreen, monkeypatch: pytest.MonkeyPatch, home: Path
) -> None:
    with served(monkeypatch, home, {"library": LIBRARY}) as url:
        screen = open_screen("/", at=url, locale="ja")
        screen.choose_agent("Tester")
        screen.field.press_sequentially("@")
        listbox = screen.page.get_by_role("listbox")
        expect(listbox).to_be_visible()
        enter = "new KeyboardEvent('keydown', {key: 'Enter', isComposing: true, bubbles: true})"
        screen.field.evaluate(f"(field) => field.dispatchEvent({enter})")
        screen.settle()
        expect(listbox).to_be_visible()
        expect(screen.page.locator(".composer .files li")).to_have_count(0)
        screen.field.press_sequentially("存在しない")
        expect(listbox).to_have_count(0)
