"""The inbox, questions and confirmations in a real browser."""

import asyncio
import re
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest
from fastmcp import Client
from playwright.sync_api import Route, expect
from tests.app.processes import http_server
from tests.e2e.app_process import app_process
from tests.e2e.conftest import OpenScreen
from tests.e2e.screen import Screen
from tests.e2e.test_accessibility import serious_findings
from tests.fakes import patient
from tests.fakes.model_server import say
from tests.fakes.openai_server import OpenAIServer

KNOWN = "nginx answers 413 to large uploads.\nRaise client_max_body_size to 10m."
PROPOSED = "nginx answers 413 to large uploads.\nRaise client_max_body_size to 50m.\nReload nginx afterwards."


@pytest.fixture
def address(tmp_path: Path) -> Iterator[str]:
    with app_process(tmp_path / "home") as (address, _):
        yield address


def propose(address: str, content: str, **fields: Any) -> str:
    """As an assistant does it, over MCP; in a thread, because Playwright has an event loop in this one."""

    async def save() -> str:
        async with Client(f"{address}/mcp/knowledge") as client:
            saved = await client.call_tool("save_knowledge", {"content": content, "proposal": True, **fields})
            return str(saved.structured_content["id"])

    with ThreadPoolExecutor(1) as pool:
        return pool.submit(asyncio.run, save()).result()


def note(address: str, note_id: str) -> dict[str, Any]:
    """Without its uses, which reading it adds to."""
    found: dict[str, Any] = patient.get(f"{address}/api/knowledge/{note_id}").json()
    return {name: value for name, value in found.items() if name != "uses"}


def press(screen: Screen, key: str) -> None:
    screen.page.keyboard.press(key)


@pytest.mark.req("ME-7")
@pytest.mark.parametrize(
    ("locale", "inbox", "accepted", "empty"),
    [
        ("en", "Inbox 1", "Accepted “Upload limit”.", "No proposals"),
        ("ja", "受信箱 1", "「Upload limit」を承認しました。", "提案はありません"),
    ],
)
def test_a_proposal_is_accepted_by_keyboard_and_found(
    open_screen: OpenScreen, address: str, locale: str, inbox: str, accepted: str, empty: str
) -> None:
    note_id = propose(address, PROPOSED, title="Upload limit", questions=["Why is my picture refused?"])
    screen = open_screen("/#/knowledge", locale=locale)
    page = screen.page
    page.get_by_role("link", name=inbox).click()
    expect(page.get_by_role("heading", level=2, name="Upload limit")).to_be_visible()
    expect(page.locator(".kn-detail")).to_contain_text("Why is my picture refused?")
    assert serious_findings(screen) == []
    press(screen, "a")
    expect(page.get_by_text(accepted)).to_be_visible()
    expect(page.get_by_text(empty)).to_be_visible()
    expect(page.locator(".kn-badge")).to_have_count(0)
    assert note(address, note_id)["confirmed_by"]
    page.locator("#main").get_by_role("combobox").fill("why is my picture refused")
    expect(page.locator(".kn-item strong").first).to_have_text("Upload limit")
    expect(page.locator(".kn-matched").first).to_contain_text("Why is my picture refused?")


@pytest.mark.req("ME-7")
def test_a_proposal_is_edited_and_accepted_and_that_is_undone(open_screen: OpenScreen, address: str) -> None:
    note_id = propose(address, PROPOSED, title="Upload limit", errors=["413 Request Entity Too Large"])
    screen = open_screen("/#/knowledge?inbox")
    page = screen.page
    expect(page.get_by_role("heading", level=2, name="Upload limit")).to_be_visible()
    press(screen, "e")
    field = page.get_by_role("textbox", name="Text")
    expect(field).to_have_value(PROPOSED)
    field.fill("Raise the limit.")
    page.get_by_role("textbox", name="Questions").fill("Why 413?\n\nなぜ 413？")
    page.get_by_role("dialog").get_by_role("button", name="Accept").click()
    expect(page.get_by_text("No proposals")).to_be_visible()
    stored = note(address, note_id)
    assert (stored["content"], stored["questions"]) == ("Raise the limit.", ["Why 413?", "なぜ 413？"])
    assert len(stored["signatures"]) == 1
    press(screen, "u")
    expect(page.get_by_text("The proposal is back in the inbox.")).to_be_visible()
    expect(page.locator(".kn-detail")).to_contain_text("Reload nginx afterwards.")
    assert note(address, note_id)["proposal"]


@pytest.mark.req("ME-7")
def test_a_proposal_is_compared_merged_and_unmerged(open_screen: OpenScreen, address: str) -> None:
    known = patient.post(f"{address}/api/knowledge", json={"content": KNOWN, "title": "nginx 413"}).json()["id"]
    before = note(address, known)
    note_id = propose(address, PROPOSED, tags=["proxy"], questions=["Why 413?"])
    screen = open_screen("/#/knowledge?inbox")
    page = screen.page
    expect(page.locator(".kn-difference ins").first).to_contain_text("50m")
    expect(page.locator(".kn-difference del").first).to_contain_text("10m")
    press(screen, "m")
    field = page.get_by_role("textbox", name="Merged text")
    expect(field).to_have_value(re.compile(r"10m\.\n\nRaise client_max_body_size to 50m"))
    expect(field).to_be_focused()
    field.fill(PROPOSED)
    page.get_by_role("button", name="Merge", exact=True).click()
    expect(page.get_by_text("Merged into “nginx 413”.")).to_be_visible()
    merged = note(address, known)
    assert (merged["content"], merged["tags"], merged["questions"]) == (PROPOSED, ["proxy"], ["Why 413?"])
    screen.button("Undo").click()
    expect(page.get_by_text("The proposal is back in the inbox.")).to_be_visible()
    assert note(address, known) == before
    assert note(address, note_id)["proposal"]


@pytest.mark.req("ME-7")
@pytest.mark.parametrize(
    ("locale", "refusal"), [("en", "The note has changed since the decision"), ("ja", "操作の後にメモが変更された")]
)
def test_a_merge_is_not_undone_over_a_later_change(
    open_screen: OpenScreen, address: str, locale: str, refusal: str
) -> None:
    known = patient.post(f"{address}/api/knowledge", json={"content": KNOWN, "title": "nginx 413"}).json()["id"]
    propose(address, PROPOSED)
    screen = open_screen("/#/knowledge?inbox", locale=locale)
    page = screen.page
    expect(page.locator(".kn-difference")).to_be_visible()
    press(screen, "m")
    expect(page.locator("dialog textarea")).to_be_focused()
    press(screen, "Control+Enter")
    expect(page.locator("dialog")).to_have_count(0)
    patient.patch(f"{address}/api/knowledge/{known}", json={"content": "corrected"})
    press(screen, "u")
    expect(page.get_by_text(refusal)).to_be_visible()
    assert note(address, known)["content"] == "corrected"


@pytest.mark.req("ME-7")
def test_proposals_are_selected_rejected_and_brought_back_by_keyboard(open_screen: OpenScreen, address: str) -> None:
    for number in ("one", "two", "three"):
        propose(address, f"Finding number {number}", title=number)
    screen = open_screen("/#/knowledge?inbox")
    page = screen.page
    selected = page.locator(".kn-item[aria-current]")
    expect(selected).to_contain_text("one")
    press(screen, "j")
    expect(selected).to_contain_text("two")
    press(screen, "r")
    expect(page.get_by_text("Rejected “two”.")).to_be_visible()
    expect(page.locator(".kn-item")).to_have_count(2)
    expect(selected).to_contain_text("three")
    press(screen, "u")
    expect(page.locator(".kn-item")).to_have_count(3)
    press(screen, "k")
    expect(selected).to_contain_text("two")
    page.locator("#main").get_by_role("combobox").press("r")
    expect(page.locator(".kn-badge")).to_have_text("3")


@pytest.mark.req("ME-10")
@pytest.mark.req("ME-9")
def test_a_notes_questions_are_edited_and_the_note_is_confirmed(open_screen: OpenScreen, address: str) -> None:
    propose_id = propose(
        address, "Prune images weekly.", title="Full disk", errors=["No space left on device", "Cannot write layer"]
    )
    patient.post(f"{address}/api/knowledge/inbox/{propose_id}/accept", json={}).raise_for_status()
    patient.delete(f"{address}/api/knowledge/{propose_id}/confirmation").raise_for_status()
    screen = open_screen(f"/#/knowledge/{propose_id}", locale="ja")
    page = screen.page
    about = page.locator(".kn-about")
    expect(about).to_contain_text("アシスタントが書いたメモ")
    expect(about).to_contain_text("未確認")
    screen.button("内容を確認した").click()
    expect(about).to_contain_text("が確認済み")
    screen.button("確認を取り消す").click()
    expect(about).to_contain_text("未確認")
    page.get_by_role("region", name="このメモで解決するエラー").get_by_role("button").first.click()
    expect(page.get_by_text("エラーの特徴を削除しました。")).to_be_visible()
    assert len(note(address, propose_id)["signatures"]) == 1
    screen.button("編集").click()
    page.get_by_role("textbox", name="質問").fill("ディスクが足りないときは？\nWhat fills the disk?")
    screen.button("保存").click()
    expect(page.get_by_role("region", name="このメモが答える質問").get_by_role("listitem")).to_have_count(2)
    assert serious_findings(screen) == []


@pytest.mark.req("ME-7")
def test_on_a_narrow_screen_the_list_leads_to_the_proposal_and_back(open_screen: OpenScreen, address: str) -> None:
    propose(address, PROPOSED, title="Upload limit")
    screen = open_screen("/#/knowledge?inbox", viewport={"width": 360, "height": 740})
    page = screen.page
    expect(page.locator(".kn-detail")).to_be_hidden()
    page.locator(".kn-item").click()
    expect(page.locator(".kn-detail")).to_be_visible()
    expect(page.locator(".kn-item")).to_be_hidden()
    assert screen.script("() => document.documentElement.scrollWidth") == 360
    page.get_by_role("link", name="Back to the list").click()
    expect(page.locator(".kn-item")).to_be_visible()


@pytest.mark.req("ME-9")
def test_the_connected_model_suggests_questions(open_screen: OpenScreen, monkeypatch: pytest.MonkeyPatch) -> None:
    with OpenAIServer(say("Why 413?\nなぜ 413 になる？")) as model:
        monkeypatch.setenv("OPENAI_BASE_URL", model.base_url)
        with http_server("chie", "serve") as url:
            screen = open_screen("/#/knowledge", at=url)
            screen.button("New note").first.click()
            screen.page.get_by_role("textbox", name="Text").fill(KNOWN)
            screen.page.get_by_role("textbox", name="Questions").fill("Mine?")
            screen.button("Suggest questions").click()
            field = screen.page.get_by_role("textbox", name="Questions")
            expect(field).to_have_value("Mine?\nWhy 413?\nなぜ 413 になる？")


@pytest.mark.req("ME-9")
def test_what_is_typed_while_the_model_suggests_is_kept(open_screen: OpenScreen) -> None:
    screen = open_screen("/#/knowledge")
    page, held = screen.page, list[Route]()
    page.route("**/api/chat/suggest-questions", lambda route: held.append(route))  # noqa: PLW0108
    screen.button("New note").first.click()
    page.get_by_role("textbox", name="Text").fill(KNOWN)
    with page.expect_request("**/api/chat/suggest-questions"):
        screen.button("Suggest questions").click()
    expect(screen.button("Suggesting…")).to_be_focused()
    page.get_by_role("textbox", name="Text").fill("typed meanwhile")
    page.get_by_role("textbox", name="Questions").fill("Mine?")
    held[0].fulfill(json={"questions": ["Why 413?", "なぜ？"]})
    expect(page.get_by_role("textbox", name="Questions")).to_have_value("Mine?\nWhy 413?\nなぜ？")
    expect(page.get_by_role("textbox", name="Text")).to_have_value("typed meanwhile")
    expect(page.get_by_text("2 questions suggested.")).to_be_attached()
