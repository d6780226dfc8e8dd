"""What a person does on the page, in a person's words."""

import re
from typing import Any

from playwright.sync_api import ConsoleMessage, Locator, Page, expect

LOST = re.compile(r"ERR_(CONNECTION|EMPTY_RESPONSE|INTERNET|INCOMPLETE|ABORTED|NETWORK|SOCKET)|Failed to load resource")


class Screen:
    def __init__(self, page: Page, address: str) -> None:
        self.page = page
        self.address = address
        self.complaints: list[str] = []
        page.on("pageerror", lambda error: self.complaints.append(str(error)))
        page.on("console", self._hear)

    def _hear(self, message: ConsoleMessage) -> None:
        """A connection that a test cuts is told by the browser; everything else that it tells is a fault of ours."""
        if message.type in ("error", "warning") and not LOST.search(message.text):
            self.complaints.append(message.text)

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
        """Two frames: whatever a key or an event sets off at once has been drawn by then."""
        self.script("() => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))")
