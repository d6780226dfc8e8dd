"""A house that does not answer: what the page says of it is true, and it finds back by itself."""

import re

import pytest
from playwright.sync_api import expect
from tests.e2e.conftest import OpenScreen
from tests.e2e.proxy import Cable
from tests.e2e.screen import Screen
from tests.fakes import patient

CAUGHT = re.compile("a part of the page could not be loaded|dynamically imported module")
AWAY = "The house does not answer. It will be tried again."


def forgive_what_react_caught(screen: Screen) -> None:
    assert [complaint for complaint in screen.complaints if not CAUGHT.search(complaint)] == []
    screen.complaints.clear()


@pytest.mark.parametrize("path", ["knowledge", "setup"])
def test_a_page_that_is_opened_first_while_the_house_is_away_comes_when_it_is_back(
    open_screen: OpenScreen, cable: Cable, path: str
) -> None:
    screen = open_screen(at=cable.address)
    expect(screen.page.locator(".agent-button")).to_contain_text("Guide")
    screen.page.wait_for_load_state("networkidle")
    screen.field.fill("begun")
    cable.pull()
    screen.script(f"() => {{ location.hash = '#/{path}' }}")
    expect(screen.page.locator("#main").get_by_role("alert").first).to_have_text(AWAY)
    cable.plug()
    expect(screen.page.get_by_role("heading", level=1)).to_be_visible()
    expect(screen.page.get_by_text(AWAY)).to_have_count(0)
    screen.open("/#/chat")
    expect(screen.field).to_have_value("begun")
    forgive_what_react_caught(screen)


def test_what_was_asked_while_the_house_was_away_is_asked_again(open_screen: OpenScreen, cable: Cable) -> None:
    note = patient.post(f"{cable.address}/api/knowledge", json={"content": "words", "title": "Asked again"}).json()
    screen = open_screen("/#/knowledge", at=cable.address)
    expect(screen.page.locator(".kn-item").first).to_be_visible()
    screen.page.wait_for_load_state("networkidle")
    cable.pull()
    screen.script(f"() => {{ location.hash = '#/knowledge/{note['id']}' }}")
    expect(screen.page.locator(".kn-detail")).to_contain_text(AWAY)
    cable.plug()
    expect(screen.page.get_by_role("heading", level=2, name="Asked again")).to_be_visible()
    expect(screen.page.get_by_text(AWAY)).to_have_count(0)


def test_a_conversation_that_could_not_be_opened_opens_when_the_house_is_back(
    open_screen: OpenScreen, cable: Cable
) -> None:
    asked = patient.post(f"{cable.address}/api/chat/stream", json={"message": "opened late", "agent_id": "echo"})
    screen = open_screen(at=cable.address)
    expect(screen.page.locator(".agent-button")).to_contain_text("Guide")
    screen.page.wait_for_load_state("networkidle")
    cable.pull()
    screen.script(f"() => {{ location.hash = '#/chat/{asked.headers['x-chie-session']}' }}")
    expect(screen.page.locator(".chat-body")).to_contain_text(AWAY)
    cable.plug()
    expect(screen.answer).to_contain_text("opened late")


def test_an_action_that_had_no_answer_is_not_said_to_be_tried_again(open_screen: OpenScreen, cable: Cable) -> None:
    note = patient.post(f"{cable.address}/api/knowledge", json={"content": "words", "title": "Not saved"}).json()
    screen = open_screen(f"/#/knowledge/{note['id']}", at=cable.address)
    screen.button("Edit").click()
    screen.page.get_by_role("textbox", name="Text").fill("my words")
    cable.pull()
    screen.button("Save").click()
    told = screen.page.get_by_role("dialog").get_by_role("alert")
    expect(told).to_have_text("The house did not answer, so this was probably not done. Try again.")
    cable.plug()
    screen.button("Save").click()
    expect(screen.page.locator(".kn-markdown")).to_have_text("my words")


def test_a_dialog_that_cannot_be_loaded_leaves_the_page_standing(open_screen: OpenScreen, cable: Cable) -> None:
    screen = open_screen(at=cable.address)
    expect(screen.page.locator(".agent-button")).to_contain_text("Guide")
    screen.page.wait_for_load_state("networkidle")
    cable.pull()
    screen.page.keyboard.press("Control+k")
    expect(screen.page.get_by_role("dialog").get_by_role("alert")).to_contain_text("This part of the page failed.")
    screen.page.keyboard.press("Escape")
    expect(screen.page.get_by_role("dialog")).to_have_count(0)
    expect(screen.field).to_be_visible()
    forgive_what_react_caught(screen)
