"""Images and documents in the composer and in messages, in a real browser."""

from base64 import b64encode
from typing import Any

import pytest
from playwright.sync_api import FilePayload, Locator, Route, expect
from tests.e2e.axe import findings
from tests.e2e.conftest import OpenScreen
from tests.e2e.screen import Screen
from tests.fakes.office_files import docx, pdf, xlsx
from tests.fakes.pictures import png

pytestmark = pytest.mark.req("AG-4")

PHOTO = png(3000, 2000)
INVOICE = pdf("請求書 2026", "合計 12,000 円")


def payload(name: str, data: bytes, kind: str = "application/octet-stream") -> FilePayload:
    return {"name": name, "mimeType": kind, "buffer": data}


def attach(screen: Screen, *files: FilePayload) -> None:
    screen.page.locator("input[type=file]").set_input_files(list(files))


def chips(screen: Screen) -> Locator:
    return screen.page.locator(".composer .file")


def open_viewer(open_screen: OpenScreen, **options: Any) -> Screen:
    screen = open_screen("/#/chat", **options)
    screen.choose_agent("Viewer")
    return screen


def transfer(screen: Screen, event: str, selector: str, name: str, data: bytes, kind: str, **texts: str) -> None:
    """Pastes or drops a file, with texts by their types, as a browser does."""
    screen.script(
        """([event, selector, name, data, kind, texts]) => {
            const transfer = new DataTransfer();
            const bytes = Uint8Array.from(atob(data), (letter) => letter.charCodeAt(0));
            transfer.items.add(new File([bytes], name, { type: kind }));
            for (const [type, text] of Object.entries(texts)) transfer.setData(type, text);
            const target = document.querySelector(selector);
            const options = { bubbles: true, cancelable: true };
            if (event === "paste")
                target.dispatchEvent(new ClipboardEvent("paste", { ...options, clipboardData: transfer }));
            else for (const type of ["dragover", "drop"])
                target.dispatchEvent(new DragEvent(type, { ...options, dataTransfer: transfer }));
        }""",
        [event, selector, name, b64encode(data).decode(), kind, texts],
    )


def test_picture_and_documents_are_chips_and_reach_the_agent(open_screen: OpenScreen) -> None:
    screen = open_viewer(open_screen)
    sheet = payload("売上.xlsx", xlsx([["月", "額"], ["4月", "120"]]))
    attach(screen, payload("photo.png", PHOTO, "image/png"), payload("請求書.pdf", INVOICE), sheet)
    expect(chips(screen)).to_have_count(3)
    expect(screen.page.locator(".composer .file.image img")).to_be_visible()
    screen.field.fill("What is this?")
    expect(screen.page.locator(".composer .send")).to_be_enabled()
    screen.field.press("Enter")
    screen.wait_for_end()
    expect(screen.answer).to_contain_text("photo.png: image/png, (1568, 1045)")
    expect(screen.answer).to_contain_text("請求書.pdf: application/pdf, 41")
    expect(screen.answer).to_contain_text("3 files.")
    question = screen.page.locator("article.user")
    expect(question.locator(".bubble")).to_have_text("What is this?")
    expect(question.get_by_role("list", name="Attached files").get_by_role("listitem")).to_have_count(3)
    expect(screen.page).to_have_title("What is this? · Chie")
    expect(chips(screen)).to_have_count(0)
    screen.page.reload()
    thumbnail = question.locator("img")
    expect(thumbnail).to_be_visible()
    assert thumbnail.evaluate("(image) => image.naturalWidth") == 1568


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_axe_finds_nothing_serious(open_screen: OpenScreen, theme: str) -> None:
    screen = open_viewer(open_screen, color_scheme=theme, bypass_csp=True)
    attach(screen, payload("a.png", png(), "image/png"), payload("b.txt", b"words"))
    screen.field.fill("What is this?")
    expect(screen.page.locator(".composer .send")).to_be_enabled()
    screen.field.press("Enter")
    screen.wait_for_end()
    attach(screen, payload("c.txt", b"words"), payload("broken.pdf", b"%PDF-1.4 junk"))
    expect(screen.page.get_by_role("alert")).to_be_visible()
    assert findings(screen) == []
    screen.button("Open b.txt").click()
    expect(screen.page.get_by_role("dialog").locator("pre")).to_have_text("words")
    assert findings(screen) == []


def test_preview_by_keyboard(open_screen: OpenScreen) -> None:
    screen = open_viewer(open_screen)
    attach(screen, payload("report.docx", docx("売上は 120 億円")))
    screen.button("Open report.docx").focus()
    screen.page.keyboard.press("Enter")
    dialog = screen.page.get_by_role("dialog", name="report.docx")
    expect(dialog.locator("pre")).to_have_text("売上は 120 億円")
    expect(dialog.get_by_role("link", name="Download")).to_have_attribute("download", "report.docx")
    screen.page.keyboard.press("Escape")
    expect(dialog).to_have_count(0)
    expect(screen.button("Open report.docx")).to_be_focused()
    screen.page.keyboard.press("Tab")
    screen.page.keyboard.press("Enter")
    expect(chips(screen)).to_have_count(0)


def test_paste_and_drop(open_screen: OpenScreen) -> None:
    screen = open_viewer(open_screen)
    transfer(screen, "paste", "#message", "image.png", png(), "image/png", **{"text/html": "<img src=x>"})
    expect(chips(screen)).to_have_count(1)
    transfer(screen, "drop", ".chat", "dropped.txt", b"words", "text/plain")
    expect(chips(screen)).to_have_count(2)
    copied = {"text/html": "<b>cells</b>", "text/plain": "cells"}
    transfer(screen, "paste", "#message", "image.png", png(), "image/png", **copied)
    screen.settle()
    expect(chips(screen)).to_have_count(2)
    expect(screen.page.locator(".composer .send")).to_be_enabled()
    screen.field.press("Enter")
    screen.wait_for_end()
    expect(screen.answer).to_contain_text("2 files.")
    expect(screen.page.locator("article.user .bubble")).to_have_count(0)


@pytest.mark.parametrize(
    ("locale", "notice", "switch"),
    [("en-US", "Echo cannot see images.", "Use Viewer"), ("ja-JP", "Echo は画像を見られません。", "Viewer を使う")],
)
def test_agent_that_cannot_see_offers_one_that_can(
    open_screen: OpenScreen, locale: str, notice: str, switch: str
) -> None:
    screen = open_screen("/#/chat", locale=locale)
    screen.choose_agent("Echo")
    attach(screen, payload("a.png", png(), "image/png"))
    expect(screen.page.locator(".composer .notice")).to_contain_text(notice)
    expect(screen.page.locator(".composer .send")).to_be_disabled()
    screen.button(switch).click()
    screen.field.press("Enter")
    screen.wait_for_end()
    expect(screen.answer).to_contain_text("1 files.")


@pytest.mark.parametrize(
    ("locale", "error"),
    [
        ("en-US", "secret.pdf is protected with a password."),
        ("ja-JP", "secret.pdf はパスワードで保護されています。"),
    ],
)
def test_unreadable_file_says_why_at_360_pixels(open_screen: OpenScreen, locale: str, error: str) -> None:
    screen = open_viewer(open_screen, locale=locale, viewport={"width": 360, "height": 640})
    long = payload("とても長い名前の報告書-" * 8 + ".txt", b"words")
    attach(screen, payload("secret.pdf", pdf("x", encrypted=True)), long)
    expect(screen.page.get_by_role("alert")).to_contain_text(error)
    expect(chips(screen)).to_have_count(2)
    expect(screen.page.locator(".composer .send")).to_be_disabled()
    assert screen.script("() => document.documentElement.scrollWidth") <= 360
    remove = "Remove secret.pdf" if locale == "en-US" else "secret.pdf を外す"
    screen.button(remove).click()
    screen.ask("これは？")
    screen.wait_for_end()
    expect(screen.answer).to_contain_text("1 files.")
    assert screen.script("() => document.documentElement.scrollWidth") <= 360


def test_failed_upload_keeps_the_text_and_can_be_repeated(open_screen: OpenScreen) -> None:
    screen = open_viewer(open_screen)
    screen.field.fill("typed before")
    screen.page.route("**/api/attachments", lambda route: route.abort())
    attach(screen, payload("a.txt", b"words"))
    failed = screen.page.locator(".composer .file.failed")
    expect(failed).to_contain_text("a.txt was not uploaded.")
    expect(screen.field).to_have_value("typed before")
    screen.page.unroute("**/api/attachments")
    screen.button("Try again", failed).click()
    expect(screen.button("Open a.txt")).to_be_visible()
    screen.page.reload()
    expect(screen.field).to_have_value("typed before")
    expect(screen.button("Open a.txt")).to_be_visible()


def test_question_that_was_not_sent_keeps_its_files(open_screen: OpenScreen) -> None:
    screen = open_viewer(open_screen)
    attach(screen, payload("a.txt", b"words"))
    expect(screen.button("Open a.txt")).to_be_visible()

    def refuse(route: Route) -> None:
        route.abort()

    screen.page.route("**/api/chat/stream", refuse)
    screen.ask("Read it.")
    expect(screen.page.get_by_text("Your message was not sent.")).to_be_visible()
    expect(screen.field).to_have_value("Read it.")
    expect(chips(screen)).to_have_count(1)
    screen.page.unroute("**/api/chat/stream")
    screen.field.press("Enter")
    screen.wait_for_end()
    expect(screen.answer).to_contain_text("1 files.")


def test_edited_question_keeps_the_files_that_stay(open_screen: OpenScreen) -> None:
    screen = open_viewer(open_screen)
    attach(screen, payload("a.txt", b"a"), payload("b.txt", b"b"))
    expect(screen.button("Open b.txt")).to_be_visible()
    screen.ask("first")
    screen.wait_for_end()
    screen.page.locator("article.user").hover()
    screen.button("Edit").click()
    screen.button("Remove a.txt").click()
    screen.page.get_by_label("Edit your question").fill("second")
    screen.button("Resend").click()
    expect(screen.answer).to_contain_text("1 files.")
    question = screen.page.locator("article.user")
    expect(question.get_by_role("listitem")).to_have_count(1)
    expect(question).to_contain_text("b.txt")
    screen.page.locator("article.user").hover()
    screen.button("Previous version").first.click()
    expect(question.get_by_role("listitem")).to_have_count(2)
