"""The page object of the end-to-end tests."""

import re
from typing import Any

from playwright.sync_api import ConsoleMessage, Locator, Page, expect

NETWORK_ERROR = re.compile(
    r"ERR_(CONNECTION|EMPTY_RESPONSE|INTERNET|INCOMPLETE|ABORTED|NETWORK|SOCKET)|Failed to load resource"
)


class Screen:
    def __init__(self, page: Page, address: str) -> None:
        self.page = page
        self.address = address
        self.browser_errors: list[str] = []
        page.on("pageerror", lambda error: self.browser_errors.append(str(error)))
        page.on("console", self._on_console)

    def _on_console(self, message: ConsoleMessage) -> None:
        """Every error and warning is a bug, except for the connections that tests break."""
        if message.type in ("error", "warning") and not NETWORK_ERROR.search(message.text):
            self.browser_errors.append(message.text)

    def open(self, path: str = "/") -> None:
        self.page.goto(f"{self.address}{path}")

    @property
    def field(self) -> Locator:
        return self.page.locator("#message")

    @property
    def answers(self) -> Locator:
        return self.page.locator("article.assistant")

    @property
    def answer(self) -> Locator:
        return self.answers.last

    def choose_agent(self, name: str) -> None:
        self.page.locator(".agent-button").click()
        self.page.get_by_role("menuitemcheckbox", name=name).click()

    def ask(self, text: str) -> None:
        self.field.fill(text)
        self.field.press("Enter")

    def wait_for_end(self) -> None:
        expect(self.answer).to_have_attribute("aria-busy", "false")

    def button(self, name: str, within: Locator | None = None) -> Locator:
        return (within or self.page).get_by_role("button", name=name, exact=True)

    def script(self, code: str, argument: object = None) -> Any:
        return self.page.evaluate(code, argument)

    def settle(self) -> None:
        """Wait two frames, after which the effects of an event are rendered."""
        self.script("() => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))")
