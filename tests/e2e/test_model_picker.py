"""Choosing the model of a conversation on the page, and states that follow the model server."""

from collections.abc import Iterator
from contextlib import ExitStack

import pytest
from playwright.sync_api import Locator, expect
from tests.app.processes import http_server
from tests.e2e.conftest import OpenScreen
from tests.e2e.screen import Screen
from tests.e2e.test_accessibility import serious_findings
from tests.fakes.model_server import say
from tests.fakes.openai_server import OpenAIServer

pytestmark = pytest.mark.req("AG-5")

MODELS = ("gpt-4o", "text-embedding-3-small", "o3", "/models/日本語-7b.gguf")


@pytest.fixture
def model(monkeypatch: pytest.MonkeyPatch) -> Iterator[OpenAIServer]:
    with OpenAIServer(models=MODELS) as server:
        server.script.extend([say("はい"), say("yes"), say("again")])
        monkeypatch.setenv("OPENAI_BASE_URL", server.base_url)
        yield server


def model_button(screen: Screen) -> Locator:
    return screen.page.locator(".model-button")


def open_picker(screen: Screen) -> Locator:
    """The search field, once the models are listed."""
    expect(model_button(screen)).to_be_visible()
    model_button(screen).click()
    expect(
        screen.page.get_by_role("option", name="日本語-7b").or_(screen.page.get_by_role("option", name="o3")).first
    ).to_be_visible()
    return screen.page.locator(".model-picker .palette-input")


@pytest.mark.parametrize(
    ("locale", "theme", "width", "label", "agents_own"),
    [
        ("en", "light", 1280, "Model", "Agent's default (gpt-4o)"),
        ("ja", "dark", 360, "モデル", "エージェントの既定（gpt-4o）"),
    ],
)
def test_model_is_chosen_by_keyboard_and_answers(
    open_screen: OpenScreen, model: OpenAIServer, locale: str, theme: str, width: int, label: str, agents_own: str
) -> None:
    with http_server("chie", "serve") as url:
        viewport = {"width": width, "height": 740}
        screen = open_screen("/", at=url, locale=locale, color_scheme=theme, viewport=viewport, bypass_csp=True)
        expect(model_button(screen)).to_have_accessible_name(f"{label}: gpt-4o")
        field = open_picker(screen)
        options = screen.page.get_by_role("option")
        expect(options).to_have_text([agents_own, "gpt-4o", "o3", "日本語-7b"])
        assert serious_findings(screen) == []
        fits = "() => document.documentElement.scrollWidth <= innerWidth"
        assert screen.script(fits)
        field.fill("日本")
        expect(options).to_have_count(1)
        field.press("Enter")
        expect(screen.page.locator(".model-picker")).to_have_count(0)
        expect(model_button(screen)).to_have_accessible_name(f"{label}: 日本語-7b")
        screen.ask("こんにちは")
        screen.wait_for_end()
        expect(screen.answer.locator(".model-used")).to_have_text("日本語-7b")
        assert model.seen[0]["model"] == "/models/日本語-7b.gguf"
        screen.page.reload()  # the conversation keeps its model
        expect(model_button(screen)).to_have_accessible_name(f"{label}: 日本語-7b")
        screen.open("/#/chat")  # and a new one starts with it
        expect(model_button(screen)).to_have_accessible_name(f"{label}: 日本語-7b")


def test_parameters_are_those_of_the_model(open_screen: OpenScreen, model: OpenAIServer) -> None:
    with http_server("chie", "serve") as url:
        screen = open_screen("/", at=url)
        open_picker(screen)
        temperature = screen.page.get_by_label("Temperature")
        temperature.fill("0.3")
        screen.page.get_by_label("Maximum length (tokens)").fill("77")
        screen.page.keyboard.press("Escape")
        expect(screen.page.locator(".model-picker")).to_have_count(0)
        screen.ask("one")
        screen.wait_for_end()
        assert (model.seen[0]["temperature"], model.seen[0]["max_tokens"]) == (0.3, 77)
        open_picker(screen).fill("o3")
        expect(screen.page.get_by_role("option")).to_have_count(1)
        screen.page.keyboard.press("Enter")
        expect(screen.page.locator(".model-picker")).to_have_count(0)
        open_picker(screen)
        expect(temperature).to_have_count(0)
        screen.page.get_by_label("Reasoning effort").select_option("high")
        screen.page.keyboard.press("Escape")
        expect(screen.page.locator(".model-picker")).to_have_count(0)
        screen.ask("two")
        expect(screen.answers).to_have_count(2)
        screen.wait_for_end()
        sent = model.seen[1]
        assert (sent["model"], sent["reasoning_effort"], sent["max_tokens"]) == ("o3", "high", 77)
        assert "temperature" not in sent


@pytest.mark.usefixtures("model")
def test_favourites_come_first(open_screen: OpenScreen) -> None:
    with http_server("chie", "serve") as url:
        screen = open_screen("/", at=url)
        open_picker(screen)
        screen.page.locator(".model-star").nth(1).click()
        favourites = screen.page.get_by_role("group", name="Favourites")
        expect(favourites.get_by_role("option")).to_contain_text(["o3"])
        screen.page.reload()
        open_picker(screen)
        expect(favourites.get_by_role("option")).to_contain_text(["o3"])


def test_dot_follows_the_model_server(open_screen: OpenScreen, monkeypatch: pytest.MonkeyPatch) -> None:
    with ExitStack() as running:
        server = running.enter_context(OpenAIServer(models=("gpt-4o", "o3")))
        monkeypatch.setenv("OPENAI_BASE_URL", server.base_url)
        with http_server("chie", "serve") as url:
            screen = open_screen("/", at=url)
            open_picker(screen).fill("o3")
            expect(screen.page.get_by_role("option")).to_have_count(1)
            screen.page.keyboard.press("Enter")
            dot = model_button(screen).locator(".agent-dot")
            expect(dot).to_have_class("agent-dot ")
            running.close()
            expect(dot).to_have_class("agent-dot off")
            expect(model_button(screen)).to_have_accessible_name("Model: o3 (not available)")
            running.enter_context(server)
            expect(dot).to_have_class("agent-dot ")


@pytest.mark.usefixtures("model")
def test_suggestion_fits_the_agent(open_screen: OpenScreen) -> None:
    with http_server("chie", "serve") as url:
        screen = open_screen("/", at=url)
        idea = screen.page.locator("button.idea")
        expect(idea).to_have_text("What do our notes say about outages?")
        screen.choose_agent("Chat")
        expect(idea).to_have_text("Help me write a polite reply to a customer.")


def test_heading_says_that_the_named_server_does_not_respond(
    open_screen: OpenScreen, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OPENAI_BASE_URL", "http://127.0.0.1:9/v1")
    with http_server("chie", "serve") as url:
        screen = open_screen("/", at=url)
        expect(screen.page.locator("#su-first")).to_contain_text("http://127.0.0.1:9/v1 does not respond")


@pytest.mark.parametrize(
    ("locale", "heading", "reason"),
    [
        ("en", "The model endpoint can't be used", "“Work” in Settings"),
        ("ja", "モデルの接続先を利用できません", "「Work」の"),
    ],
)
def test_endpoint_that_fails_is_not_called_missing(
    open_screen: OpenScreen, monkeypatch: pytest.MonkeyPatch, locale: str, heading: str, reason: str
) -> None:
    monkeypatch.setenv("CHIE_MODEL_HOST", "127.0.0.2")
    with http_server("chie", "serve") as url:
        screen = open_screen("/", at=url, locale=locale)
        card = screen.page.locator(".su-first")
        expect(card).to_be_visible()
        body = {"kind": "openai", "name": "Work", "url": "http://127.0.0.1:9/v1"}
        added = screen.page.request.post(f"{url}/api/endpoints", data=body, headers={"Origin": url})
        assert added.status == 201
        screen.page.reload()
        expect(card.get_by_role("heading")).to_have_text(heading)
        expect(card).to_contain_text(reason)
        card.get_by_role("link").click()
        expect(screen.page.get_by_role("heading", level=1)).to_have_text("Settings" if locale == "en" else "設定")


@pytest.mark.parametrize("locale", ["en", "ja"])
def test_name_of_the_model_can_be_read_on_a_narrow_screen(
    open_screen: OpenScreen, model: OpenAIServer, locale: str
) -> None:
    assert model.models[0] == "gpt-4o"
    with http_server("chie", "serve") as url:
        screen = open_screen("/", at=url, locale=locale, viewport={"width": 360, "height": 740})
        name = model_button(screen).locator(".ellipsis")
        expect(name).to_have_text("gpt-4o")
        assert name.evaluate("(it) => it.scrollWidth <= it.clientWidth")
