"""The review in a real browser: keys, both languages, narrow screens, and the opinion of a model."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import expect
from tests.app.processes import http_server
from tests.e2e.app_process import app_process
from tests.e2e.conftest import OpenScreen
from tests.e2e.test_accessibility import serious_findings
from tests.e2e.test_inbox import press
from tests.fakes import patient
from tests.fakes.model_server import say
from tests.fakes.openai_server import OpenAIServer

OLDER, NEWER = "注文APIのタイムアウトは30秒。長い処理はジョブに回す。", "注文APIのタイムアウトを60秒に変更した。"
SAME = (
    "Never run `terraform apply` from a laptop. Changes go through the pipeline of the infra repository.",
    "Infrastructure changes are applied only by the infra repo's pipeline; don't `terraform apply` locally.",
)


@pytest.fixture
def address(tmp_path: Path) -> Iterator[str]:
    with app_process(tmp_path / "home") as (address, _):
        yield address


def save(address: str, *contents: str) -> list[str]:
    return [patient.post(f"{address}/api/knowledge", json={"content": content}).json()["id"] for content in contents]


def total(address: str) -> Any:
    return patient.get(f"{address}/api/knowledge/review/count").json()["total"]


@pytest.mark.req("MT-3")
@pytest.mark.parametrize(
    ("locale", "link", "reason", "archived", "undone", "empty"),
    [
        (
            "en",
            "Review",
            "30秒 in the older note, 60秒 in the newer one",
            "Moved to the trash.",
            "The decision was undone.",
            "Nothing to review",
        ),
        (
            "ja",
            "見直し",
            "古いほうは「30秒」、新しいほうは「60秒」",
            "ごみ箱に移しました。",
            "判断を取り消しました。",
            "見直すものはありません",
        ),
    ],
)
def test_findings_are_decided_by_keyboard(
    open_screen: OpenScreen, address: str, locale: str, link: str, reason: str, archived: str, undone: str, empty: str
) -> None:
    older, _ = save(address, OLDER, NEWER)
    save(address, *SAME)
    screen = open_screen("/#/knowledge", locale=locale)
    page = screen.page
    page.get_by_role("link", name=link).click()
    expect(page.get_by_role("heading", level=2, name=reason)).to_be_visible()
    expect(page.locator(".nav-link[aria-current]")).to_have_attribute("href", "#/knowledge")
    expect(page.locator(".rv-note")).to_have_count(2)
    expect(page.locator(".rv-note mark").first).to_be_visible()
    assert serious_findings(screen) == []
    press(screen, "a")
    expect(page.get_by_text(archived)).to_be_visible()
    assert patient.get(f"{address}/api/knowledge/{older}").status_code == 404
    press(screen, "u")
    expect(page.get_by_text(undone)).to_be_visible()
    expect(page.get_by_role("heading", level=2, name=reason)).to_be_visible()
    press(screen, "n")
    expect(page.get_by_role("heading", level=2, name=reason)).to_have_count(0)
    press(screen, "b")
    expect(page.get_by_text(empty)).to_be_visible()
    assert total(address) == 0


@pytest.mark.req("MT-3")
def test_two_notes_are_merged_in_a_dialog(open_screen: OpenScreen, address: str) -> None:
    older, newer = save(address, *SAME)
    page = open_screen("/#/review").page
    expect(page.get_by_role("heading", level=2, name="Both notes say the same")).to_be_visible()
    page.keyboard.press("m")
    page.get_by_label("Merged text").fill("Only the pipeline applies Terraform.")
    page.get_by_role("dialog").get_by_role("button", name="Merge").click()
    expect(page.get_by_text("Merged into one note.")).to_be_visible()
    merged = patient.get(f"{address}/api/knowledge/{newer}").json()
    assert merged["content"] == "Only the pipeline applies Terraform."
    assert patient.get(f"{address}/api/knowledge/{older}").status_code == 404


@pytest.mark.req("MT-3")
def test_the_review_fits_a_narrow_screen(open_screen: OpenScreen, address: str) -> None:
    save(address, OLDER, NEWER)
    screen = open_screen("/#/review", locale="ja", viewport={"width": 360, "height": 740})
    expect(screen.page.locator(".rv-note")).to_have_count(2)
    wide = screen.page.evaluate("document.documentElement.scrollWidth > document.documentElement.clientWidth")
    assert not wide
    first, second = (screen.page.locator(".rv-note").nth(at).bounding_box() for at in (0, 1))
    assert first is not None
    assert second is not None
    assert second["y"] > first["y"] + first["height"] - 1


@pytest.mark.req("MT-3")
def test_a_connected_model_gives_its_opinion_only_when_asked(
    open_screen: OpenScreen, monkeypatch: pytest.MonkeyPatch
) -> None:
    draft = '{"verdict": "contradiction", "reason": "30 s and 60 s", "merged": "The timeout is 60 s."}'
    with OpenAIServer(say(draft)) as model:
        monkeypatch.setenv("OPENAI_BASE_URL", model.base_url)
        with http_server("chie", "serve") as url:
            save(url, OLDER, NEWER)
            screen = open_screen("/#/review", at=url)
            expect(screen.page.locator(".rv-note")).to_have_count(2)
            assert not model.seen
            screen.button("Ask the model").click()
            expect(screen.page.get_by_text("They contradict each other.")).to_be_visible()
            screen.button("Use its draft…").click()
            expect(screen.page.get_by_label("Merged text")).to_have_value("The timeout is 60 s.")


@pytest.mark.req("MT-3")
def test_no_model_is_offered_where_none_is_connected(open_screen: OpenScreen, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CHIE_MODEL_HOST", "127.0.0.2")
    with http_server("chie", "serve") as url:
        save(url, OLDER, NEWER)
        page = open_screen("/#/review", at=url).page
        with page.expect_response("**/api/agents"):
            page.reload()
        expect(page.locator(".rv-note")).to_have_count(2)
        expect(page.get_by_role("button", name="Ask the model")).to_have_count(0)
