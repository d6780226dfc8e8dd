"""Axe over every view, in both themes and both languages: nothing serious, one `h1`, everything in a region."""

from collections.abc import Callable, Iterator

import pytest
from playwright.sync_api import expect
from tests.e2e.app_process import app_process
from tests.e2e.axe import findings
from tests.e2e.conftest import OpenScreen
from tests.e2e.screen import Screen
from tests.fakes import patient
from tests.fakes.n8n import KEY, FakeN8n
from tests.n8n.test_api import FLOW

NOTE = "# Title\n\n- [x] done\n- [ ] open\n\n| a | b |\n|---|---|\n| 1 | 2 |\n\nSee [[nginx の接続数]] and https://example.test"


@pytest.fixture(scope="module")
def n8n() -> Iterator[FakeN8n]:
    with FakeN8n(2) as fake:
        flow = fake.add_workflow(**FLOW, active=True)
        fake.add_execution(workflowId=flow["id"])
        fake.add_execution(workflowId=flow["id"], status="error")
        yield fake


@pytest.fixture(scope="module")
def note_ids() -> list[str]:
    return []


@pytest.fixture(scope="module")
def address(n8n: FakeN8n, tmp_path_factory: pytest.TempPathFactory, note_ids: list[str]) -> Iterator[str]:
    folder = tmp_path_factory.mktemp("home")
    with pytest.MonkeyPatch.context() as environment:
        environment.setenv("N8N_URL", n8n.url)
        environment.setenv("N8N_API_KEY", KEY)
        environment.setenv("N8N_BACKUP_DIR", str(folder / "backups"))
        with app_process(folder) as (address, _):
            patient.post(f"{address}/api/knowledge/samples")
            for title in ("nginx の接続数", "Task list"):
                body = {"title": title, "content": NOTE, "tags": ["nginx"]}
                note_ids.append(patient.post(f"{address}/api/knowledge", json=body).json()["id"])
            patient.patch(f"{address}/api/knowledge/{note_ids[-1]}", json={"content": NOTE + "\n\nmore"})
            patient.post(f"{address}/api/knowledge", json={"content": "提案です", "proposal": True})
            gone = patient.post(f"{address}/api/knowledge", json={"content": "捨てます"}).json()["id"]
            patient.delete(f"{address}/api/knowledge/{gone}")
            yield address


def chat(screen: Screen) -> Iterator[str]:
    page = screen.page
    expect(page.locator(".agent-button")).to_contain_text("Guide")
    yield "chat, empty"
    screen.ask("nginx の接続数は？")
    screen.wait_for_end()
    screen.answer.locator("details.tool summary").first.click()
    expect(screen.answer.locator(".markdown table")).to_be_visible()
    yield "chat, answer with sources"
    screen.choose_agent("Pensive")
    screen.ask("なぜ？")
    screen.wait_for_end()
    yield "chat, reasoning"
    screen.choose_agent("Doubtful")
    screen.ask("clean up")
    expect(page.locator(".approval")).to_have_count(2)
    yield "chat, approval"
    page.locator(".send").click()
    screen.wait_for_end()
    yield "chat, stopped"
    screen.choose_agent("Bare")
    screen.ask("状態は？")
    screen.wait_for_end()
    expect(screen.answer.locator("input[type=checkbox]")).to_have_count(2)
    screen.answer.locator("details.tool summary").click()
    yield "chat, tool without arguments, task list"
    page.keyboard.press("Control+k")
    expect(page.get_by_role("combobox")).to_be_visible()
    yield "palette"
    page.keyboard.press("Escape")
    screen.open("/#/chat/00000000-0000-4000-8000-000000000000")
    expect(page.get_by_role("link").filter(has_text="Chie")).not_to_have_count(0)
    yield "chat, not found"


def knowledge(screen: Screen, note_ids: list[str]) -> Iterator[str]:
    page = screen.page
    views = {
        "": ".kn-item",
        "?q=nginx": "mark",
        f"/{note_ids[-1]}": ".kn-detail input[type=checkbox]",
        "?map": ".kn-drawing",
        "?map=links": ".kn-plane",
        "?inbox": "h1",
    }
    for path, shown in views.items():
        screen.open(f"/#/knowledge{path}")
        expect(page.locator(shown).first).to_be_attached()
        yield f"knowledge{path}"
    screen.open("/#/review")
    expect(page.get_by_role("heading", level=1)).to_be_visible()
    yield "review"


def dialogs(screen: Screen, note_ids: list[str]) -> Iterator[str]:
    """In English alone: they are opened by name."""
    page, dialog = screen.page, screen.page.get_by_role("dialog")
    screen.open(f"/#/knowledge/{note_ids[-1]}")
    for menu, name in (("", "New note"), ("", "Edit"), (".kn-detail-head", "History"), (".kn-head", "Trash")):
        if menu:
            page.locator(f"{menu} button[aria-haspopup=menu]").click()
            page.get_by_role("menuitem", name=name, exact=True).click()
        else:
            screen.button(name).click()
        expect(dialog.locator("ins, li, form, textarea").first).to_be_visible()
        yield f"dialog {name}"
        page.keyboard.press("Escape")
        expect(dialog).to_have_count(0)


def others(screen: Screen, n8n: FakeN8n) -> Iterator[str]:
    page = screen.page
    flow = next(iter(n8n.workflows))
    for path in ("workflows", f"workflows/{flow}", "servers", "setup", "settings", "usage", "archive"):
        screen.open(f"/#/{path}")
        expect(page.get_by_role("heading", level=1)).to_be_visible()
        page.wait_for_load_state("networkidle")
        for summary in page.locator("#main summary").all():
            summary.click()
        yield path


def walk(screen: Screen, views: Iterator[str]) -> list[str]:
    found: list[str] = []
    for view in views:
        found += [f"{view}: {finding}" for finding in findings(screen)]
        if (count := screen.page.locator("h1:visible, h1.hidden-text").count()) != 1:
            found.append(f"{view}: {count} headings of level 1")
    return found


@pytest.mark.parametrize(("language", "theme"), [("ja", "light"), ("en", "dark")])
@pytest.mark.parametrize("part", ["chat", "knowledge", "dialogs", "others"])
def test_axe_finds_nothing_in_any_view(
    open_screen: OpenScreen, n8n: FakeN8n, note_ids: list[str], part: str, language: str, theme: str
) -> None:
    screen = open_screen(locale="en" if part == "dialogs" else language, color_scheme=theme, bypass_csp=True)
    parts: dict[str, Callable[[], Iterator[str]]] = {
        "chat": lambda: chat(screen),
        "knowledge": lambda: knowledge(screen, note_ids),
        "dialogs": lambda: dialogs(screen, note_ids),
        "others": lambda: others(screen, n8n),
    }
    assert walk(screen, parts[part]()) == []
