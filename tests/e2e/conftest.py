"""A house, a browser and a page for the end-to-end tests."""

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, BrowserContext, Page, expect
from tests.e2e.app_process import app_process
from tests.e2e.browser import browser as open_browser
from tests.e2e.browser import chromium
from tests.e2e.proxy import Cable
from tests.e2e.screen import Screen

OpenScreen = Callable[..., Screen]
PATIENCE = 30_000
"""Milliseconds for anything to show. A busy machine is slow, not wrong."""
expect.set_options(timeout=PATIENCE)


@pytest.fixture(scope="module")
def chrome() -> Iterator[Browser]:
    """Playwright keeps an event loop running, in which no async test can run: it ends with the module."""
    if chromium() is None:
        pytest.skip("no Chromium here: `make test` installs Debian's where it may, CHIE_CHROMIUM names another")
    with open_browser() as opened:
        yield opened


@pytest.fixture(scope="session")
def address(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    with app_process(tmp_path_factory.mktemp("house")) as (address, _):
        yield address


@pytest.fixture
def cable(address: str) -> Iterator[Cable]:
    cable = Cable(address)
    yield cable
    cable.close()


@pytest.fixture
def open_screen(chrome: Browser, address: str) -> Iterator[OpenScreen]:
    """Opens a page in a browser of its own; at the end no page may have complained."""
    contexts: list[BrowserContext] = []
    screens: list[Screen] = []

    def opening(path: str = "/", *, at: str | None = None, **options: object) -> Screen:
        defaults = {"locale": "en-US", "viewport": {"width": 1280, "height": 800}, "service_workers": "block"}
        context = chrome.new_context(**{**defaults, **options})  # type: ignore[arg-type]
        contexts.append(context)
        context.grant_permissions(["clipboard-read", "clipboard-write"])
        page: Page = context.new_page()
        page.set_default_timeout(PATIENCE)
        screens.append(Screen(page, at or address))
        screens[-1].open(path)
        return screens[-1]

    yield opening
    for context in contexts:
        context.close()
    assert [complaint for screen in screens for complaint in screen.complaints] == []


@pytest.fixture
def screen(open_screen: OpenScreen) -> Screen:
    return open_screen()


@pytest.fixture
def home_folder(tmp_path: Path) -> Path:
    return tmp_path / "house"
