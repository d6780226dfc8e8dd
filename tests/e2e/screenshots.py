"""The screenshots of the chat in docs/images: run `python -m tests.e2e.screenshots`."""

import tempfile
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path

import pytest
from playwright.sync_api import Browser, expect
from tests.e2e.app_process import ROOT, app_process
from tests.e2e.approvals import waiting_app
from tests.e2e.browser import browser
from tests.e2e.screen import Screen

IMAGES = ROOT / "docs" / "images"
expect.set_options(timeout=30_000)


@dataclass(frozen=True)
class Shot:
    """`scene` brings the page into the state to be shown."""

    scene: Callable[[Screen], None]
    language: str = "en"
    theme: str = "light"
    width: int = 1280
    height: int = 800


def greet(screen: Screen) -> None:
    expect(screen.page.locator(".agent-button")).to_contain_text("Guide")


def answer(screen: Screen) -> None:
    screen.ask("nginx の接続数を増やすには？")
    screen.wait_for_end()
    expect(screen.answer.locator("table")).to_be_visible()


def source(screen: Screen) -> None:
    answer(screen)
    screen.answer.locator(".sources .source-chip").first.click()
    expect(screen.page.locator(".source-card:popover-open")).to_be_visible()


def approve(screen: Screen) -> None:
    screen.choose_agent("Assistant")
    screen.ask("Tidy up after the outage.")
    expect(screen.page.locator(".approval")).to_have_count(3)
    screen.page.locator(".approval").first.scroll_into_view_if_needed()


def command(screen: Screen) -> None:
    answer(screen)
    screen.page.keyboard.press("Control+k")
    expect(screen.page.get_by_role("combobox")).to_be_visible()


SHOTS: Mapping[str, Shot] = {
    "chat": Shot(answer, "ja"),
    "chat-dark": Shot(source, "en", "dark"),
    "chat-narrow": Shot(answer, "ja", width=360, height=740),
    "welcome": Shot(greet, "en"),
    "commands": Shot(command, "ja", "dark"),
}


def main() -> None:
    IMAGES.mkdir(exist_ok=True)
    with tempfile.TemporaryDirectory() as home, app_process(Path(home)) as (address, _), browser() as opened:
        for name, shot in SHOTS.items():
            take(opened, address, name, shot)
        with pytest.MonkeyPatch.context() as settings:
            settings.setenv("CHIE_HOME", f"{home}/approval")
            with waiting_app(settings) as waiting:
                take(opened, waiting, "approval", Shot(approve, height=1000))


def take(opened: Browser, address: str, name: str, shot: Shot) -> None:
    context = opened.new_context(
        locale=shot.language,
        color_scheme="dark" if shot.theme == "dark" else "light",
        viewport={"width": shot.width, "height": shot.height},
    )
    screen = Screen(context.new_page(), address)
    screen.open()
    shot.scene(screen)
    screen.page.mouse.move(0, 0)
    screen.page.wait_for_timeout(400)
    screen.page.screenshot(path=IMAGES / f"{name}.png")
    context.close()


if __name__ == "__main__":
    main()
