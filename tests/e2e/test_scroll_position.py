"""The scroll position is kept: in a list behind a note, and at the end of an answer."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import expect
from tests.e2e.app_process import app_process
from tests.e2e.conftest import OpenScreen
from tests.e2e.long_sessions import long_session
from tests.fakes import patient

GAP = """() => {
  const element = document.querySelector(".messages");
  return Math.round(element.scrollHeight - element.scrollTop - element.clientHeight);
}"""


@pytest.fixture(scope="module")
def app_with_notes(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    with app_process(tmp_path_factory.mktemp("home")) as (address, _):
        for number in range(25):
            note = {"title": f"Note {number:02}", "content": "\n\n".join(["passage"] * (60 if number == 5 else 1))}
            patient.post(f"{address}/api/knowledge", json=note).raise_for_status()
        yield address


@pytest.mark.parametrize("way", ["button", "browser"])
def test_going_back_from_a_note_restores_the_position(open_screen: OpenScreen, app_with_notes: str, way: str) -> None:
    screen = open_screen("/#/knowledge", at=app_with_notes, viewport={"width": 360, "height": 740})
    page = screen.page
    row = page.locator(".kn-item").filter(has_text="Note 05")
    row.scroll_into_view_if_needed()
    screen.settle()
    before = screen.script("() => document.querySelector('.kn-page').scrollTop")
    assert before > 0
    row.click()
    expect(page.get_by_role("heading", level=2, name="Note 05")).to_be_in_viewport()
    page.get_by_text("Related notes").scroll_into_view_if_needed()
    if way == "button":
        page.get_by_role("link", name="Back to the list").click()
    else:
        page.go_back()
    expect(row).to_be_focused()
    assert screen.script("() => document.querySelector('.kn-page').scrollTop") == before


def test_a_field_that_grows_leaves_the_end_of_the_answer_in_view(open_screen: OpenScreen, home_folder: Path) -> None:
    with app_process(home_folder) as (address, _):
        session = long_session(home_folder, address, 10)
        screen = open_screen(f"/#/chat/{session}", at=address)
        expect(screen.answer.locator("table")).to_be_in_viewport()
        screen.page.wait_for_function(f"() => ({GAP})() <= 1")
        screen.field.fill("\n".join(["a line"] * 12))
        screen.settle()
        screen.page.wait_for_function(f"() => ({GAP})() <= 1")
        screen.page.locator(".messages").hover()
        screen.page.mouse.wheel(0, -2_000)
        screen.page.wait_for_function(f"() => ({GAP})() > 300")
        screen.field.fill("")
        screen.settle()
        assert screen.script(GAP) > 100
