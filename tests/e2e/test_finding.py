"""Search leads to the passage, find in a conversation, and the palette, in a real browser."""

import re
import sqlite3
from collections.abc import Iterator
from pathlib import Path
from uuid import uuid4

import pytest
from playwright.sync_api import Page, expect
from tests.e2e.app_process import app_process
from tests.e2e.conftest import OpenScreen
from tests.e2e.long_sessions import long_session
from tests.e2e.screen import Screen
from tests.e2e.test_accessibility import serious_findings
from tests.e2e.test_sessions import ask_over_http
from tests.fakes import patient

NARROW = {"width": 360, "height": 740}
CURRENT = """() => {
  const [range] = CSS.highlights.get("find-current") ?? [];
  if (!range) return null;
  const box = range.getBoundingClientRect(), frame = document.querySelector(".messages").getBoundingClientRect();
  const shown = box.height > 0 && box.top >= frame.top && box.bottom <= frame.bottom;
  return shown ? range.toString() : null;
}"""
MARKED = '() => [...(CSS.highlights.get("find") ?? [])].map((range) => range.toString())'


@pytest.fixture
def home(tmp_path: Path) -> Path:
    return tmp_path / "home"


@pytest.fixture
def address(home: Path) -> Iterator[str]:
    with app_process(home) as (address, _):
        yield address


def ask(address: str, text: str, agent: str, session: str | None = None) -> str:
    body = {"message": text, "agent_id": agent} | ({"session_id": session} if session else {})
    return str(patient.post(f"{address}/api/chat/stream", json=body).headers["x-chie-session"])


def expect_current(page: Page, text: str) -> None:
    """The current match is marked and in view."""
    page.wait_for_function(f"(text) => ({CURRENT})() === text", arg=text)


def find(screen: Screen, words: str, expected: str) -> None:
    screen.page.locator(".find-bar input").fill(words)
    expect(screen.page.locator(".find-count > span").first).to_have_text(expected)


@pytest.mark.req("AG-8")
@pytest.mark.parametrize(
    ("locale", "theme", "words", "mark"), [("en", "light", "ＮＥＥＤＬＥ", "needle"), ("ja", "dark", "目印", "目印")]
)
def test_search_opens_the_passage_in_a_long_conversation(
    home: Path, address: str, open_screen: OpenScreen, locale: str, theme: str, words: str, mark: str
) -> None:
    session = ask_over_http(address, "ここに **目印** がある。A needle in the hay.")
    for number in range(3):
        ask_over_http(address, f"other conversation {number}")
    long_session(home, address, 2)
    grow(home, session, 200)
    screen = open_screen(locale=locale, color_scheme=theme, viewport=NARROW, bypass_csp=True)
    page = screen.page
    page.get_by_role("button", name=re.compile("Menu|メニュー")).first.click()
    drawer = page.get_by_role("dialog")
    drawer.get_by_role("searchbox").fill(words)
    passage = drawer.locator(".session-hit .passage")
    expect(passage.locator("mark")).to_have_text([mark])
    expect(passage.locator(".passage-more")).to_contain_text("1")
    assert serious_findings(screen) == []
    assert page.evaluate("document.documentElement.scrollWidth") <= NARROW["width"]
    passage.click()
    expect(page).to_have_url(re.compile(rf"#/chat/{session}\?message=.*&find="))
    expect_current(page, mark)
    expect(page.locator(".find-count > span").first).to_have_text("1 / 2")
    assert serious_findings(screen) == []
    assert page.evaluate("document.documentElement.scrollWidth") <= NARROW["width"]
    page.reload()
    expect_current(page, mark)
    page.locator(".find-bar input").press("Escape")
    expect(page.locator(".find-bar")).to_have_count(0)
    expect(page).to_have_url(f"{address}/#/chat/{session}")
    assert page.evaluate(MARKED) == []


def grow(home: Path, session: str, count: int) -> None:
    """More answers and questions at the end of the session, which do not have the words."""
    with sqlite3.connect(home / "chie.db") as database:
        database.row_factory = sqlite3.Row
        rows = database.execute("SELECT * FROM messages WHERE session_id = ? ORDER BY seq", [session]).fetchall()
        parent = rows[-1]["id"]
        for number in range(count):
            text = f"{number} " + "filler text\n\n" * (number % 9)
            row = dict(rows[number % 2]) | {"id": str(uuid4()), "parent_id": parent, "parts": None}
            row |= {"content": text, "folded": text}
            del row["seq"]
            parent = row["id"]
            marks = ", ".join("?" for _ in row)
            database.execute(f"INSERT INTO messages ({', '.join(row)}) VALUES ({marks})", list(row.values()))  # noqa: S608


@pytest.mark.req("AG-8")
def test_a_passage_on_a_hidden_branch_is_shown(address: str, open_screen: OpenScreen) -> None:
    session = ask_over_http(address, "the old wording")
    question = patient.get(f"{address}/api/sessions/{session}").json()["messages"][0]["message_id"]
    patient.post(f"{address}/api/chat/{question}/edit", json={"message": "the new wording"}).raise_for_status()
    page = open_screen(f"/#/chat/{session}").page
    expect(page.locator("article.user")).to_contain_text("the new wording")
    page.get_by_label("Search conversations").fill("old wording")
    page.locator(".session-hit").click()
    expect(page.locator("article.user")).to_contain_text("the old wording")
    expect_current(page, "old wording")


@pytest.mark.req("AG-8")
def test_find_steps_through_all_matches_also_the_folded_ones(address: str, open_screen: OpenScreen) -> None:
    session = ask(address, "worker_connections?", "guide")
    screen = open_screen(f"/#/chat/{session}")
    page = screen.page
    expect(page.locator("article.assistant table")).to_be_visible()
    page.keyboard.press("Control+f")
    expect(page.locator(".find-bar input")).to_be_focused()
    find(screen, "WORKER_connections", "1 / 6")
    expect_current(page, "worker_connections")
    assert page.evaluate(MARKED) == ["worker_connections"] * 6
    expect(page.locator("details.tool[open]")).to_have_count(0)
    page.keyboard.press("Enter")
    expect(page.locator(".find-count > span").first).to_have_text("2 / 6")
    expect(page.locator("details.tool[open]")).to_have_count(1)
    expect_current(page, "worker_connections")
    page.keyboard.press("Shift+Enter")
    page.keyboard.press("Shift+Enter")
    expect(page.locator(".find-count > span").first).to_have_text("6 / 6")
    expect_current(page, "worker_connections")
    find(screen, "結論：worker", "1 / 1")  # bold, then code
    expect_current(page, "結論：worker")
    find(screen, "存在しない", "No matches")
    assert page.evaluate(MARKED) == []


@pytest.mark.req("AG-8")
def test_reasoning_is_found_and_opened(address: str, open_screen: OpenScreen) -> None:
    session = ask(address, "why?", "pensive")
    parts = patient.get(f"{address}/api/sessions/{session}").json()["messages"][1]["parts"]
    words = next(part["content"] for part in parts if part["type"] == "reasoning").split()[0]
    page = open_screen(f"/#/chat/{session}?find={words}").page
    expect_current(page, words)
    expect(page.locator("details.reasoning[open]")).not_to_have_count(0)


@pytest.mark.req("AG-8")
def test_the_second_press_of_the_key_is_the_browsers(address: str, open_screen: OpenScreen) -> None:
    session = ask_over_http(address, "anything")
    page = open_screen(f"/#/chat/{session}").page
    expect(page.locator("article.user")).to_be_visible()
    page.evaluate("addEventListener('keydown', (event) => { window.prevented = event.defaultPrevented; })")
    for prevented in (True, False):
        page.keyboard.press("Control+f")
        expect(page.locator(".find-bar input")).to_be_focused()
        assert page.evaluate("window.prevented") is prevented
    page.keyboard.press("Escape")
    expect(page.locator(".find-bar")).to_have_count(0)


@pytest.mark.req("AG-8")
def test_a_folded_question_is_unfolded(address: str, open_screen: OpenScreen) -> None:
    session = ask_over_http(address, "line\n" * 60 + "the last line")
    screen = open_screen(f"/#/chat/{session}?find=last+line")
    page = screen.page
    expect(page.locator(".find-count > span").first).to_have_text("2 / 2")  # it begins at what is in view
    expect_current(page, "last line")
    screen.button("Previous match (Shift + Enter)").click()
    expect(page.locator(".find-count > span").first).to_have_text("1 / 2")
    expect(page.locator(".bubble-text.folded")).to_have_count(0)
    expect_current(page, "last line")


@pytest.mark.req("AG-8")
@pytest.mark.parametrize(
    ("locale", "theme", "notes", "finds"),
    [("en", "dark", "Notes", "Find in conversation"), ("ja", "light", "メモ", "会話の中を検索")],
)
def test_the_palette_finds_notes_and_passages(
    address: str, open_screen: OpenScreen, locale: str, theme: str, notes: str, finds: str
) -> None:
    note = {"title": "nginx の再起動", "content": "手順: `systemctl restart nginx`"}
    saved = patient.post(f"{address}/api/knowledge", json=note).json()["id"]
    session = ask_over_http(address, "今夜 NGINX を止めてよいか")
    screen = open_screen(f"/#/chat/{session}", locale=locale, color_scheme=theme, viewport=NARROW, bypass_csp=True)
    page = screen.page
    expect(page.locator("article.user")).to_be_visible()
    page.keyboard.press("Control+k")
    page.locator(".palette-input").fill("nginx")
    found = page.get_by_role("group", name=notes).get_by_role("option")
    expect(found.first).to_contain_text("nginx の再起動")
    expect(page.get_by_role("option").first).to_contain_text("今夜 NGINX を止めてよいか")
    assert serious_findings(screen) == []
    assert page.evaluate("document.documentElement.scrollWidth") <= NARROW["width"]
    found.first.click()
    expect(page).to_have_url(f"{address}/#/knowledge/{saved}")
    page.keyboard.press("Control+k")
    page.locator(".palette-input").fill("止めてよい")
    expect(page.get_by_role("option").first.locator("mark")).to_have_text("止めてよい")
    page.keyboard.press("Enter")
    expect_current(page, "止めてよい")
    page.keyboard.press("Control+k")
    page.locator(".palette-input").fill(finds)
    expect(page.get_by_role("option").first).to_have_text(finds)
    page.keyboard.press("Enter")
    expect(page.locator(".find-bar input")).to_have_value("")


def test_many_conversations_do_not_hide_the_notes(open_screen: OpenScreen) -> None:
    word = f"zanzibar{uuid4().hex[:8]}"
    screen = open_screen()
    for number in range(7):
        ask_over_http(screen.address, f"{word} {number}")
    patient.post(f"{screen.address}/api/knowledge", json={"title": f"About {word}", "content": f"{word} is far."})
    screen.page.keyboard.press("Control+k")
    screen.page.locator(".palette-input").fill(word)
    conversations = screen.page.get_by_role("group", name="Conversations")
    expect(conversations.get_by_role("option")).to_have_count(5)
    expect(screen.page.get_by_role("option", name=f"About {word}")).to_be_visible()
