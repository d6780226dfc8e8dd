"""What a model thinks, on the page: folded, kept, and not a part of the answer."""

from pathlib import Path

import pytest
from playwright.sync_api import expect
from tests.e2e.conftest import OpenScreen

pytestmark = pytest.mark.req("AG-3")

NARROW = {"width": 360, "height": 640}


@pytest.mark.parametrize(
    ("locale", "live", "over", "copy"),
    [("en-US", "Thinking…", "Thought for", "Copy"), ("ja-JP", "考えています…", "考えました", "コピー")],
)
def test_reasoning_folds_and_opens_with_the_keyboard(
    open_screen: OpenScreen, tmp_path: Path, locale: str, live: str, over: str, copy: str
) -> None:
    screen = open_screen("/", locale=locale, viewport=NARROW)
    screen.choose_agent("Pensive")
    screen.ask(str(tmp_path / "go"))
    fold = screen.answer.locator("details.reasoning")
    expect(fold.locator("summary")).to_contain_text(live)
    expect(fold.locator(".tool-brief")).to_have_text("たぶん一つで足りる。")
    expect(fold.locator(".reasoning-text")).not_to_be_visible()
    (tmp_path / "go").touch()
    screen.wait_for_end()
    expect(screen.answer.locator("strong")).to_have_text("足ります")
    screen.page.reload()
    summary = screen.answer.locator("details.reasoning summary")
    expect(summary).to_contain_text(over)
    summary.focus()
    screen.page.keyboard.press("Enter")
    expect(screen.answer.locator(".reasoning-text")).to_contain_text("Is <b>one</b> of them enough?")
    width = screen.script("() => document.documentElement.scrollWidth")
    assert width <= NARROW["width"]
    screen.button(copy, screen.answer).click()
    assert screen.script("() => navigator.clipboard.readText()") == "一つで**足ります**。"


@pytest.mark.parametrize(
    ("question", "locale", "words"),
    [
        ("cut", "en-US", "while it was still thinking"),
        ("cut", "ja-JP", "考えている途中でトークン数の上限に達した"),
        ("limit", "en-US", "while the model was still thinking"),
        ("limit", "ja-JP", "考えている途中で長さの上限に達した"),
    ],
)
def test_thinking_that_a_limit_cut_is_said_to_be_that(
    open_screen: OpenScreen, question: str, locale: str, words: str
) -> None:
    screen = open_screen("/", locale=locale)
    screen.choose_agent("Pensive")
    screen.ask(question)
    screen.wait_for_end()
    expect(screen.answer).to_contain_text(words)
    expect(screen.answer.locator("details.reasoning")).to_have_count(1)
