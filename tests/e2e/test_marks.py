"""Marks in the list of conversations: running, waiting for the user, unread."""

import json
import re
from pathlib import Path

import pytest
from playwright.sync_api import Locator, expect
from tests.e2e.conftest import OpenScreen
from tests.e2e.screen import Screen
from tests.e2e.test_accessibility import serious_findings

pytestmark = pytest.mark.req("AG-12")


def row(screen: Screen) -> Locator:
    session = screen.page.url.rsplit("/", 1)[1]
    return screen.page.locator(f'.session a[href="#/chat/{session}"]')


@pytest.mark.parametrize(
    ("locale", "running", "unread"),
    [("en-US", "Answering", "New answer"), ("ja-JP", "回答中", "新しい回答があります")],
)
def test_running_answer_becomes_unread_and_then_seen(
    open_screen: OpenScreen, tmp_path: Path, locale: str, running: str, unread: str
) -> None:
    ending = tmp_path / "go"
    screen = open_screen(locale=locale, bypass_csp=True)
    watching = open_screen(locale=locale, bypass_csp=True)  # another device
    screen.choose_agent("Mathematician")
    screen.ask(str(ending))
    expect(screen.page).to_have_url(re.compile("#/chat/"))
    own = row(screen)
    other = watching.page.locator(own.evaluate("(link) => `.session a[href='${link.getAttribute('href')}']`"))
    expect(own.locator(".session-state.running")).to_have_text(running)
    watching.page.reload()
    expect(other.locator(".session-state.running")).to_have_text(running)
    assert serious_findings(watching) == []
    screen.page.goto("about:blank")
    ending.touch()
    expect(other.locator(".session-state.unread")).to_have_text(unread)
    assert serious_findings(watching) == []
    other.click()
    expect(watching.answers).to_have_count(1)
    expect(other.locator(".session-state")).to_have_count(0)
    watching.page.get_by_role("link", name=re.compile("New chat|新しいチャット")).first.click()
    expect(watching.answers).to_have_count(0)
    expect(other.locator(".session-state")).to_have_count(0)


def test_answer_that_waits_for_approval_says_so(open_screen: OpenScreen) -> None:
    screen = open_screen()
    screen.choose_agent("Cautious")
    screen.ask("clean up")
    expect(screen.page).to_have_url(re.compile("#/chat/"))
    expect(row(screen).locator(".session-state.waiting")).to_have_text("Waiting for you")


def test_answer_that_ended_on_the_screen_is_seen_without_waiting_for_its_mark(open_screen: OpenScreen) -> None:
    screen = open_screen()
    nothing = json.dumps({"running": [], "waiting": [], "unread": []})
    screen.page.route(
        "**/api/sessions/marks", lambda route: route.fulfill(body=nothing, content_type="application/json")
    )
    with screen.page.expect_request("**/seen") as seen:
        screen.ask("hello")
        screen.wait_for_end()
    assert seen.value.method == "POST"
