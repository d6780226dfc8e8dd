"""The title that a model writes appears on the page without a reload."""

import pytest
from playwright.sync_api import expect
from tests.app.processes import http_server
from tests.e2e.conftest import OpenScreen
from tests.fakes.model_server import say
from tests.fakes.openai_server import OpenAIServer


@pytest.mark.parametrize(
    ("locale", "question", "title"),
    [
        ("ja-JP", "VPN の中で DNS が引けません。", "VPN 内の DNS 障害"),
        ("en-US", "Why does DNS fail?", "DNS behind a VPN"),
    ],
)
def test_title_appears_after_the_first_answer(
    open_screen: OpenScreen, monkeypatch: pytest.MonkeyPatch, locale: str, question: str, title: str
) -> None:
    with OpenAIServer(say("はい。")) as model:
        model.titles.append(say(title))
        monkeypatch.setenv("OPENAI_BASE_URL", model.base_url)
        with http_server("chie", "serve") as url:
            screen = open_screen("/", at=url, locale=locale)
            screen.ask(question)
            screen.wait_for_end()
            expect(screen.page.get_by_role("link", name=title)).to_be_visible()
            expect(screen.page).to_have_title(f"{title} · Chie")
