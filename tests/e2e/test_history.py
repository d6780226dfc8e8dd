"""Versions, the trash and supersession in a real browser."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import expect
from tests.e2e.app_process import app_process
from tests.e2e.conftest import OpenScreen
from tests.e2e.test_accessibility import serious_findings
from tests.fakes import patient

FIRST, SECOND = (
    "Connections are limited to 10.\n接続は 10 本まで。",
    "Connections are limited to 20.\n接続は 20 本まで。",
)
NARROW = {"width": 360, "height": 740}


@pytest.fixture
def address(tmp_path: Path) -> Iterator[str]:
    with app_process(tmp_path / "home") as (address, _):
        yield address


def save(address: str, content: str, **fields: Any) -> str:
    saved = patient.post(f"{address}/api/knowledge", json={"content": content, **fields})
    return str(saved.json()["id"])


def read(address: str, note_id: str) -> dict[str, Any]:
    found: dict[str, Any] = patient.get(f"{address}/api/knowledge/{note_id}").json()
    return found


@pytest.mark.req("MT-1")
@pytest.mark.parametrize(
    ("locale", "history", "restore", "done"),
    [
        ("en", "History", "Restore this version", "Version 1 was restored."),
        ("ja", "履歴", "このバージョンに戻す", "バージョン 1 に戻しました。"),
    ],
)
def test_a_version_is_compared_and_restored(
    address: str, open_screen: OpenScreen, locale: str, history: str, restore: str, done: str
) -> None:
    note_id = save(address, FIRST, title="limit", tags=["db"])
    patient.patch(f"{address}/api/knowledge/{note_id}", json={"content": SECOND}).raise_for_status()
    screen = open_screen(f"/#/knowledge/{note_id}", locale=locale, viewport=NARROW)
    page = screen.page
    page.locator(".kn-detail-head button[aria-haspopup=menu]").click()
    page.get_by_role("menuitem", name=history, exact=True).click()
    dialog = page.get_by_role("dialog")
    expect(dialog.get_by_role("radio")).to_have_count(2)
    expect(dialog.locator("del").first).to_contain_text("10")
    expect(dialog.locator("ins").first).to_contain_text("20")
    assert serious_findings(screen) == []
    assert page.evaluate("document.documentElement.scrollWidth") <= NARROW["width"]
    expect(dialog.get_by_role("button", name=restore)).to_be_disabled()
    page.keyboard.press("ArrowDown")
    expect(dialog.get_by_role("radio").nth(1)).to_be_checked()
    dialog.get_by_role("button", name=restore).click()
    expect(page.get_by_text(done)).to_be_visible()
    expect(page.locator(".kn-detail")).to_contain_text("limited to 10")
    assert read(address, note_id)["content"] == FIRST


@pytest.mark.req("MT-1")
@pytest.mark.parametrize(
    ("locale", "trash", "restore", "purge", "empty"),
    [
        ("en", "Trash", "Restore “one”", "Delete for good: “two”", "The trash is empty."),
        ("ja", "ごみ箱", "「one」を復元", "「two」を完全に削除", "ごみ箱は空です。"),
    ],
)
def test_notes_are_restored_and_deleted_for_good(
    address: str, open_screen: OpenScreen, locale: str, trash: str, restore: str, purge: str, empty: str
) -> None:
    save(address, "something else")
    one, two = save(address, "one", title="one"), save(address, "two", title="two")
    for note_id in (one, two):
        patient.delete(f"{address}/api/knowledge/{note_id}").raise_for_status()
    screen = open_screen("/#/knowledge", locale=locale, viewport=NARROW)
    page = screen.page
    page.locator(".kn-head button[aria-haspopup=menu]").click()
    page.get_by_role("menuitem", name=trash).click()
    dialog = page.get_by_role("dialog")
    assert serious_findings(screen) == []
    dialog.get_by_role("button", name=restore).click()
    expect(dialog.get_by_role("button", name=restore)).to_have_count(0)
    assert read(address, one)["content"] == "one"
    dialog.get_by_role("button", name=purge).click()
    dialog.locator(".dialog-foot button").first.click()
    expect(dialog.get_by_text(empty)).to_be_visible()
    assert patient.get(f"{address}/api/knowledge/trash").json()["notes"] == []


@pytest.mark.req("MT-2")
def test_a_note_is_replaced_and_says_by_what(address: str, open_screen: OpenScreen) -> None:
    old = save(address, FIRST, title="limit")
    screen = open_screen(f"/#/knowledge/{old}", locale="en")
    page = screen.page
    page.locator(".kn-detail-head button[aria-haspopup=menu]").click()
    page.get_by_role("menuitem", name="Replace with a new note…").click()
    page.get_by_role("dialog").get_by_label("Title").fill("limit since March")
    page.get_by_role("button", name="Save and replace").click()
    expect(page.locator(".kn-detail-head h2")).to_have_text("limit since March")
    page.locator(".kn-detail").get_by_role("link", name="limit", exact=True).first.click()
    expect(page.get_by_text("Superseded by limit since March")).to_be_visible()
    assert serious_findings(screen) == []
    assert [link["title"] for link in read(address, old)["superseded_by"]] == ["limit since March"]


@pytest.mark.req("MT-2")
def test_two_notes_are_merged(address: str, open_screen: OpenScreen) -> None:
    kept = save(address, FIRST, title="limit of connections", tags=["db"])
    other = save(address, "Connections are limited to 10.\nRestart the pool.", title="connections", tags=["pool"])
    screen = open_screen(f"/#/knowledge/{kept}", locale="en")
    page = screen.page
    page.locator(".kn-detail-head button[aria-haspopup=menu]").click()
    page.get_by_role("menuitem", name="Merge with another note…").click()
    dialog = page.get_by_role("dialog")
    dialog.get_by_label("Find a note").fill("connections pool")
    dialog.get_by_role("radio", name="connections", exact=True).check()
    expect(dialog.get_by_label("Merged text")).to_have_value(f"{FIRST}\n\nRestart the pool.")
    assert serious_findings(screen) == []
    dialog.get_by_role("button", name="Merge", exact=True).click()
    expect(page.get_by_text("“connections” is superseded by this note.")).to_be_visible()
    merged = read(address, kept)
    assert (merged["tags"], merged["supersedes"]) == (["db", "pool"], [other])
    assert read(address, other)["superseded_by"][0]["id"] == kept
