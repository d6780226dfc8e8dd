"""Spaces in a real browser: an admin makes one, a note is saved in it and listed with its badge."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import expect
from tests.e2e.app_process import app_process
from tests.e2e.conftest import OpenScreen
from tests.e2e.test_accessibility import serious_findings
from tests.fakes import patient


@pytest.fixture
def address(tmp_path: Path) -> Iterator[str]:
    with app_process(tmp_path / "home") as (address, _):
        yield address


@pytest.mark.req("MT-6")
@pytest.mark.parametrize(
    ("locale", "words"),
    [
        ("en", {"more": "Import and export", "manage": "Spaces…", "name": "Name", "create": "Create space",
                "new": "New note", "text": "Text", "space": "Space", "save": "Save", "team": "Team"}),
        ("ja", {"more": "インポートとエクスポート", "manage": "スペースの管理…", "name": "名前",
                "create": "スペースを作成", "new": "新しいメモ", "text": "本文", "space": "スペース", "save": "保存",
                "team": "Team"}),
    ],
)  # fmt: skip
def test_note_is_saved_in_a_space(address: str, open_screen: OpenScreen, locale: str, words: dict[str, str]) -> None:
    screen = open_screen("/#/knowledge", locale=locale)
    page = screen.page
    patient.post(f"{address}/api/knowledge", json={"content": "nginx answers 413 to large uploads"})
    page.reload()
    page.locator(".kn-head").get_by_role("button", name=words["more"]).click()
    page.get_by_role("menuitem", name=words["manage"]).click()
    page.get_by_label(words["name"], exact=True).fill("ops")
    page.get_by_role("button", name=words["create"]).click()
    expect(page.locator(".kn-space-card")).to_have_count(2)
    assert serious_findings(screen) == []
    page.keyboard.press("Escape")
    page.get_by_role("button", name=words["new"]).first.click()
    dialog = page.get_by_role("dialog")
    dialog.get_by_role("textbox", name=words["text"], exact=True).fill("再起動は日曜だけ")
    dialog.get_by_label(words["space"], exact=True).select_option("ops")
    dialog.get_by_role("button", name=words["save"], exact=True).click()
    expect(page.locator(".kn-detail .kn-space")).to_contain_text("ops")
    (saved,) = patient.get(f"{address}/api/knowledge", params={"space": "ops"}).json()["notes"]
    assert saved["space"] == "ops"
    page.get_by_label(words["space"], exact=True).first.select_option("team")
    expect(page.locator(".kn-item")).to_have_count(1)
    expect(page.locator(".kn-item .kn-space")).to_have_count(0)
