"""Marks, counts and the consent to record searches in a real browser."""

import pytest
from playwright.sync_api import expect
from tests.e2e.conftest import OpenScreen
from tests.fakes import patient


@pytest.mark.req("MT-7")
@pytest.mark.req("MT-8")
@pytest.mark.parametrize(
    ("locale", "helpful", "wrong", "opened", "menu", "record", "recorded"),
    [
        ("en", "Helpful", "Wrong", "opened 1 time", "Import and export", "Record my searches", "from now on"),
        (
            "ja",
            "役に立った",
            "間違いがある",
            "閲覧 1 回",
            "インポートとエクスポート",
            "検索を記録する",
            "検索を記録します",
        ),
    ],
)
def test_a_note_is_marked_and_searches_are_recorded(
    open_screen: OpenScreen,
    address: str,
    locale: str,
    helpful: str,
    wrong: str,
    opened: str,
    menu: str,
    record: str,
    recorded: str,
) -> None:
    note_id = patient.post(f"{address}/api/knowledge", json={"content": f"usefulness {locale}"}).json()["id"]
    url = f"{address}/api/knowledge/{note_id}"
    patient.get(url)
    screen = open_screen(f"/#/knowledge/{note_id}", locale=locale)
    page = screen.page
    row = page.locator(".kn-usefulness")
    expect(row).to_contain_text(opened)
    row.get_by_role("button", name=helpful).click()
    expect(row.get_by_role("button", name=f"{helpful} 1")).to_have_attribute("aria-pressed", "true")
    row.get_by_role("button", name=wrong).click()
    expect(row.get_by_role("button", name=f"{wrong} 1")).to_be_visible()
    assert patient.get(url).json()["mark"] == "wrong"
    page.get_by_role("button", name=menu).first.click()
    page.get_by_role("menuitemradio", name=record).or_(page.get_by_role("menuitemcheckbox", name=record)).click()
    expect(page.get_by_text(recorded)).to_be_visible()
    assert patient.get(f"{address}/api/knowledge/recording").json()["recording"] is True
    patient.put(f"{address}/api/knowledge/recording", json={"recording": False})
