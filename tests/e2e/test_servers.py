"""The servers page, the Bedrock panel and the setup page, in a real browser."""

from collections.abc import Iterator

import pytest
from playwright.sync_api import expect
from tests.app.processes import http_server
from tests.bedrock_kb.conftest import KB_ID, MODEL_ARN
from tests.e2e.app_process import app_process
from tests.e2e.conftest import OpenScreen
from tests.e2e.test_accessibility import serious_findings
from tests.e2e.test_typing import ORDERS, confirm_conversion
from tests.fakes import patient
from tests.fakes.bedrock import ANSWER, Bedrock
from tests.fakes.bedrock import serving as serve_bedrock

NARROW = {"width": 360, "height": 740}


@pytest.fixture(scope="module")
def bedrock() -> Iterator[Bedrock]:
    with serve_bedrock() as bedrock:
        yield bedrock


@pytest.fixture(scope="module")
def configured(bedrock: Bedrock, tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """An app with a Bedrock knowledge base, and an unreachable model server."""
    with pytest.MonkeyPatch.context() as environment:
        environment.setenv("BEDROCK_KB_ID", KB_ID)
        environment.setenv("BEDROCK_MODEL_ARN", MODEL_ARN)
        environment.setenv("AWS_ENDPOINT_URL_BEDROCK_AGENT_RUNTIME", bedrock.url)
        environment.setenv("AWS_ACCESS_KEY_ID", "AKIAEXAMPLE")
        environment.setenv("AWS_SECRET_ACCESS_KEY", "secret")
        environment.setenv("OPENAI_BASE_URL", "http://127.0.0.1:9/v1")
        with app_process(tmp_path_factory.mktemp("configured")) as (address, _):
            yield address


def test_every_server_shows_its_state_its_reason_and_its_tools(open_screen: OpenScreen) -> None:
    screen = open_screen("/#/servers")
    servers = screen.page.locator(".sv-server")
    knowledge = servers.filter(has_text="knowledge").first
    expect(knowledge).to_be_visible()
    knowledge.locator("summary").click()
    expect(knowledge.get_by_text("search_knowledge", exact=True)).to_be_visible()
    expect(servers.filter(has_text="n8n").first).to_contain_text("not configured: N8N_URL, N8N_API_KEY")


def test_unreachable_server_shows_its_error_and_can_be_reconnected(open_screen: OpenScreen) -> None:
    screen = open_screen("/#/servers", locale="ja")
    failed = screen.page.locator(".sv-server").filter(has_text="応答なし")
    expect(failed).to_contain_text("mcp-server-time is not installed.")
    screen.page.get_by_role("button", name="再接続: time").click()
    expect(screen.page.locator(".toast")).to_contain_text("プログラム mcp-server-time が見つかりません")


def test_an_assistants_snippet_is_copied(open_screen: OpenScreen, address: str) -> None:
    screen = open_screen("/#/servers", locale="ja")
    screen.button("Cursor").click()
    expect(screen.page.get_by_text("~/.cursor/mcp.json")).to_be_visible()
    screen.page.get_by_role("button", name="コピー: Cursor").click()
    expect(screen.page.get_by_role("button", name="コピーしました: Cursor")).to_be_visible()
    copied = screen.script("navigator.clipboard.readText()")
    assert f"{address}/mcp/knowledge" in copied
    for host in ("Claude Code", "Claude Desktop", "Kiro", "Codex", "Gemini"):
        screen.button(host).click()
        expect(screen.page.locator(".snippet code").first).to_contain_text("knowledge")


def test_bedrock_panel_names_missing_settings_or_answers_a_test_question(
    open_screen: OpenScreen, configured: str
) -> None:
    screen = open_screen("/#/servers")
    expect(screen.page.locator("section").filter(has_text="Bedrock knowledge base")).to_contain_text(
        "not configured: BEDROCK_KB_ID, BEDROCK_MODEL_ARN"
    )
    screen = open_screen("/#/servers", at=configured, locale="ja")
    screen.page.get_by_label("テスト用の質問").fill("再起動の手順は？")
    screen.page.get_by_label("テスト用の質問").press("Enter")
    expect(screen.page.get_by_text(ANSWER)).to_be_visible()
    screen.page.get_by_text("出典 (").click()
    expect(screen.page.get_by_text("s3://docs/runbook.md")).to_be_visible()


def test_enter_that_confirms_a_conversion_asks_nothing(
    open_screen: OpenScreen, configured: str, bedrock: Bedrock
) -> None:
    screen = open_screen("/#/servers", at=configured, locale="ja")
    field = screen.page.get_by_label("テスト用の質問")
    field.fill("さいきどう")
    asked = len(bedrock.calls)
    for order in ORDERS:
        confirm_conversion(field, order)
        expect(screen.button("質問する")).to_be_enabled()
        assert len(bedrock.calls) == asked, order
    screen.button("質問する").click()
    expect(screen.page.get_by_text(ANSWER)).to_be_visible()
    assert sorted(bedrock.operations[asked:]) == ["Retrieve", "RetrieveAndGenerate"]


def test_setup_shows_every_endpoint_and_tests_it(open_screen: OpenScreen, configured: str) -> None:
    screen = open_screen("/#/setup", at=configured, locale="ja")
    page = screen.page
    for name in ("LM Studio", "Ollama", "OpenAI", "Anthropic", "Amazon Bedrock", "OpenAI 互換サーバー"):
        expect(page.get_by_role("heading", name=name, exact=True)).to_be_visible()
    page.get_by_role("button", name="テスト: OpenAI 互換サーバー").click()
    expect(page.get_by_text("http://127.0.0.1:9/v1 が応答しません")).to_be_visible()
    page.get_by_role("button", name="テスト: Anthropic").click()
    expect(page.get_by_text("ANTHROPIC_API_KEY を設定して Chie を再起動してください")).to_be_visible()


def test_missing_package_comes_with_its_install_command(open_screen: OpenScreen, configured: str) -> None:
    """As after a plain `pip install chie`, which installs no plug-in."""
    setup = patient.get(f"{configured}/api/setup").json()
    for endpoint in setup["endpoints"]:
        if endpoint["id"] == "anthropic":
            endpoint |= {"state": "configured", "install": "pip install chie-agent-adk"}
    screen = open_screen("/", at=configured, locale="ja")
    screen.page.route("**/api/setup", lambda route: route.fulfill(json=setup))
    screen.page.goto(f"{configured}/#/setup")
    card = screen.page.locator(".su-endpoint").filter(has_text="Anthropic")
    expect(card.get_by_text("pip install chie-agent-adk")).to_be_visible()
    expect(card.get_by_text("必要なパッケージがインストールされていません。")).to_be_visible()


@pytest.mark.req("CH-15")
def test_without_a_model_the_notes_agent_answers_and_a_card_offers_endpoints(
    open_screen: OpenScreen, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OPENAI_BASE_URL", "http://127.0.0.1:9/v1")
    with http_server("chie", "serve") as real:
        patient.post(f"{real}/api/knowledge/samples").raise_for_status()
        screen = open_screen("/", at=real, locale="ja")
        card = screen.page.locator(".su-first")
        expect(card).to_contain_text("モデルサーバー http://127.0.0.1:9/v1 が応答しません")
        card.get_by_role("button", name="テスト: OpenAI 互換サーバー").click()
        expect(card).to_contain_text("http://127.0.0.1:9/v1 が応答しません")
        screen.ask("Docker のディスクが一杯")
        screen.wait_for_end()
        expect(screen.answer).to_contain_text("ビルドサーバーのディスクが Docker で一杯になる")
        screen.page.wait_for_load_state("networkidle")  # the code of the answer is still being coloured


def test_sample_notes_are_offered_and_added_once(open_screen: OpenScreen) -> None:
    screen = open_screen("/#/setup")
    screen.button("Add sample notes").click()
    expect(screen.page.get_by_text("Sample notes added.")).to_be_visible()
    screen.page.get_by_role("link", name="View notes").click()
    expect(screen.page.locator(".kn-item")).to_have_count(10)


@pytest.mark.parametrize("theme", ["light", "dark"])
@pytest.mark.parametrize("path", ["/#/servers", "/#/setup"])
def test_axe_finds_nothing_serious_and_nothing_is_cut_off(open_screen: OpenScreen, path: str, theme: str) -> None:
    screen = open_screen(path, color_scheme=theme, bypass_csp=True, viewport=NARROW, locale="ja")
    expect(screen.page.locator("h3").first).to_be_visible()
    for summary in screen.page.locator("summary").all():
        summary.click()
    assert serious_findings(screen) == []
    assert screen.script("document.documentElement.scrollWidth") <= NARROW["width"]
