"""Japanese input: the Enter that ends a conversion never sends, in any browser's order of events."""

from collections.abc import Callable

import pytest
from playwright.sync_api import Locator, expect
from tests.e2e.screen import Screen
from tests.fakes import patient

# Chromium and Firefox: the key comes while the composition is on. WebKit: the composition ends first.
# Some input methods send keyCode 229 there as well, some do not.
ORDERS = {
    "chromium": [("compositionstart", {}), ("keydown", {"keyCode": 229, "isComposing": True}), ("compositionend", {})],
    "webkit": [("compositionstart", {}), ("compositionend", {}), ("keydown", {"keyCode": 229})],
    "webkit, plain": [("compositionstart", {}), ("compositionend", {}), ("keydown", {"keyCode": 13})],
}

DISPATCH = """
(element, events) => {
  for (const [name, more] of events) {
    const options = { bubbles: true, cancelable: true, key: "Enter", ...more };
    const Kind = name === "keydown" ? KeyboardEvent : CompositionEvent;
    element.dispatchEvent(new Kind(name, options));
  }
}
"""


def confirm_conversion(field: Locator, order: str) -> None:
    field.evaluate(DISPATCH, ORDERS[order])


def open_composer(screen: Screen) -> Locator:
    screen.field.fill("変換")
    return screen.field


def open_editor(screen: Screen) -> Locator:
    screen.choose_agent("Echo")
    screen.ask("前の質問")
    screen.wait_for_end()
    question = screen.page.locator("article.user")
    question.hover()
    screen.button("Edit", question).click()
    field = screen.page.get_by_label("Edit your question")
    field.fill("変換")
    return field


def open_rename(screen: Screen) -> Locator:
    patient.post(f"{screen.address}/api/sessions", json={"title": "古い名前"})
    screen.page.reload()
    row = screen.page.locator(".session").first
    row.hover()
    row.get_by_role("button").click()
    screen.page.get_by_role("menuitem", name="Rename").click()
    field = screen.page.get_by_label("New name")
    field.fill("変換")
    return field


def open_palette(screen: Screen) -> Locator:
    expect(screen.field).to_be_visible()
    screen.page.keyboard.press("Control+k")
    field = screen.page.get_by_role("combobox")
    field.fill("Knowledge")
    return field


def open_session_search(screen: Screen) -> Locator:
    field = screen.page.get_by_label("Search conversations")
    field.fill("変換")
    return field


FIELDS: dict[str, tuple[Callable[[Screen], Locator], str]] = {
    "composer": (open_composer, "変換"),
    "editor": (open_editor, "変換"),
    "rename": (open_rename, "変換"),
    "palette": (open_palette, "Knowledge"),
    "session search": (open_session_search, "変換"),
}


@pytest.mark.parametrize("name", FIELDS)
def test_enter_that_ends_a_conversion_does_nothing_else(screen: Screen, name: str) -> None:
    opening, text = FIELDS[name]
    field = opening(screen)
    before = screen.page.url, screen.answers.count()
    for order in ORDERS:
        confirm_conversion(field, order)
        screen.settle()
        expect(field).to_be_visible()
        expect(field).to_have_value(text)
        assert (screen.page.url, screen.answers.count()) == before, order


def test_chromiums_own_composition_can_be_confirmed_and_then_sent(screen: Screen) -> None:
    screen.choose_agent("Echo")
    screen.field.focus()
    chromium = screen.page.context.new_cdp_session(screen.page)
    chromium.send("Input.imeSetComposition", {"text": "かんじ", "selectionStart": 3, "selectionEnd": 3})
    enter = {"key": "Enter", "code": "Enter", "windowsVirtualKeyCode": 229}
    chromium.send("Input.dispatchKeyEvent", {"type": "rawKeyDown", **enter})
    expect(screen.answers).to_have_count(0)
    chromium.send("Input.insertText", {"text": "漢字"})
    expect(screen.field).to_have_value("漢字")
    screen.page.wait_for_function("began => performance.now() > began + 60", arg=screen.script("performance.now()"))
    screen.field.press("Enter")
    expect(screen.answer).to_contain_text("漢字")


def test_shift_enter_inserts_a_line_and_control_enter_can_be_the_send_key(screen: Screen) -> None:
    screen.choose_agent("Echo")
    screen.field.fill("one")
    screen.field.press("Shift+Enter")
    screen.field.press_sequentially("two")
    expect(screen.field).to_have_value("one\ntwo")
    screen.button("Send options").click()
    screen.page.get_by_role("menuitemcheckbox", name="Send with Ctrl + Enter").click()
    screen.field.press("Enter")
    expect(screen.field).to_have_value("one\ntwo\n")
    screen.field.press("Control+Enter")
    expect(screen.answer).to_contain_text("one")
    expect(screen.field).to_have_value("")
