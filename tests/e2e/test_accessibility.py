"""Languages, themes, narrow screens, keyboard, screen readers, and very long conversations."""

from pathlib import Path

import pytest
from playwright.sync_api import Locator, expect
from tests.e2e.app_process import ROOT, app_process
from tests.e2e.conftest import OpenScreen
from tests.e2e.long_sessions import long_session, many_sessions
from tests.e2e.screen import Screen

AXE = ROOT / "web" / "node_modules" / "axe-core" / "axe.min.js"
RUN_AXE = """async () => {
  const fading = document.getAnimations().filter((one) => one instanceof CSSTransition);
  await Promise.all(fading.map((one) => one.finished.catch(() => undefined)));
  const { violations } = await axe.run(document, { resultTypes: ["violations"] });
  return violations
    .filter(({ impact }) => impact === "serious" || impact === "critical")
    .map(({ id, nodes }) => `${id}: ${nodes.map((node) => node.html).join(" | ")}`);
}"""


def serious_findings(screen: Screen) -> list[str]:
    screen.page.evaluate(AXE.read_text(encoding="utf-8"))
    findings: list[str] = screen.page.evaluate(RUN_AXE)
    return findings


@pytest.mark.parametrize("theme", ["light", "dark"])
@pytest.mark.parametrize("language", ["ja", "en"])
def test_axe_finds_nothing_serious(open_screen: OpenScreen, language: str, theme: str) -> None:
    screen = open_screen(locale=language, color_scheme=theme, bypass_csp=True)
    assert serious_findings(screen) == []
    screen.ask("nginx の接続数は？")
    screen.wait_for_end()
    screen.answer.locator("details.tool summary").click()
    expect(screen.answer.locator(".markdown")).to_be_visible()
    assert serious_findings(screen) == []
    screen.choose_agent("Doubtful")
    screen.ask("clean up")
    expect(screen.page.locator(".approval")).to_have_count(2)
    assert serious_findings(screen) == []
    screen.page.locator(".send").click()
    screen.wait_for_end()
    screen.page.keyboard.press("Control+k")
    expect(screen.page.get_by_role("combobox")).to_be_visible()
    assert serious_findings(screen) == []


def test_page_uses_the_browsers_language_and_another_can_be_chosen(open_screen: OpenScreen) -> None:
    screen = open_screen(locale="ja-JP")
    expect(screen.page.locator("html")).to_have_attribute("lang", "ja")
    expect(screen.page.get_by_role("heading", level=1)).to_have_text("何でも聞いてください")
    screen.button("言語").click()
    screen.page.get_by_role("menuitemcheckbox", name="English").click()
    expect(screen.page.get_by_role("heading", level=1)).to_have_text("What would you like to know?")
    expect(screen.page.locator("html")).to_have_attribute("lang", "en")
    screen.page.reload()
    expect(screen.page.get_by_role("heading", level=1)).to_have_text("What would you like to know?")


@pytest.mark.parametrize("language", ["ja", "en"])
def test_page_fits_360_pixels(open_screen: OpenScreen, language: str) -> None:
    screen = open_screen(locale=language, viewport={"width": 360, "height": 640}, has_touch=True, is_mobile=True)
    screen.field.fill("nginx の接続数は？")
    screen.page.locator(".send").click()
    screen.wait_for_end()
    wide = "() => document.documentElement.scrollWidth"
    assert screen.script(wide) == 360
    screen.page.locator(".shell-bar button").first.click()
    drawer = screen.page.get_by_role("dialog")
    expect(drawer.locator(".session").first).to_be_visible()
    screen.page.keyboard.press("Escape")
    expect(drawer).to_have_count(0)
    for path in ("knowledge", "workflows", "servers", "usage", "setup"):
        screen.open(f"/#/{path}")
        expect(screen.page.get_by_role("heading", level=1)).to_be_visible()
        assert screen.script(wide) == 360, path


def test_chat_works_by_keyboard(screen: Screen) -> None:
    expect(screen.page.locator(".agent-button")).to_contain_text("Guide")  # focusable once the agents are loaded
    expect(screen.field).to_be_focused()
    screen.page.keyboard.press("Shift+Tab")  # the page's tab order, back and forth
    screen.page.keyboard.press("Tab")
    expect(screen.field).to_be_focused()
    screen.page.keyboard.press("Tab")
    screen.page.keyboard.press("Tab")
    expect(screen.page.locator(".agent-button")).to_be_focused()
    screen.page.keyboard.press("Enter")
    expect(screen.page.get_by_role("menuitemcheckbox", name="Guide")).to_be_focused()
    screen.page.keyboard.type("Cau")
    expect(screen.page.get_by_role("menuitemcheckbox", name="Cautious")).to_be_focused()
    screen.page.keyboard.press("Enter")
    expect(screen.page.locator(".agent-button")).to_contain_text("Cautious")
    screen.field.focus()
    screen.page.keyboard.type("delete it")
    screen.page.keyboard.press("Enter")
    allow = screen.button("Allow once")
    expect(allow).to_be_visible()
    while not allow.evaluate("element => element === document.activeElement"):
        screen.page.keyboard.press("Shift+Tab")
    screen.page.keyboard.press("Enter")
    expect(screen.answer).to_contain_text("Done.")


def test_live_region_announces_start_and_end_only(screen: Screen) -> None:
    screen.script(
        """() => {
          window.announced = [];
          const region = document.querySelector(".chat > [aria-live=polite]");
          new MutationObserver(() => window.announced.push(region.textContent))
            .observe(region, { childList: true, characterData: true, subtree: true });
        }"""
    )
    expect(screen.page.locator(".messages, .welcome")).to_have_count(1)
    screen.choose_agent("Counting")
    screen.ask("60")
    screen.wait_for_end()
    expect(screen.page.locator(".chat > [aria-live=polite]")).to_have_text("The answer is complete.")
    assert screen.script("() => window.announced") == ["Thinking…", "The answer is complete."]
    expect(screen.page.get_by_role("log")).to_have_attribute("aria-live", "off")


COUNT_FRAMES = """() => {
  window.frames_between = []; window.touched = 0;
  let frames = 0;
  const tick = () => { frames++; requestAnimationFrame(tick); };
  requestAnimationFrame(tick);
  addEventListener("keydown", () => { frames = 0; }, true);
  document.querySelector("#message").addEventListener("input", () => {
    requestAnimationFrame(() => window.frames_between.push(frames));
  });
  const old = [...document.querySelectorAll(".messages-item")].slice(0, -1);
  const observer = new MutationObserver((changes) => { window.touched += changes.length; });
  for (const item of old) observer.observe(item, { childList: true, characterData: true, subtree: true });
}"""


def test_key_press_in_a_session_of_400_messages_costs_one_frame_while_streaming(
    open_screen: OpenScreen, home_folder: Path
) -> None:
    with app_process(home_folder) as (address, _):
        session = long_session(home_folder, address, 400)
        screen = open_screen(f"/#/chat/{session}", at=address)
        expect(screen.answer.locator("table")).to_be_visible()
        assert screen.page.locator("article").count() < 40
        screen.choose_agent("Counting")
        screen.ask("300")
        expect(screen.answer).to_contain_text("5 6")
        screen.script(COUNT_FRAMES)
        words = "typed while it answers"
        screen.field.press_sequentially(words, delay=8)
        assert screen.answer.get_attribute("aria-busy") == "true"
        expect(screen.field).to_have_value(words)
        frames: list[int] = screen.script("() => window.frames_between")
        assert len(frames) == len(words)
        assert max(frames) <= 1
        assert screen.script("() => window.touched") == 0
        screen.button("Stop").click()


def shown(rows: Locator) -> list[int]:
    """Which of `many_sessions` are rendered; read at once, because the list is re-rendered while scrolling."""
    return sorted(int(text.split()[-1]) for text in rows.all_inner_texts() if text.startswith("会話"))


def test_only_visible_sessions_are_rendered(open_screen: OpenScreen, home_folder: Path) -> None:
    with app_process(home_folder) as (address, _):
        many_sessions(home_folder, address, 3_000)
        screen = open_screen(at=address)
        rows = screen.page.locator(".session")
        expect(rows.first).to_be_visible()
        assert rows.count() < 60
        expect(screen.page.locator(".session-group").first).to_have_text("Today")
        screen.page.locator(".session-list").hover()
        while shown(rows)[-1] < 150:  # in the second page of the list; limited by the test's timeout
            screen.page.mouse.wheel(0, 1_000)
            screen.settle()
        assert rows.count() < 60
        screen.page.get_by_label("Search conversations").fill("会話 2999")
        expect(rows).to_have_count(1)
