"""The page while the server is unreachable, and how it recovers."""

import re

import pytest
from playwright.sync_api import expect
from tests.e2e.conftest import OpenScreen
from tests.e2e.proxy import FlakyProxy
from tests.e2e.screen import Screen
from tests.fakes import patient

CAUGHT = re.compile("could not load a part of the page|dynamically imported module")
OFFLINE = "Can't reach Chie. Retrying…"


def ignore_errors_caught_by_react(screen: Screen) -> None:
    assert [error for error in screen.browser_errors if not CAUGHT.search(error)] == []
    screen.browser_errors.clear()


@pytest.mark.parametrize("path", ["knowledge", "setup"])
def test_page_first_opened_while_offline_loads_after_reconnecting(
    open_screen: OpenScreen, proxy: FlakyProxy, path: str
) -> None:
    screen = open_screen(at=proxy.address)
    expect(screen.page.locator(".agent-button")).to_contain_text("Guide")
    screen.page.wait_for_load_state("networkidle")
    screen.field.fill("begun")
    proxy.disconnect()
    screen.script(f"() => {{ location.hash = '#/{path}' }}")
    expect(screen.page.locator("#main").get_by_role("alert").first).to_have_text(OFFLINE)
    proxy.reconnect()
    expect(screen.page.get_by_role("heading", level=1)).to_be_visible()
    expect(screen.page.get_by_text(OFFLINE)).to_have_count(0)
    screen.open("/#/chat")
    expect(screen.field).to_have_value("begun")
    ignore_errors_caught_by_react(screen)


def test_queries_made_while_offline_are_repeated(open_screen: OpenScreen, proxy: FlakyProxy) -> None:
    note = patient.post(f"{proxy.address}/api/knowledge", json={"content": "words", "title": "Asked again"}).json()
    screen = open_screen("/#/knowledge", at=proxy.address)
    expect(screen.page.locator(".kn-item").first).to_be_visible()
    screen.page.wait_for_load_state("networkidle")
    proxy.disconnect()
    screen.script(f"() => {{ location.hash = '#/knowledge/{note['id']}' }}")
    expect(screen.page.locator(".kn-detail")).to_contain_text(OFFLINE)
    proxy.reconnect()
    expect(screen.page.get_by_role("heading", level=2, name="Asked again")).to_be_visible()
    expect(screen.page.get_by_text(OFFLINE)).to_have_count(0)


def test_conversation_that_could_not_be_opened_opens_after_reconnecting(
    open_screen: OpenScreen, proxy: FlakyProxy
) -> None:
    asked = patient.post(f"{proxy.address}/api/chat/stream", json={"message": "opened late", "agent_id": "echo"})
    screen = open_screen(at=proxy.address)
    expect(screen.page.locator(".agent-button")).to_contain_text("Guide")
    screen.page.wait_for_load_state("networkidle")
    proxy.disconnect()
    screen.script(f"() => {{ location.hash = '#/chat/{asked.headers['x-chie-session']}' }}")
    expect(screen.page.locator(".chat-body")).to_contain_text(OFFLINE)
    proxy.reconnect()
    expect(screen.answer).to_contain_text("opened late")


def test_change_without_a_response_is_not_retried(open_screen: OpenScreen, proxy: FlakyProxy) -> None:
    note = patient.post(f"{proxy.address}/api/knowledge", json={"content": "words", "title": "Not saved"}).json()
    screen = open_screen(f"/#/knowledge/{note['id']}", at=proxy.address)
    screen.button("Edit").click()
    screen.page.get_by_role("textbox", name="Text").fill("my words")
    proxy.disconnect()
    screen.button("Save").click()
    alert = screen.page.get_by_role("dialog").get_by_role("alert")
    expect(alert).to_have_text("Chie did not respond, so the change was probably not made. Try again.")
    proxy.reconnect()
    screen.button("Save").click()
    expect(screen.page.locator(".kn-markdown")).to_have_text("my words")


def test_dialog_that_cannot_be_loaded_leaves_the_page_intact(open_screen: OpenScreen, proxy: FlakyProxy) -> None:
    screen = open_screen(at=proxy.address)
    expect(screen.page.locator(".agent-button")).to_contain_text("Guide")
    screen.page.wait_for_load_state("networkidle")
    proxy.disconnect()
    screen.page.keyboard.press("Control+k")
    expect(screen.page.get_by_role("dialog").get_by_role("alert")).to_contain_text(
        "This part of the page could not be displayed."
    )
    screen.page.keyboard.press("Escape")
    expect(screen.page.get_by_role("dialog")).to_have_count(0)
    expect(screen.field).to_be_visible()
    ignore_errors_caught_by_react(screen)
