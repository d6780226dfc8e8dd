"""The graph of links, and a search in the past, in a real browser."""

from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import expect
from tests.e2e.app_process import app_process
from tests.e2e.conftest import OpenScreen
from tests.e2e.test_accessibility import serious_findings
from tests.fakes import patient

NARROW = {"width": 360, "height": 740}
WIDE = {"width": 1280, "height": 800}
OVERLAPS = """() => {
  const boxes = [...document.querySelectorAll(".kn-names span")].map((one) => one.getBoundingClientRect());
  return boxes.flatMap((a, i) => boxes.slice(i + 1).filter((b) =>
    a.left < b.right && b.left < a.right && a.top < b.bottom && b.top < a.bottom)).length;
}"""


@pytest.fixture
def address(tmp_path: Path) -> Iterator[str]:
    with app_process(tmp_path / "home") as (address, _):
        yield address


def save(address: str, title: str, content: str, **fields: Any) -> str:
    saved = patient.post(f"{address}/api/knowledge", json={"title": title, "content": content, **fields})
    return str(saved.json()["id"])


@pytest.mark.req("MT-5")
@pytest.mark.parametrize("viewport", [WIDE, NARROW], ids=["wide", "narrow"])
@pytest.mark.parametrize(
    ("locale", "theme", "by_links", "none"),
    [
        ("en", "light", "By links", "No note links to another one yet."),
        ("ja", "dark", "リンク", "ほかのメモへのリンクがまだありません。"),
    ],
)
def test_notes_and_links_are_drawn_and_reached_by_keyboard(
    address: str, open_screen: OpenScreen, viewport: dict[str, int], locale: str, theme: str, by_links: str, none: str
) -> None:
    save(address, "復旧の手順 Runbook", "初めに確認する。")
    screen = open_screen("/#/knowledge?map", locale=locale, viewport=viewport, color_scheme=theme, bypass_csp=True)
    page = screen.page
    page.get_by_role("link", name=by_links, exact=True).click()
    expect(page.get_by_text(none)).to_be_visible()
    expect(page.locator(".notice code")).to_be_visible()
    for number in range(6):
        save(address, f"障害の記録 Incident {number}", "See [[復旧の手順 Runbook]].", tags=["障害"])
    alone = save(address, "Alone", "no links")
    screen.open("/#/knowledge?map=links")
    page.reload()
    expect(page.locator(".kn-plane")).to_have_attribute("data-points", "7")
    expect(page.locator(".kn-names span").first).to_be_visible()
    assert page.evaluate(OVERLAPS) == 0
    assert page.evaluate("document.documentElement.scrollWidth") <= viewport["width"]
    expect(page.locator(".kn-plane")).to_have_attribute("data-edges", "6")
    assert page.locator(f'.kn-map-list a[href*="{alone}"]').count() == 0
    assert serious_findings(screen) == []
    first = page.locator(".kn-map-list a").first
    expect(first).to_contain_text("Runbook")
    first.focus()
    expect(page.locator(".kn-edge.near")).to_have_count(1)
    page.keyboard.press("Enter")
    expect(page.locator(".kn-detail h2")).to_contain_text("Runbook")


@pytest.mark.req("MT-2")
@pytest.mark.parametrize(
    ("locale", "marked", "back"),
    [("en", "As of {}.", "Search what is known now"), ("ja", "{} 時点の検索結果です。", "現在の内容で検索")],
)
def test_a_search_in_the_past_is_completed_and_marked(
    address: str, open_screen: OpenScreen, locale: str, marked: str, back: str
) -> None:
    save(address, "接続の上限", "Connections are limited to 10. 接続は 10 本まで。")
    screen = open_screen("/#/knowledge", locale=locale, viewport=NARROW, bypass_csp=True)
    page = screen.page
    field = page.locator("#main").get_by_role("combobox")
    field.press_sequentially("接続 at:")
    expect(page.get_by_role("option")).to_have_count(3)
    field.press("Enter")
    week = (datetime.now(UTC) - timedelta(days=7)).date().isoformat()
    expect(page.get_by_text(marked.format(week))).to_be_visible()
    expect(page.locator(".kn-item")).to_have_count(0)
    assert serious_findings(screen) == []
    page.get_by_role("link", name=back).click()
    expect(page.locator(".kn-item")).to_have_count(1)
    expect(page.get_by_text(marked.format(week))).to_have_count(0)
    tomorrow = (datetime.now(UTC) + timedelta(days=1)).date().isoformat()
    field.fill(f"接続 at:{tomorrow}")
    expect(page.get_by_text(marked.format(tomorrow))).to_be_visible()
    expect(page.locator(".kn-item")).to_have_count(1)
