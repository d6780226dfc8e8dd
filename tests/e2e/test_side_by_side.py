"""Two agents answer one question, side by side."""

import re
from pathlib import Path

import pytest
from playwright.sync_api import Locator, expect
from tests.e2e.axe import findings
from tests.e2e.conftest import OpenScreen
from tests.e2e.screen import Screen

pytestmark = pytest.mark.req("AG-12")


def choose_second(screen: Screen, name: str, *, by_keyboard: bool = False) -> None:
    button = screen.page.locator(".second-agent")
    if by_keyboard:
        button.focus()
        screen.page.keyboard.press("Enter")
        screen.page.get_by_role("menuitemcheckbox", name=name).press("Enter")
    else:
        button.click()
        screen.page.get_by_role("menuitemcheckbox", name=name).click()
    expect(button).to_have_class(re.compile("chosen"))
    expect(button).to_have_text(name)


def sides(screen: Screen) -> Locator:
    return screen.page.locator(".answer-side")


def edges(element: Locator) -> tuple[float, float]:
    """Its left and right edge."""
    box = element.bounding_box()
    assert box is not None
    return box["x"], box["x"] + box["width"]


@pytest.mark.parametrize(("language", "continues"), [("en", "Continue with this answer"), ("ja", "この回答で続ける")])
def test_two_agents_answer_and_one_is_continued(open_screen: OpenScreen, language: str, continues: str) -> None:
    screen = open_screen(locale=language)
    page = screen.page
    expect(page.locator(".agent-button")).to_contain_text("Guide")
    choose_second(screen, "Echo", by_keyboard=True)
    screen.ask("nginx の接続数は？")
    expect(page).to_have_url(re.compile("#/chat/"))
    expect(sides(screen)).to_have_count(2)
    for side in sides(screen).all():
        expect(side.locator("article")).to_have_attribute("aria-busy", "false")
    expect(sides(screen).first).to_contain_text("worker_connections")
    expect(sides(screen).last).to_contain_text("nginx の接続数は？")
    left, right = edges(sides(screen).first), edges(sides(screen).last)
    assert left[1] <= right[0]
    screen.button(continues).click()
    expect(sides(screen).last).to_have_class(re.compile("current"))
    page.reload()
    expect(sides(screen)).to_have_count(2)
    page.keyboard.press("Control+f")
    page.locator(".find-bar input").fill("接続数")
    expect(page.locator(".find-count > span").first).to_contain_text(re.compile(r"/ [3-9]"))
    page.keyboard.press("Escape")
    sides(screen).first.locator(".answer-choice .icon-only").click()
    expect(sides(screen)).to_have_count(0)
    expect(screen.answers).to_have_count(1)
    screen.button("Side by side" if language == "en" else "並べて表示").click()
    expect(sides(screen)).to_have_count(2)


def test_both_run_and_stop_together(open_screen: OpenScreen, tmp_path: Path) -> None:
    screen = open_screen()
    page = screen.page
    screen.choose_agent("Pensive")
    choose_second(screen, "Mathematician")
    screen.ask(str(tmp_path / "never"))
    expect(sides(screen).first.locator(".reasoning")).to_be_visible()
    expect(sides(screen).last).to_contain_text("面積")
    page.reload()  # both are followed again
    expect(sides(screen).locator("article[aria-busy=true]")).to_have_count(2)
    screen.button("Stop").click()
    expect(sides(screen).locator("article[aria-busy=false]")).to_have_count(2)


def test_the_next_question_is_asked_of_both_until_that_is_switched_off(open_screen: OpenScreen) -> None:
    screen = open_screen()
    choose_second(screen, "Echo")
    for count in (2, 4):
        screen.ask("もう一度")
        expect(sides(screen)).to_have_count(count)
        expect(sides(screen).locator("article[aria-busy=false]")).to_have_count(count)
        expect(screen.page).to_have_url(re.compile("#/chat/"))
        expect(screen.button("Stop")).to_have_count(0)
    screen.page.locator(".second-agent").click()
    screen.page.get_by_role("menuitemcheckbox", name="One agent only").click()
    screen.ask("once more")
    expect(screen.page.locator("article.user")).to_have_count(3)
    screen.wait_for_end()
    expect(sides(screen)).to_have_count(4)


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_pair_fits_360_pixels_and_axe_finds_nothing(open_screen: OpenScreen, theme: str) -> None:
    screen = open_screen(color_scheme=theme, viewport={"width": 360, "height": 740}, bypass_csp=True, locale="ja")
    choose_second(screen, "Echo")
    screen.ask("nginx の接続数は？")
    expect(sides(screen).locator("article[aria-busy=false]")).to_have_count(2)
    assert screen.script("document.documentElement.scrollWidth") <= 360
    assert findings(screen) == []
    sides(screen).last.scroll_into_view_if_needed()
    left, right = edges(sides(screen).last)
    assert left >= 0
    assert right <= 360
