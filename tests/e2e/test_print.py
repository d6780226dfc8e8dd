"""Printing gives the whole conversation or note, without the page around it."""

import re
from pathlib import Path

from playwright.sync_api import expect
from tests.e2e.app_process import app_process
from tests.e2e.conftest import OpenScreen
from tests.e2e.long_sessions import long_session
from tests.e2e.screen import Screen
from tests.fakes import patient

AROUND = ".sidebar, .shell-bar, .composer, .toasts, .button, .kn-results, .kn-head, .search-field"
FRAMES = """() => [...document.querySelectorAll("html, body, body *")]
  .filter((one) => one.matches(":not(.hidden-text)") && one.checkVisibility())
  .filter((one) => getComputedStyle(one).overflowY !== "visible" && one.scrollHeight > one.clientHeight + 8)
  .map((one) => `${one.tagName}.${one.className}`)"""


def start_printing(screen: Screen) -> None:
    """As browsers do: the event first, then the print style."""
    screen.script("() => dispatchEvent(new Event('beforeprint'))")
    screen.page.emulate_media(media="print")
    screen.settle()


def stop_printing(screen: Screen) -> None:
    screen.page.emulate_media(media="null")
    screen.script("() => dispatchEvent(new Event('afterprint'))")
    screen.settle()


def pages(pdf: bytes) -> int:
    return len(re.findall(rb"/Type /Page\b", pdf))


def test_a_conversation_is_printed_whole(open_screen: OpenScreen, home_folder: Path) -> None:
    with app_process(home_folder) as (address, _):
        session = long_session(home_folder, address, 60)
        screen = open_screen(f"/#/chat/{session}", at=address, color_scheme="dark")
        expect(screen.answer.locator("table")).to_be_visible()
        assert screen.page.locator("article").count() < 40
        start_printing(screen)
        expect(screen.page.locator("article")).to_have_count(60)
        tops = screen.page.locator("article").evaluate_all("(all) => all.map((o) => o.getBoundingClientRect().top)")
        assert tops == sorted(tops)
        assert len(set(tops)) == 60
        expect(screen.page.locator(AROUND).locator("visible=true")).to_have_count(0)
        assert screen.script(FRAMES) == []
        stop_printing(screen)
        expect(screen.answer).to_be_in_viewport()
        assert pages(screen.page.pdf()) > 5


def test_a_note_is_printed_whole(open_screen: OpenScreen, address: str) -> None:
    content = "\n\n".join(f"段落 {number}" for number in range(120))
    note = patient.post(f"{address}/api/knowledge", json={"title": "紙の上", "content": content}).json()
    screen = open_screen(f"/#/knowledge/{note['id']}", locale="ja", viewport={"width": 800, "height": 1_100})
    expect(screen.page.locator(".kn-markdown p")).to_have_count(120)
    start_printing(screen)
    expect(screen.page.locator(AROUND).locator("visible=true")).to_have_count(0)
    assert screen.script(FRAMES) == []
    stop_printing(screen)
    assert pages(screen.page.pdf()) > 2
