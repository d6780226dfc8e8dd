"""Mermaid diagrams: shown as source, and on request rendered in a sandboxed frame."""

import pytest
from playwright.sync_api import Locator, Request, expect
from tests.e2e.conftest import OpenScreen
from tests.e2e.screen import Screen
from tests.fakes import patient


@pytest.fixture
def asked() -> list[str]:
    return []


@pytest.fixture
def answered(open_screen: OpenScreen, asked: list[str]) -> Screen:
    screen = open_screen(locale="ja")

    def note(request: Request) -> None:
        asked.append(request.url.removeprefix(screen.address))

    screen.page.on("requestfinished", note)
    screen.choose_agent("Diagram")
    screen.ask("流れを図にして")
    screen.wait_for_end()
    return screen


def block(screen: Screen, number: int) -> Locator:
    return screen.answer.locator(".code").nth(number)


def test_diagram_is_rendered_on_request_only(answered: Screen, asked: list[str]) -> None:
    first = block(answered, 0)
    expect(first).to_contain_text("graph TD")
    assert [path for path in asked if "mermaid" in path or "diagram.html" in path] == []
    answered.button("図を表示", first).click()
    drawing = first.frame_locator("iframe").locator("svg")
    expect(drawing).to_contain_text("問題なし")
    expect(drawing).to_contain_text("公開")
    frame = first.locator("iframe")
    assert frame.get_attribute("sandbox") == "allow-scripts"
    assert (frame.bounding_box() or {"height": 0})["height"] > 100
    assert frame.element_handle().content_frame().evaluate("window.origin") == "null"  # type: ignore[union-attr]
    answered.button("ソースを表示", first).click()
    expect(first.locator("pre")).to_contain_text("graph TD")
    expect(frame).to_have_count(0)


def test_invalid_diagram_falls_back_to_its_source(answered: Screen) -> None:
    second = block(answered, 1)
    answered.button("図を表示", second).click()
    expect(second).to_contain_text("この図は描画できなかったため、ソースを表示しています。")
    expect(second.locator("pre")).to_contain_text("this is no diagram")


def test_malicious_diagram_reaches_nothing(answered: Screen, asked: list[str]) -> None:
    third = block(answered, 2)
    asked.clear()
    answered.button("図を表示", third).click()
    frame = third.locator("iframe")
    expect(third.frame_locator("iframe").locator("svg")).to_be_visible()
    inside = frame.element_handle().content_frame()
    assert inside is not None
    assert inside.locator("body :is(script, iframe, object, [onerror], [href^=javascript])").count() == 0
    for node in inside.locator("svg .node").all():
        node.click(force=True)
    assert answered.script("() => window.hacked") is None
    assert inside.evaluate("window.hacked") is None
    reach = "fetch('/api/sessions').then(() => 'reached', () => 'refused')"
    assert inside.evaluate(reach) == "refused"
    peek = "() => { try { return String(parent.document); } catch (error) { return error.name; } }"
    assert inside.evaluate(peek) == "SecurityError"
    assert [path for path in asked if not path.startswith(("/assets/", "/diagram.html", "/icon.svg", "/api/"))] == []
    answered.browser_errors.clear()  # the browser reports every refusal


def test_a_diagram_in_a_note_is_drawn_too(open_screen: OpenScreen, address: str) -> None:
    note = {"content": "# 構成\n\n```mermaid\nsequenceDiagram\n  利用者->>Chie: 質問\n```\n"}
    saved = patient.post(f"{address}/api/knowledge", json=note).json()
    screen = open_screen(f"/#/knowledge/{saved['id']}")
    screen.button("Show diagram").click()
    expect(screen.page.frame_locator(".kn-detail iframe").locator("svg")).to_contain_text("質問")
