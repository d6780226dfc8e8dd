"""From the page to real MCP tools: the app's own agent, the OpenAI SDK and a model server on loopback."""

import json
import re
import subprocess
import sys
from pathlib import Path

import pytest
from playwright.sync_api import expect
from tests.app.processes import http_server
from tests.e2e.conftest import OpenScreen
from tests.fakes import patient
from tests.fakes.model_server import Use, say, use
from tests.fakes.openai_server import OpenAIServer

NOTE = "nginx の接続数は worker_connections で決まる"


@pytest.mark.req("CH-3", "CH-8", "CH-15")
def test_model_uses_our_own_server_over_mcp(open_screen: OpenScreen, monkeypatch: pytest.MonkeyPatch) -> None:
    search = use(Use("search_knowledge", json.dumps({"query": "接続数"})), text="調べます。")
    with OpenAIServer(search, say("`worker_connections` です [1]。")) as model:
        monkeypatch.setenv("OPENAI_BASE_URL", model.base_url)
        with http_server("chie", "serve") as url:
            note = patient.post(f"{url}/api/knowledge", json={"content": NOTE}).json()
            screen = open_screen("/", at=url, locale="ja")
            screen.choose_agent("アシスタント")
            screen.ask("接続数の設定は？")
            screen.wait_for_end()
            card = screen.answer.locator("details.tool")
            expect(card).to_contain_text("search_knowledge")
            card.locator("summary").click()
            expect(card.locator("pre").last).to_contain_text(NOTE)
            expect(screen.answer).to_contain_text("worker_connections です")
    (_, result), *_ = model.results(model.seen[1])
    assert note["id"] in result, "the model has read what the tool found"
    assert "search_knowledge" in model.tools(model.seen[0])


@pytest.mark.req("AG-7")
@pytest.mark.parametrize(
    ("locale", "agent", "sources", "found", "open_note"),
    [
        ("en", "Assistant", "Sources", "Also found, not cited (1)", "Open note"),
        ("ja", "アシスタント", "出典", "ほかに見つかったもの（1 件、引用なし）", "メモを開く"),
    ],
)
def test_only_what_was_cited_is_a_source(
    open_screen: OpenScreen,
    monkeypatch: pytest.MonkeyPatch,
    locale: str,
    agent: str,
    sources: str,
    found: str,
    open_note: str,
) -> None:
    search = use(Use("search_knowledge", json.dumps({"query": "nginx の接続数"})))
    with OpenAIServer(search, say("Settings [1]: `worker_connections`.")) as model:
        monkeypatch.setenv("OPENAI_BASE_URL", model.base_url)
        with http_server("chie", "serve") as url:
            for content in (f"{NOTE}。\n\n- **events** に書く", "nginx の接続数の上限は ulimit でも決まる"):
                patient.post(f"{url}/api/knowledge", json={"content": content})
            screen = open_screen("/", at=url, locale=locale)
            screen.choose_agent(agent)
            screen.ask("接続数の設定は？")
            screen.wait_for_end()
            answer = screen.answer
            expect(answer.get_by_role("region", name=sources).get_by_role("button")).to_have_count(1)
            expect(answer.locator(".sources-found summary")).to_have_text(found)
            answer.locator(".markdown .source-chip").click()
            card = answer.get_by_role("dialog")
            expect(card).to_be_visible()
            title = card.locator("b").first.inner_text()
            card.get_by_role("link", name=open_note).click()
            expect(screen.page.get_by_role("heading", name=title)).to_be_visible()


@pytest.mark.req("CH-2-2")
@pytest.mark.parametrize(
    ("locale", "agent", "cost"),
    [
        ("en", "Assistant", r"tools: about \d,\d00 tokens with every question"),
        ("ja", "アシスタント", r"ツール: 質問ごとに約 \d,\d00 トークン"),
    ],
)
def test_page_selects_the_assistant_and_says_what_its_tools_cost(
    open_screen: OpenScreen, monkeypatch: pytest.MonkeyPatch, locale: str, agent: str, cost: str
) -> None:
    with OpenAIServer() as model:
        monkeypatch.setenv("OPENAI_BASE_URL", model.base_url)
        with http_server("chie", "serve") as url:
            screen = open_screen("/", at=url, locale=locale)
            button = screen.page.locator(".agent-button")
            expect(button).to_contain_text(agent)
            expect(button).to_have_attribute("title", re.compile(cost))
            button.click()
            menu = screen.page.get_by_role("menu")
            expect(menu.get_by_role("menuitemcheckbox", checked=True)).to_contain_text(re.compile(cost))
            expect(menu.get_by_text(re.compile(cost))).to_have_count(1)


@pytest.mark.req("CH-3", "CH-7", "CH-15")
def test_model_uses_a_reference_server_over_stdio(
    open_screen: OpenScreen, monkeypatch: pytest.MonkeyPatch, home: Path
) -> None:
    home.mkdir()
    entry = {"command": sys.executable, "args": ["-m", "mcp_server_time"], "autoApprove": ["*"]}
    (home / "servers.json").write_text(json.dumps({"time": entry}), encoding="utf-8")
    agent = {"id": "clock", "kind": "openai", "name": "Clock", "servers": ["time"]}
    (home / "agents.json").write_text(json.dumps([agent]), encoding="utf-8")
    call = use(Use("get_current_time", json.dumps({"timezone": "Asia/Tokyo"})))
    with OpenAIServer(call, say("It is late.")) as model:
        monkeypatch.setenv("OPENAI_BASE_URL", model.base_url)
        with http_server("chie", "serve") as url:
            screen = open_screen("/", at=url)
            screen.choose_agent("Clock")
            screen.ask("What time is it in Tokyo?")
            screen.wait_for_end()
            card = screen.answer.locator("details.tool")
            card.locator("summary").click()
            expect(card.locator("pre").last).to_contain_text("Asia/Tokyo")
            expect(screen.answer).to_contain_text("It is late.")
    assert "Asia/Tokyo" in model.results(model.seen[1])[0][1]


WITH_OLLAMA_AT = """
import subprocess
import sys
from chie.setup import local_servers
local_servers.LM_STUDIO, local_servers.OLLAMA = "http://127.0.0.1:9/v1", sys.argv[1]
from chie.cli import main
main(["serve", "--port", "0"])
"""


def test_card_disappears_when_ollama_is_started(open_screen: OpenScreen) -> None:
    """Chie runs already; nobody restarts it or reloads the page."""
    with OpenAIServer(say("Ollama です。"), models=("qwen3:8b",)) as ollama:
        address = ollama.base_url
    command = [sys.executable, "-c", WITH_OLLAMA_AT, address]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        try:
            assert process.stdout
            url = next(word for word in process.stdout.readline().split() if word.startswith("http://"))
            screen = open_screen("/", at=url, locale="ja")
            card = screen.page.locator(".su-first")
            expect(card).to_contain_text("モデルがまだ見つかりません")
            with ollama:
                expect(card).to_have_count(0)
                screen.ask("どのモデル？")
                screen.wait_for_end()
                expect(screen.answer).to_contain_text("Ollama です。")
        finally:
            process.terminate()
