"""The map of thousands of notes: its labels, its legend, and dragging it, in a real browser."""

import json
from collections.abc import Iterator
from typing import Any

import pytest
from playwright.sync_api import Page, Route, expect
from tests.e2e.app_process import app_process
from tests.e2e.conftest import OpenScreen
from tests.e2e.screen import Screen
from tests.e2e.test_accessibility import serious_findings
from tests.e2e.test_graph import OVERLAPS
from tests.fakes import patient

NARROW = {"width": 360, "height": 740}
CORNERS = {"nginx": (-0.8, 0.8), "障害": (0.8, -0.8)}
LEFT = '() => document.querySelector(".kn-drawing").getBoundingClientRect().left'


@pytest.fixture(scope="module")
def address(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    with app_process(tmp_path_factory.mktemp("home")) as (address, _):
        patient.post(f"{address}/api/knowledge", json={"content": "a note"}).raise_for_status()
        yield address


def points(count: int) -> list[dict[str, Any]]:
    """In two corners, each with its tag, and one note in the middle with none."""
    found = [{"id": "k-0000000000000000", "title": "in the middle", "tags": [], "x": 0.0, "y": 0.0}]
    for number in range(1, count):
        tag, (x, y) = list(CORNERS.items())[number % 2]
        x, y = x + (number % 7 - 3) * 0.02, y + (number % 11 - 5) * 0.018
        title = f"{tag} の対応 {number} with a long title that is cut"
        found.append({"id": f"k-{number:016x}", "title": title, "tags": [tag], "x": x, "y": y})
    return found


def open_map(open_screen: OpenScreen, count: int, **options: Any) -> Screen:
    screen = open_screen(**options)

    def answer(route: Route) -> None:
        body = json.dumps({"points": points(count), "total": count})
        route.fulfill(body=body, content_type="application/json")

    screen.page.route("**/api/knowledge/map", answer)
    screen.open("/#/knowledge?map")
    expect(screen.page.locator(".kn-plane")).to_have_attribute("data-points", str(count))
    return screen


def legend(page: Page) -> list[str]:
    return page.locator(".kn-legend-tag, .kn-legend-others").all_inner_texts()


@pytest.mark.parametrize(
    ("locale", "theme", "viewport", "zoom", "everything", "other"),
    [
        ("en", "light", {"width": 1280, "height": 800}, "Zoom in", "Show all", "Other"),
        ("ja", "dark", NARROW, "拡大", "全体を表示", "その他"),
    ],
)
def test_labels_do_not_collide_and_the_legend_has_what_is_drawn(
    open_screen: OpenScreen, locale: str, theme: str, viewport: dict[str, int], zoom: str, everything: str, other: str
) -> None:
    screen = open_map(open_screen, 61, locale=locale, color_scheme=theme, viewport=viewport, bypass_csp=True)
    page = screen.page
    names = page.locator(".kn-names span")
    expect(names.first).to_be_visible()
    assert page.evaluate(OVERLAPS) == 0
    assert sorted(legend(page)) == sorted([*CORNERS, other])
    assert serious_findings(screen) == []
    for _ in range(3):
        screen.button(zoom).click()
    expect(page.locator(".kn-legend-tag")).to_have_count(0)
    assert legend(page) == [other]
    assert page.evaluate(OVERLAPS) == 0
    screen.button(everything).click()
    screen.button("nginx").click()
    expect(page.locator(".kn-legend-others")).to_have_count(0)
    assert legend(page) == ["nginx"]
    assert page.evaluate(OVERLAPS) == 0
    assert page.evaluate("document.documentElement.scrollWidth") <= viewport["width"]


def test_the_picture_follows_a_drag_and_the_rest_when_it_ends(open_screen: OpenScreen) -> None:
    screen = open_map(open_screen, 3_000)
    page = screen.page
    expect(page.locator(".kn-map-list h3")).to_have_text("3,000 notes in view")
    assert page.locator(".kn-names span").count() == 0
    screen.button("Zoom in").click()
    expect(page.locator(".kn-map-list h3")).to_have_text("1 note in view")
    before = page.evaluate(LEFT)
    box = page.locator(".kn-plane").bounding_box()
    assert box is not None
    x, y = box["x"] + box["width"] / 2, box["y"] + box["height"] / 2
    page.mouse.move(x, y)
    page.mouse.down()
    page.mouse.move(x + 150, y + 120, steps=5)
    page.wait_for_function(f"(before) => ({LEFT})() - before > 100", arg=before)
    expect(page.locator(".kn-map-list h3")).to_have_text("1 note in view")
    page.mouse.up()
    expect(page.locator(".kn-map-list h3")).not_to_have_text("1 note in view")
    page.wait_for_function(f"(before) => ({LEFT})() === before", arg=before)  # drawn anew
