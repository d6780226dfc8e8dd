"""An app, a browser and a page for the end-to-end tests."""

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, BrowserContext, Page, expect
from tests.e2e.app_process import app_process
from tests.e2e.browser import browser as open_browser
from tests.e2e.browser import chromium
from tests.e2e.proxy import FlakyProxy
from tests.e2e.screen import Screen

HERE = Path(__file__).parent
OpenScreen = Callable[..., Screen]
TIMEOUT_MS = 30_000
"""Generous, because the machine may be busy."""
expect.set_options(timeout=TIMEOUT_MS)


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """A browser on a busy machine can be late beyond any timeout: a test that fails here runs once more, and the
    summary counts it."""
    for item in items:
        if item.path.is_relative_to(HERE):
            item.add_marker(pytest.mark.flaky(reruns=1))


@pytest.fixture(scope="module")
def chrome() -> Iterator[Browser]:
    """Module-scoped: Playwright keeps an event loop running, in which no async test can run."""
    if chromium() is None:
        pytest.skip("no Chromium here: `make test` installs Debian's if it can, CHIE_CHROMIUM sets another")
    with open_browser() as opened:
        yield opened


@pytest.fixture(scope="session")
def address(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    with app_process(tmp_path_factory.mktemp("home")) as (address, _):
        yield address


@pytest.fixture
def proxy(address: str) -> Iterator[FlakyProxy]:
    proxy = FlakyProxy(address)
    yield proxy
    proxy.close()


@pytest.fixture
def open_screen(chrome: Browser, address: str) -> Iterator[OpenScreen]:
    """Opens a page in its own browser context; fails at the end if a page has reported errors."""
    contexts: list[BrowserContext] = []
    screens: list[Screen] = []

    def opening(path: str = "/", *, at: str | None = None, **options: object) -> Screen:
        defaults = {"locale": "en-US", "viewport": {"width": 1280, "height": 800}, "service_workers": "block"}
        context = chrome.new_context(**{**defaults, **options})  # type: ignore[arg-type]
        contexts.append(context)
        context.grant_permissions(["clipboard-read", "clipboard-write"])
        page: Page = context.new_page()
        page.set_default_timeout(TIMEOUT_MS)
        screens.append(Screen(page, at or address))
        screens[-1].open(path)
        return screens[-1]

    yield opening
    for context in contexts:
        context.close()
    assert [error for screen in screens for error in screen.browser_errors] == []


@pytest.fixture
def screen(open_screen: OpenScreen) -> Screen:
    return open_screen()


@pytest.fixture
def home_folder(tmp_path: Path) -> Path:
    return tmp_path / "home"
