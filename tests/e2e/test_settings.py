"""The settings page in a real browser: endpoints and MCP servers are added, tested, used, changed and removed."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Locator, expect
from tests.app.processes import http_server
from tests.e2e.conftest import OpenScreen
from tests.e2e.screen import Screen
from tests.e2e.test_accessibility import serious_findings
from tests.e2e.test_sign_in import sign_in
from tests.fakes import patient
from tests.fakes.mcp_over_http import McpOverHttp
from tests.fakes.model_server import Refuse, say
from tests.fakes.openai_server import OpenAIServer

from chie.access.users import UserFile

pytestmark = pytest.mark.req("AG-5")

KEY = "sk-zanzibar-0123456789"
NARROW = {"width": 360, "height": 740}


@pytest.fixture
def url(monkeypatch: pytest.MonkeyPatch) -> Iterator[str]:
    """The real app, with no model on this machine and a variable of Anthropic's."""
    monkeypatch.setenv("CHIE_MODEL_HOST", "127.0.0.2")
    monkeypatch.setenv("ANTHROPIC_API_KEY", "sk-ant-zanzibar")
    with http_server("chie", "serve") as url:
        yield url


def dialog(screen: Screen) -> Locator:
    return screen.page.get_by_role("dialog")


def entry(screen: Screen, name: str) -> Locator:
    return screen.page.locator(".st-entry").filter(has=screen.page.get_by_role("heading", name=name, exact=True))


def test_endpoint_is_tested_added_and_used_at_once(open_screen: OpenScreen, url: str) -> None:
    with OpenAIServer(Refuse(401, f"Incorrect API key provided: {KEY}"), say("ok"), say("Hello there")) as model:
        screen = open_screen("/#/settings", at=url)
        page = screen.page
        expect(entry(screen, "Anthropic")).to_contain_text("Set in the environment")
        expect(entry(screen, "Anthropic")).to_contain_text("ANTHROPIC_API_KEY")
        screen.button("Add endpoint").click()
        form = dialog(screen)
        form.get_by_label("Name").fill("Work")
        form.get_by_label("URL").fill(model.base_url)
        form.get_by_label("API key").fill(KEY)
        form.get_by_role("button", name="Test").click()
        expect(form.get_by_role("alert")).to_contain_text("rejected the API key")
        expect(form.get_by_role("alert")).to_be_in_viewport(ratio=1)  # the form is longer than the screen
        form.get_by_role("button", name="Test").click()
        expect(form.get_by_role("status")).to_contain_text("Connected. 2 models available")
        expect(form.get_by_role("status")).to_be_in_viewport(ratio=1)
        form.get_by_role("button", name="Add", exact=True).click()
        expect(form).to_be_hidden()
        expect(entry(screen, "Work")).to_contain_text("Key saved")
        assert KEY not in page.content()
        assert all(agent["available"] for agent in patient.get(f"{url}/api/agents").json()["agents"][:2])
        screen.open("/#/setup")  # which says the same
        expect(page.get_by_text("A model is ready.")).to_be_visible()
        expect(page.locator(".su-endpoint").first).to_contain_text("Work")
        screen.open("/#/chat")
        screen.choose_agent("Chat")
        screen.ask("Hi")
        screen.wait_for_end()
        expect(screen.answer).to_contain_text("Hello there")
    assert all(headers["authorization"] == f"Bearer {KEY}" for headers in model.headers)


def test_key_stays_when_the_name_changes_and_removal_asks_first(open_screen: OpenScreen, url: str) -> None:
    body = {"kind": "openai", "name": "仕事", "url": "http://127.0.0.1:9/v1", "api_key": KEY}
    added = patient.post(f"{url}/api/endpoints", json=body).json()
    screen = open_screen("/#/settings", at=url, locale="ja")
    screen.button("編集: 仕事").click()
    form = dialog(screen)
    expect(form.get_by_label("API キー")).to_have_value("")
    expect(form).to_contain_text("保存済みです。")
    form.get_by_label("名前").fill("社内")
    form.get_by_role("button", name="保存").click()
    expect(form).to_be_hidden()
    expect(entry(screen, "社内")).to_contain_text("キー保存済み")
    listed = {one["id"]: one for one in patient.get(f"{url}/api/endpoints").json()["endpoints"]}
    assert listed[added["id"]]["key"] == "set"
    screen.button("テスト: 社内").click()
    expect(entry(screen, "社内").get_by_role("alert")).to_contain_text("モデルサーバーが応答しません")
    screen.button("削除: 社内").click()
    removal = entry(screen, "社内").get_by_role("alert").filter(has_text="削除しますか")
    expect(removal).to_be_visible()
    expect(screen.button("キャンセル")).to_be_focused()
    entry(screen, "社内").get_by_role("button", name="削除", exact=True).click()
    expect(entry(screen, "社内")).to_have_count(0)


def test_mcp_server_is_added_with_a_token_and_its_tools_are_listed(open_screen: OpenScreen, url: str) -> None:
    with McpOverHttp(stateless=True) as far:
        screen = open_screen("/#/settings", at=url)
        screen.button("Add server").click()
        form = dialog(screen)
        form.get_by_label("Name").fill("far")
        form.get_by_label("URL").fill(far.url)
        form.get_by_label("Access token").fill(KEY)
        form.get_by_role("button", name="Add header").click()
        form.get_by_label("Header", exact=True).fill("X-Team")
        form.get_by_label("Value", exact=True).fill("aki-and-ben")
        form.get_by_role("button", name="Test").click()
        expect(form.get_by_role("status")).to_contain_text("3 tools available")
        form.get_by_role("button", name="Add", exact=True).click()
        expect(form).to_be_hidden()
        expect(entry(screen, "far")).to_contain_text("Authorization: ••••")
        assert KEY not in screen.page.content()
        screen.open("/#/servers")
        screen.button("Connect: far").click()
        expect(screen.page.locator(".sv-server").filter(has_text="far")).to_contain_text("3 tools")
        screen.open("/#/settings")
        screen.button("Edit: far").click()
        dialog(screen).get_by_label("Ask for approval before every call").check()
        dialog(screen).get_by_role("button", name="Save").click()
        expect(entry(screen, "far")).to_contain_text("Ask for approval before every call")
    listed = {one["name"]: one for one in patient.get(f"{url}/api/mcp/servers").json()["servers"]}
    assert listed["far"]["added"]["headers"] == ["Authorization", "X-Team"], "a change keeps them"


def test_setup_leads_to_the_settings(open_screen: OpenScreen, url: str) -> None:
    screen = open_screen("/#/setup", at=url, locale="ja")
    card = screen.page.locator(".su-endpoint").filter(has_text="Amazon Bedrock")
    card.get_by_text("接続方法").click()
    expect(card).not_to_contain_text(".env")
    card.get_by_role("link", name="設定を開く: Amazon Bedrock").click()
    form = dialog(screen)
    expect(form.get_by_label("Amazon Bedrock")).to_be_checked()
    form.get_by_label("認証情報").select_option(label="アクセスキー")
    expect(form.get_by_label("シークレットアクセスキー")).to_be_visible()


@pytest.mark.parametrize(
    ("locale", "texts"),
    [
        ("en", ("Token", "Sign in", "No model found yet", "The model endpoint can't be used", "Ask an admin to")),
        ("ja", ("トークン", "サインイン", "モデルがまだ見つかりません", "モデルの接続先を利用できません", "管理者に")),
    ],
)
def test_only_an_admin_is_told_to_connect_a_model(
    open_screen: OpenScreen, monkeypatch: pytest.MonkeyPatch, home_folder: Path, locale: str, texts: tuple[str, ...]
) -> None:
    label, button, none, failing, ask = texts
    monkeypatch.setenv("CHIE_MODEL_HOST", "127.0.0.2")
    monkeypatch.setenv("CHIE_USERS_FILE", str(home_folder / "users.json"))
    users = UserFile(home_folder / "users.json")
    admin, token = users.add("root", admin=True), users.add("ben")
    with http_server("chie", "serve") as url:
        screen = open_screen("/", at=url, locale=locale)
        sign_in(screen, token, label=label, button=button)
        card = screen.page.locator(".su-first")
        expect(card).to_contain_text(none)
        expect(card).to_contain_text(ask)
        expect(card.get_by_role("button").or_(card.get_by_role("link"))).to_have_count(0)
        body = {"kind": "openai", "name": "Work", "url": "http://127.0.0.1:9/v1"}
        patient.post(f"{url}/api/endpoints", json=body, headers={"Authorization": f"Bearer {admin}"})
        screen.page.reload()
        expect(card).to_contain_text(failing)
        expect(card).to_contain_text(ask)
        screen.open("/#/setup")
        how = screen.page.locator(".su-endpoint").filter(has_text="Amazon Bedrock")
        how.locator("summary").click()
        expect(how).to_contain_text(ask)


@pytest.mark.parametrize(("locale", "theme"), [("ja", "dark"), ("en", "light")])
def test_page_is_accessible_and_fits_a_narrow_screen(
    open_screen: OpenScreen, url: str, locale: str, theme: str
) -> None:
    patient.post(f"{url}/api/endpoints", json={"kind": "openai", "name": "Work", "api_key": KEY})
    patient.post(f"{url}/api/mcp/servers", json={"name": "far", "url": "http://127.0.0.1:9/mcp"})
    screen = open_screen("/#/settings", at=url, locale=locale, color_scheme=theme, viewport=NARROW, bypass_csp=True)
    page = screen.page
    expect(entry(screen, "Work")).to_be_visible()
    expect(entry(screen, "far")).to_be_visible()
    assert serious_findings(screen) == []
    assert page.evaluate("document.documentElement.scrollWidth") <= NARROW["width"]
    for name in {"ja": ("接続先を追加", "サーバーを追加")}.get(locale) or ("Add endpoint", "Add server"):
        button = screen.button(name)
        button.focus()
        page.keyboard.press("Enter")
        expect(dialog(screen)).to_be_visible()
        assert serious_findings(screen) == []
        assert page.evaluate("document.querySelector('dialog').scrollWidth") <= NARROW["width"]
        page.keyboard.press("Escape")
        expect(dialog(screen)).to_be_hidden()
        expect(button).to_be_focused()
