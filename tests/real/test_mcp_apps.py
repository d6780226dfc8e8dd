"""The sample apps of `@modelcontextprotocol/ext-apps` in the page's own sandbox."""

import re
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path

import pytest
from playwright.sync_api import FrameLocator, expect
from tests.e2e.conftest import OpenScreen, address, chrome, open_screen
from tests.e2e.screen import Screen
from tests.e2e.test_mcp_client import ask, served
from tests.fakes.model_server import Use, say, use
from tests.real.clients import BIN

pytestmark = [pytest.mark.real, pytest.mark.timeout(300), pytest.mark.req("AG-11")]

__all__ = ["address", "chrome", "open_screen"]

Show = Callable[[str, str], AbstractContextManager[tuple[Screen, FrameLocator]]]


@pytest.fixture
def show(open_screen: OpenScreen, monkeypatch: pytest.MonkeyPatch, home: Path) -> Show:
    """Opens the view of a sample's tool, which an agent has called."""

    @contextmanager
    def showing(package: str, tool: str) -> Iterator[tuple[Screen, FrameLocator]]:
        script = BIN.parent / "@modelcontextprotocol" / f"server-{package}" / "dist" / "index.js"
        server = {"command": str(BIN / "node"), "args": [str(script), "--stdio"], "autoApprove": [tool]}
        with served(monkeypatch, home, {package: server}, use(Use(tool)), say("Here.")) as url:
            screen = open_screen("/", at=url)
            ask(screen, "Show it")
            screen.wait_for_end()
            screen.button("Show view").press("Enter")
            yield screen, screen.page.frame_locator("iframe")

    return showing


def test_result_and_a_call_that_needs_no_approval(show: Show) -> None:
    with show("basic-vanillajs", "get-time") as (_, view):
        time = view.locator("#server-time")
        expect(time).to_have_text(re.compile(r"^\d{4}-"))
        first = time.inner_text()
        view.get_by_role("button", name="Get Server Time").click()
        expect(time).not_to_have_text(first)


def test_drawing_library_works_in_the_sandbox(show: Show) -> None:
    with show("budget-allocator", "get-budget-data") as (_, view):
        expect(view.locator("body")).to_contain_text("Allocated: $100,000 / $100,000")
        assert view.locator("canvas").first.evaluate("(canvas) => canvas.width") > 0


def test_tool_of_the_view_alone_runs_after_approval(show: Show) -> None:
    with show("system-monitor", "get-system-info") as (screen, view):
        expect(view.locator("body")).to_contain_text("Starting...")
        screen.button("Allow once", screen.page.get_by_role("region", name="poll-system-stats")).first.press("Enter")
        expect(view.locator("body")).to_contain_text(re.compile(r"\d+(\.\d+)?%"))
