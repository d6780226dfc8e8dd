"""Messages that are sent later: typed while an answer runs, or with files that are still being uploaded."""

import re
from pathlib import Path

import pytest
from playwright.sync_api import Locator, Route, expect
from tests.e2e.conftest import OpenScreen
from tests.e2e.proxy import FlakyProxy
from tests.e2e.screen import Screen
from tests.e2e.test_accessibility import serious_findings
from tests.e2e.test_attachments import attach, chips, payload

pytestmark = pytest.mark.req("AG-12")


@pytest.fixture
def ending(tmp_path: Path) -> Path:
    """The answer to this path ends once the file exists."""
    return tmp_path / "go"


def queued(screen: Screen) -> Locator:
    return screen.page.locator(".queued-item")


def note(screen: Screen) -> Locator:
    return screen.page.locator(".queued-note")


def questions(screen: Screen) -> Locator:
    return screen.page.locator("article.user .bubble")


def ask_slowly(screen: Screen, ending: Path) -> None:
    """An answer that runs until the file exists, in a conversation with its own URL."""
    screen.choose_agent("Pensive")
    screen.ask(str(ending))
    expect(screen.answer.locator(".reasoning")).to_be_visible()
    expect(screen.page).to_have_url(re.compile("#/chat/"))


def later(screen: Screen, text: str, count: int = 1) -> None:
    screen.ask(text)
    expect(screen.field).to_have_value("")
    expect(queued(screen)).to_have_count(count)
    expect(queued(screen).last.locator(".icon-only").first).to_be_enabled()  # the server has it


@pytest.mark.parametrize(
    ("locale", "waits"),
    [("en-US", "Sent when this answer is complete"), ("ja-JP", "この回答が終わると送信されます")],
)
def test_messages_typed_during_an_answer_are_sent_after_it(
    open_screen: OpenScreen, ending: Path, locale: str, waits: str
) -> None:
    screen = open_screen(locale=locale)
    ask_slowly(screen, ending)
    later(screen, "その次は？")
    later(screen, "And then?", 2)
    expect(note(screen)).to_have_text(waits)
    screen.page.reload()
    expect(queued(screen)).to_have_count(2)
    ending.touch()
    expect(screen.answers).to_have_count(3)
    expect(queued(screen)).to_have_count(0)
    screen.wait_for_end()
    expect(questions(screen)).to_have_text([str(ending), "その次は？", "And then?"])
    screen.page.reload()
    expect(questions(screen)).to_have_text([str(ending), "その次は？", "And then?"])


def test_it_is_sent_when_the_page_is_closed(open_screen: OpenScreen, ending: Path) -> None:
    screen = open_screen()
    ask_slowly(screen, ending)
    later(screen, "while away")
    url = screen.page.url
    screen.page.goto("about:blank")
    ending.touch()
    screen.page.goto(url)
    expect(screen.answers).to_have_count(2)
    screen.wait_for_end()
    expect(questions(screen)).to_have_text([str(ending), "while away"])


def test_two_tabs_send_it_once(open_screen: OpenScreen, ending: Path) -> None:
    screen = open_screen()
    ask_slowly(screen, ending)
    other = screen.page.context.new_page()
    other.goto(screen.page.url)
    second = Screen(other, screen.address)
    expect(second.answer.locator(".reasoning")).to_be_visible()
    later(screen, "once")
    ending.touch()
    for tab in (screen, second):
        expect(tab.answers).to_have_count(2)
        tab.wait_for_end()
        expect(questions(tab)).to_have_text([str(ending), "once"])
        expect(queued(tab)).to_have_count(0)


def test_queue_waits_after_a_stop_until_it_is_sent(open_screen: OpenScreen, ending: Path) -> None:
    screen = open_screen()
    ask_slowly(screen, ending)
    later(screen, "after the stop")
    screen.button("Stop").click()
    expect(note(screen)).to_contain_text("The answer was stopped.")
    expect(questions(screen)).to_have_count(1)
    screen.page.reload()
    expect(note(screen)).to_contain_text("The answer was stopped.")
    screen.button("Send now").click()
    expect(screen.answers).to_have_count(2)
    screen.wait_for_end()
    expect(questions(screen)).to_have_text([str(ending), "after the stop"])
    expect(queued(screen)).to_have_count(0)


def test_queue_waits_after_a_failure(open_screen: OpenScreen) -> None:
    screen = open_screen(locale="ja-JP")
    screen.choose_agent("Cautious")
    screen.ask("消して")
    expect(screen.page.locator(".approval")).to_have_count(1)
    later(screen, "承認のあと")
    expect(queued(screen)).to_have_count(1)
    screen.button("許可しない").click()
    expect(screen.answers).to_have_count(2)
    expect(screen.page.locator(".approval")).to_have_count(1)
    expect(queued(screen)).to_have_count(0)
    expect(questions(screen)).to_have_text(["消して", "承認のあと"])


def test_send_now_stops_the_answer(open_screen: OpenScreen, ending: Path) -> None:
    screen = open_screen()
    ask_slowly(screen, ending)
    later(screen, "can wait")
    later(screen, "urgent", 2)
    queued(screen).last.get_by_role("button", name="Stop the answer and send now").click()
    expect(questions(screen)).to_have_text([str(ending), "urgent", "can wait"])
    screen.wait_for_end()
    expect(screen.answers.first).to_contain_text("Stopped.")
    expect(queued(screen)).to_have_count(0)


def test_queued_message_can_be_edited_and_removed_by_keyboard(open_screen: OpenScreen, ending: Path) -> None:
    screen = open_screen()
    ask_slowly(screen, ending)
    attach(screen, payload("資料.txt", b"words"))
    expect(screen.button("Open 資料.txt")).to_be_visible()
    later(screen, "one  word")
    expect(queued(screen).locator(".file")).to_have_count(1)
    screen.button("Edit", queued(screen)).focus()
    screen.page.keyboard.press("Enter")
    expect(queued(screen)).to_have_count(0)
    expect(screen.field).to_have_value("one  word")
    expect(screen.field).to_be_focused()
    expect(chips(screen)).to_have_count(1)
    later(screen, "one word")
    screen.button("Remove from queue").focus()
    screen.page.keyboard.press("Enter")
    expect(queued(screen)).to_have_count(0)
    expect(screen.field).to_be_focused()
    ending.touch()
    screen.wait_for_end()
    expect(questions(screen)).to_have_count(1)


def test_enter_of_a_conversion_does_not_queue(open_screen: OpenScreen, ending: Path) -> None:
    screen = open_screen(locale="ja-JP")
    ask_slowly(screen, ending)
    screen.field.focus()
    chromium = screen.page.context.new_cdp_session(screen.page)
    chromium.send("Input.imeSetComposition", {"text": "かんじ", "selectionStart": 3, "selectionEnd": 3})
    enter = {"key": "Enter", "code": "Enter", "windowsVirtualKeyCode": 229}
    chromium.send("Input.dispatchKeyEvent", {"type": "rawKeyDown", **enter})
    chromium.send("Input.insertText", {"text": "漢字"})
    expect(screen.field).to_have_value("漢字")
    expect(queued(screen)).to_have_count(0)
    ending.touch()
    screen.wait_for_end()
    expect(screen.field).to_have_value("漢字")


def test_message_is_queued_once_after_a_lost_connection(
    open_screen: OpenScreen, proxy: FlakyProxy, ending: Path
) -> None:
    screen = open_screen(at=proxy.address)
    ask_slowly(screen, ending)
    later(screen, "before the tunnel")
    proxy.disconnect()
    screen.ask("from the tunnel")
    expect(queued(screen)).to_have_count(2)
    expect(queued(screen).last.locator(".icon-only").first).to_be_disabled()
    proxy.reconnect()
    expect(queued(screen).last.locator(".icon-only").first).to_be_enabled()
    ending.touch()
    expect(screen.answers).to_have_count(3)
    screen.wait_for_end()
    expect(questions(screen)).to_have_text([str(ending), "before the tunnel", "from the tunnel"])


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_queue_fits_360_pixels_and_axe_finds_nothing_serious(open_screen: OpenScreen, ending: Path, theme: str) -> None:
    screen = open_screen(locale="ja-JP", color_scheme=theme, bypass_csp=True, viewport={"width": 360, "height": 640})
    screen.choose_agent("Mathematician")
    screen.ask(str(ending))
    expect(screen.answer).to_contain_text("面積は")
    for count in (1, 2, 3):
        later(screen, "とても長い質問です。" * 20, count)
    screen.field.fill("もう一つ")
    assert serious_findings(screen) == []
    assert screen.script("() => document.documentElement.scrollWidth") <= 360
    box = screen.field.bounding_box()
    assert box is not None
    assert box["y"] + box["height"] <= 640
    ending.touch()


class TestUploading:
    def hold(self, screen: Screen) -> list[Route]:
        held: list[Route] = []

        def keep(route: Route) -> None:
            held.append(route)

        screen.page.route("**/api/attachments", keep)
        attach(screen, payload("a.txt", b"words"))
        expect(screen.page.locator(".composer .file.uploading")).to_be_visible()
        return held

    @pytest.mark.parametrize(
        ("locale", "waits"),
        [
            ("en-US", "Your message is sent when the files are uploaded."),
            ("ja-JP", "アップロードが終わりしだい送信します。"),
        ],
    )
    def test_message_is_sent_when_the_files_are_uploaded(
        self, open_screen: OpenScreen, locale: str, waits: str
    ) -> None:
        screen = open_screen("/#/chat", locale=locale, viewport={"width": 360, "height": 640})
        screen.choose_agent("Viewer")
        held = self.hold(screen)
        screen.ask("What is it?")
        expect(screen.page.locator(".composer-hint")).to_contain_text(waits)
        expect(screen.answers).to_have_count(0)
        held[0].continue_()
        screen.wait_for_end()
        expect(screen.answer).to_contain_text("1 files.")
        expect(questions(screen)).to_have_text(["What is it?"])
        expect(screen.field).to_have_value("")

    def test_message_stays_with_the_error_where_a_file_fails(self, open_screen: OpenScreen) -> None:
        screen = open_screen("/#/chat")
        screen.choose_agent("Viewer")
        held = self.hold(screen)
        screen.ask("What is it?")
        expect(screen.page.locator(".composer-hint")).to_contain_text("is sent when")
        held[0].abort()
        expect(screen.page.locator(".composer .file.failed")).to_contain_text("a.txt was not uploaded.")
        expect(screen.field).to_have_value("What is it?")
        screen.page.unroute("**/api/attachments")
        screen.button("Try again").click()
        expect(screen.button("Open a.txt")).to_be_visible()
        expect(screen.answers).to_have_count(0)
        screen.field.press("Enter")
        screen.wait_for_end()
        expect(questions(screen)).to_have_text(["What is it?"])

    @pytest.mark.parametrize("how", ["Escape", "Don't send yet", "typing"])
    def test_it_can_be_cancelled(self, open_screen: OpenScreen, how: str) -> None:
        screen = open_screen("/#/chat")
        screen.choose_agent("Viewer")
        held = self.hold(screen)
        screen.ask("What")
        expect(screen.page.locator(".composer-hint")).to_contain_text("is sent when")
        if how == "Escape":
            screen.field.press("Escape")
        elif how == "typing":
            screen.field.press_sequentially(" is it?")
        else:
            screen.button(how).click()
        expect(screen.page.locator(".composer-hint")).not_to_contain_text("is sent when")
        held[0].continue_()
        expect(screen.button("Open a.txt")).to_be_visible()
        expect(screen.answers).to_have_count(0)
        expect(screen.field).to_have_value("What is it?" if how == "typing" else "What")

    def test_it_is_sent_from_another_conversation(self, open_screen: OpenScreen) -> None:
        screen = open_screen("/#/chat")
        screen.choose_agent("Viewer")
        screen.ask("first")
        expect(screen.page).to_have_url(re.compile("#/chat/"))
        screen.wait_for_end()
        url = screen.page.url
        held = self.hold(screen)
        screen.ask("second")
        expect(screen.page.locator(".composer-hint")).to_contain_text("is sent when")
        screen.page.get_by_role("link", name="New chat").first.click()
        expect(screen.answers).to_have_count(0)
        with screen.page.expect_request("**/api/chat/stream"):
            held[0].continue_()
        screen.page.evaluate("(url) => location.assign(url)", url)
        expect(questions(screen)).to_have_text(["first", "second"])
        screen.wait_for_end()
        expect(screen.answer).to_contain_text("1 files.")

    def test_it_is_queued_during_an_answer(self, open_screen: OpenScreen, ending: Path) -> None:
        screen = open_screen()
        ask_slowly(screen, ending)
        held = self.hold(screen)
        screen.ask("then this")
        expect(screen.page.locator(".composer-hint")).to_contain_text("is sent when")
        held[0].continue_()
        expect(queued(screen).locator(".file")).to_have_count(1)
        expect(queued(screen).locator(".icon-only").first).to_be_enabled()
        ending.touch()
        expect(screen.answers).to_have_count(2)
        screen.wait_for_end()
        expect(questions(screen)).to_have_text([str(ending), "then this"])
