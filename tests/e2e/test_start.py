"""What the page requests to start, and what it renders for a key press and for a token: counts, no timings."""

from collections import Counter
from pathlib import Path
from urllib.parse import urlsplit

import pytest
from playwright.sync_api import expect
from tests.e2e.conftest import OpenScreen
from tests.e2e.screen import Screen

pytestmark = pytest.mark.req("CH-15")

COUNTER = Path(__file__).with_name("render_counter.js").read_text(encoding="utf-8")
MAX_FILES = 5
MAX_RENDERS = 10
"""The composer itself and its plain buttons; a menu alone takes more than twenty."""

REQUESTED = "() => performance.getEntriesByType('resource').map((one) => one.name)"
STARTED = """() => ["/assets/markdown", "/api/usage/month", "/api/sessions/marks"].every((last) =>
  performance.getEntriesByType("resource").some((one) => one.name.includes(last)))"""

# In one task, so that no answer to a poll is rendered in between.
PRESS = """async (field) => {
  const { set } = Object.getOwnPropertyDescriptor(HTMLTextAreaElement.prototype, "value");
  set.call(field, field.value + "字");
  window.pageRenders = [];
  field.dispatchEvent(new Event("input", { bubbles: true }));
  await null;
  return window.pageRenders;
}"""


def counted(screen: Screen) -> Screen:
    """The same page with a counter of renders."""
    screen.page.add_init_script(COUNTER)
    screen.page.reload()
    expect(screen.field).to_be_visible()
    return screen


def totals(commits: list[dict[str, int]]) -> Counter[str]:
    return sum((Counter(commit) for commit in commits), Counter())


@pytest.mark.parametrize("locale", ["en-US", "ja-JP"])
def test_an_empty_chat_starts_with_few_requests(open_screen: OpenScreen, locale: str) -> None:
    page = open_screen(locale=locale).page
    page.wait_for_function(STARTED)
    paths = {urlsplit(url).path for url in page.evaluate(REQUESTED)}
    files = {path for path in paths if path.startswith("/assets/") and "/ja-messages-" not in path}
    assert len(files) <= MAX_FILES, files
    api = {path for path in paths if path.startswith("/api/")}
    assert api == {"/api/sessions", "/api/me", "/api/agents", "/api/usage/month", "/api/sessions/marks"}


def test_a_key_press_renders_no_message_no_list_and_no_menu(screen: Screen) -> None:
    counted(screen)
    screen.choose_agent("Echo")
    screen.ask("質問")
    screen.wait_for_end()
    screen.field.fill("a")
    commits: list[dict[str, int]] = screen.field.evaluate(PRESS)
    expect(screen.field).to_have_value("a字")
    renders = totals(commits)
    assert 0 < renders.total() <= MAX_RENDERS, renders
    assert renders["messages"] == renders["sidebar"] == 0, renders


def test_a_growing_answer_does_not_render_the_message_field(screen: Screen) -> None:
    counted(screen)
    screen.choose_agent("Counting")
    screen.ask("1000000")
    expect(screen.answer).to_contain_text("10 11 12")
    screen.script("() => { window.pageRenders = []; }")
    screen.page.wait_for_function("() => window.pageRenders.filter((one) => one.messages).length >= 20")
    commits: list[dict[str, int]] = screen.script("() => window.pageRenders")
    screen.button("Stop").click()
    grown = [commit for commit in commits if "messages" in commit]
    assert [commit for commit in grown if "composer" in commit or "sidebar" in commit] == []
