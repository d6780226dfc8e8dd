"""Searching, renaming, deleting and exporting conversations."""

import json
import re
from pathlib import Path
from uuid import uuid4

from playwright.sync_api import FilePayload, Locator, expect
from tests.e2e.conftest import OpenScreen
from tests.e2e.screen import Screen
from tests.e2e.test_chat import hold_questions
from tests.fakes import patient


def row(screen: Screen, title: str) -> Locator:
    return screen.page.locator(".session").filter(has_text=title)


def act(screen: Screen, title: str, action: str) -> None:
    row(screen, title).hover()
    row(screen, title).get_by_role("button").click()
    screen.page.get_by_role("menuitem", name=action).click()


def ask_over_http(address: str, text: str, session_id: str | None = None) -> str:
    body = {"message": text, "agent_id": "echo"} | ({"session_id": session_id} if session_id else {})
    answer = patient.post(f"{address}/api/chat/stream", json=body)
    return str(answer.headers["x-chie-session"])


def test_conversations_are_found_by_their_text_in_both_languages(screen: Screen) -> None:
    ask_over_http(screen.address, "負荷試験の結果を教えて")
    ask_over_http(screen.address, "The weather of Friday")
    screen.page.reload()
    expect(row(screen, "負荷試験")).to_be_visible()
    screen.page.get_by_label("Search conversations").fill("ＷＥＡＴＨＥＲ")
    expect(row(screen, "負荷試験")).to_have_count(0)
    expect(row(screen, "weather")).to_be_visible()
    screen.page.get_by_label("Search conversations").fill("試験")
    expect(row(screen, "負荷試験")).to_be_visible()
    expect(row(screen, "weather")).to_have_count(0)
    screen.page.get_by_label("Search conversations").fill("存在しない言葉")
    expect(screen.page.locator(".session-list")).to_contain_text("No conversations found.")


def test_a_conversation_is_renamed(screen: Screen) -> None:
    session = ask_over_http(screen.address, "rename me")
    screen.open(f"/#/chat/{session}")
    screen.page.reload()
    expect(screen.page).to_have_title("rename me · Chie")
    act(screen, "rename me", "Rename")
    screen.page.get_by_label("New name").fill("新しい題")
    screen.page.keyboard.press("Enter")
    expect(row(screen, "新しい題")).to_be_visible()
    expect(screen.page).to_have_title("新しい題 · Chie")
    expect(screen.button("Actions for “新しい題”")).to_be_focused()
    screen.page.reload()
    expect(row(screen, "新しい題")).to_be_visible()


def test_deletion_can_be_undone_and_happens_when_the_page_is_left(open_screen: OpenScreen) -> None:
    screen = open_screen()
    session = ask_over_http(screen.address, "delete me")
    screen.page.reload()
    act(screen, "delete me", "Delete")
    expect(row(screen, "delete me")).to_have_count(0)
    expect(screen.page.locator("#main")).to_be_focused()
    screen.button("Undo").click()
    expect(row(screen, "delete me")).to_be_visible()
    act(screen, "delete me", "Delete")
    expect(row(screen, "delete me")).to_have_count(0)
    screen.open("/icon.svg")  # the same origin: Chromium kills the process of a page it leaves, with its last request
    while patient.get(f"{screen.address}/api/sessions/{session}").status_code != 404:  # limited by the test's timeout
        screen.settle()
    other = open_screen()
    expect(other.page.locator(".session-list")).to_be_visible()
    expect(row(other, "delete me")).to_have_count(0)


def test_deletion_can_be_undone_on_a_narrow_screen(
    open_screen: OpenScreen,
) -> None:
    screen = open_screen(viewport={"width": 360, "height": 740})
    page = screen.page
    ask_over_http(screen.address, "delete me on the phone")
    page.reload()
    screen.button("Menu").click()
    drawer = page.get_by_role("dialog")
    shown = drawer.locator(".session").filter(has_text="delete me on the phone")
    shown.get_by_role("button").click()
    page.get_by_role("menuitem", name="Delete").click()
    expect(drawer).to_have_count(0)
    page.keyboard.press("Control+k")
    page.get_by_role("combobox").fill("delete me on")
    expect(page.get_by_text("No matches.")).to_be_visible()
    page.keyboard.press("Escape")
    screen.button("Undo").click()
    screen.button("Menu").click()
    expect(shown).to_be_visible()


def test_conversation_is_exported_as_markdown_or_json(screen: Screen, tmp_path: Path) -> None:
    ask_over_http(screen.address, "export me")
    screen.page.reload()
    for action in ("Export as Markdown", "Export as JSON"):
        with screen.page.expect_download() as download:
            act(screen, "export me", action)
        download.value.save_as(tmp_path / action)
    assert "export me" in (tmp_path / "Export as Markdown").read_text(encoding="utf-8")
    assert len(json.loads((tmp_path / "Export as JSON").read_text(encoding="utf-8"))["messages"]) == 2


def test_what_was_typed_is_kept_for_each_conversation(screen: Screen) -> None:
    session = ask_over_http(screen.address, "has a draft")
    screen.page.reload()
    screen.field.fill("書きかけ")
    row(screen, "has a draft").get_by_role("link").click()
    expect(screen.page).to_have_url(f"{screen.address}/#/chat/{session}")
    expect(screen.field).to_have_value("")
    screen.field.fill("another draft")
    screen.page.reload()
    expect(screen.field).to_have_value("another draft")
    screen.page.get_by_role("link", name="New chat").first.click()
    expect(screen.field).to_have_value("書きかけ")


def test_a_text_file_goes_with_the_question_and_a_damaged_one_does_not(screen: Screen) -> None:
    screen.choose_agent("Echo")
    picker = screen.page.locator("input[type=file]")
    picker.set_input_files(
        [
            FilePayload(name="メモ.txt", mimeType="text/plain", buffer="日本語".encode("shift_jis")),
            FilePayload(name="photo.png", mimeType="image/png", buffer=b"\x89PNG\r\n\x1a\n\x00\x00\xff"),
        ]
    )
    files = screen.page.locator(".composer .file")
    expect(files.first).to_contain_text("メモ.txt")
    expect(files.last).to_have_class(re.compile("failed"))
    screen.button("Remove photo.png").click()
    screen.ask("何が書いてある？")
    screen.wait_for_end()
    expect(screen.answer).to_contain_text("何が書いてある？")
    expect(screen.page.locator("article.user")).to_contain_text("メモ.txt")


def test_files_stay_with_the_conversation_they_were_added_to(screen: Screen) -> None:
    ask_over_http(screen.address, "has no files")
    screen.page.reload()
    memo = FilePayload(name="salaries.txt", mimeType="text/plain", buffer=b"confidential")
    screen.page.locator("input[type=file]").set_input_files([memo])
    expect(screen.page.locator(".composer .file")).to_contain_text("salaries.txt")
    row(screen, "has no files").get_by_role("link").click()
    expect(screen.page.locator("article.user")).to_be_visible()
    expect(screen.page.locator(".file")).to_have_count(0)
    screen.page.get_by_role("link", name="New chat").first.click()
    expect(screen.page.locator(".composer .file")).to_contain_text("salaries.txt")


def test_text_typed_while_the_first_question_is_sent_moves_to_the_conversation(screen: Screen) -> None:
    screen.choose_agent("Echo")
    held = hold_questions(screen)
    screen.ask("first question")
    expect(screen.answers).to_have_count(1)
    screen.field.fill("次の質問")
    held().continue_()
    expect(screen.page).to_have_url(re.compile("#/chat/."))
    expect(screen.field).to_have_value("次の質問")
    screen.page.get_by_role("link", name="New chat").first.click()
    expect(screen.field).to_have_value("")


def test_closing_an_empty_tab_keeps_the_draft_of_another(screen: Screen) -> None:
    other = screen.page.context.new_page()
    other.goto(screen.address)
    expect(other.locator("#message")).to_be_visible()
    screen.field.fill("typed in the first tab")
    screen.page.reload()
    other.goto("about:blank")
    screen.page.reload()
    expect(screen.field).to_have_value("typed in the first tab")


def test_a_file_that_is_dropped_on_the_chat_is_added(screen: Screen) -> None:
    drop = """() => {
      const data = new DataTransfer();
      data.items.add(new File(["dropped text"], "log.txt", { type: "text/plain" }));
      const target = document.querySelector(".chat");
      for (const name of ["dragover", "drop"])
        target.dispatchEvent(new DragEvent(name, { bubbles: true, cancelable: true, dataTransfer: data }));
    }"""
    expect(screen.field).to_be_visible()
    screen.script(drop)
    expect(screen.page.locator(".file")).to_have_text("log.txt")


def test_everything_can_be_reached_from_the_command_palette(screen: Screen) -> None:
    title = f"found by palette {uuid4().hex[:8]}"
    session = ask_over_http(screen.address, title)
    expect(screen.field).to_be_visible()
    screen.page.keyboard.press("Control+k")
    screen.page.get_by_role("combobox").fill(title)
    expect(screen.page.get_by_role("option", name=title)).to_be_visible()
    screen.page.keyboard.press("Enter")
    expect(screen.page).to_have_url(re.compile(f"/#/chat/{session}"))  # by its title, or at the passage that says it
    screen.page.keyboard.press("Control+k")
    screen.page.get_by_role("combobox").fill("dark")
    screen.page.keyboard.press("Enter")
    expect(screen.page.locator("html")).to_have_attribute("data-theme", "dark")


def test_unavailable_agent_shows_the_reason(screen: Screen) -> None:
    screen.page.locator(".agent-button").click()
    sick = screen.page.get_by_role("menuitemcheckbox", name="Sick")
    expect(sick).to_have_attribute("aria-disabled", "true")
    expect(sick).to_contain_text("Set OPENAI_BASE_URL.")
