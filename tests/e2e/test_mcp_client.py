"""What MCP servers ask of the page: the app's own agent, a model server on loopback and real MCP servers."""

import json
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from time import monotonic, sleep

import pytest
from playwright.sync_api import expect
from tests.app.processes import http_server
from tests.e2e.conftest import OpenScreen
from tests.e2e.screen import Screen
from tests.e2e.test_accessibility import serious_findings
from tests.fakes import patient
from tests.fakes.model_server import Step, Use, say, use
from tests.fakes.oauth_mcp import OAuthMcp
from tests.fakes.openai_server import OpenAIServer

ROOT = Path(__file__).parents[2]
NARROW = {"width": 360, "height": 740}
CONNECT_SECONDS = 120.0


@contextmanager
def served(
    monkeypatch: pytest.MonkeyPatch, home: Path, servers: Mapping[str, Mapping[str, object]], *script: Step
) -> Iterator[str]:
    """The app with these servers and an agent that uses them all; its model follows the script."""
    home.mkdir(exist_ok=True)
    (home / "servers.json").write_text(json.dumps(servers), encoding="utf-8")
    agent = {"id": "tester", "kind": "openai", "name": "Tester", "servers": list(servers)}
    (home / "agents.json").write_text(json.dumps([agent]), encoding="utf-8")
    with OpenAIServer(*script) as model:
        monkeypatch.setenv("OPENAI_BASE_URL", model.base_url)
        with http_server("chie", "serve") as url:
            connect_programs(url, [name for name, entry in servers.items() if "command" in entry])
            yield url


def connect_programs(url: str, names: list[str]) -> None:
    """Wait for programs that start slowly: a run goes on without the tools of a server that takes too long."""
    for name in names:
        patient.post(f"{url}/api/mcp/servers/{name}/reconnect")
    deadline = monotonic() + CONNECT_SECONDS
    while monotonic() < deadline:
        states = {one["name"]: one["state"] for one in patient.get(f"{url}/api/mcp/servers").json()["servers"]}
        if all(states[name] == "connected" for name in names):
            return
        sleep(0.2)
    raise TimeoutError(names)


def ask(screen: Screen, text: str) -> None:
    screen.choose_agent("Tester")
    screen.ask(text)


def peer(**more: object) -> dict[str, object]:
    return {"command": sys.executable, "args": ["-m", "tests.fakes.peer", "modern"], "cwd": str(ROOT), **more}


def test_changed_tool_asks_again_until_it_is_accepted(
    open_screen: OpenScreen, monkeypatch: pytest.MonkeyPatch, home: Path
) -> None:
    erase = [use(Use("erase")), say("Erased.")]
    script = [*erase, use(Use("reword")), say("Reworded."), *erase, *erase, *erase]
    with served(monkeypatch, home, {"peer": peer(autoApprove=["erase"])}, *script) as url:
        screen = open_screen("/", at=url, locale="ja", viewport=NARROW)
        ask(screen, "消して")
        screen.wait_for_end()
        ask(screen, "説明を変えて")
        expect(screen.answer).to_contain_text("Reworded.")
        ask(screen, "もう一度消して")
        question = screen.page.locator(".approval")
        expect(question).to_contain_text("承認されたときから、説明、引数、または注釈が変わっています。")
        assert screen.script("document.documentElement.scrollWidth") <= NARROW["width"]
        question.get_by_role("button", name="このツールを常に許可").press("Enter")
        expect(screen.answers).to_have_count(3)
        screen.wait_for_end()
        ask(screen, "また消して")
        expect(screen.answers).to_have_count(4)
        screen.wait_for_end()
        screen.open("/#/servers")
        screen.page.get_by_role("button", name="変更を承認: peer").press("Enter")
        expect(screen.page.get_by_text("変更を承認しました。")).to_be_visible()
        expect(screen.page.get_by_text("承認後に変更されたツール")).to_have_count(0)
        other = open_screen("/", at=url)
        ask(other, "erase again")
        other.wait_for_end()
        expect(other.answer).to_contain_text("Erased.")


@pytest.mark.req("AG-10")
@pytest.mark.parametrize(
    ("locale", "connect", "disconnect", "connected"),
    [("ja", "接続する", "接続を解除", "接続済み"), ("en", "Connect", "Disconnect", "Connected")],
)
def test_user_logs_in_at_a_remote_server_uses_it_and_logs_out(
    open_screen: OpenScreen,
    monkeypatch: pytest.MonkeyPatch,
    home: Path,
    locale: str,
    connect: str,
    disconnect: str,
    connected: str,
) -> None:
    script = [use(Use("open_vault")), say("Open.")]
    with OAuthMcp() as vault, served(monkeypatch, home, {"vault": {"url": vault.url}}, *script) as url:
        screen = open_screen("/#/servers", at=url, locale=locale, viewport=NARROW, bypass_csp=True)
        card = screen.page.locator(".sv-server").filter(has_text="vault")
        card.get_by_role("button", name="vault").first.press("Enter")  # the server is idle until it is first used
        button = screen.page.get_by_role("button", name=f"{connect}: vault", exact=True)
        expect(card).to_contain_text("Login" if locale == "en" else "ログインが必要")
        assert serious_findings(screen) == []
        assert screen.script("document.documentElement.scrollWidth") <= NARROW["width"]
        button.first.press("Enter")
        expect(screen.page.get_by_role("button", name=f"{disconnect}: vault")).to_be_visible()
        assert screen.page.url == f"{url}/#/servers", "the code is not in the history"
        expect(card.locator(".sv-state")).to_have_text(connected)
        screen.open("/#/chat")
        ask(screen, "open it")
        screen.wait_for_end()
        summary = screen.answer.locator("details.tool summary")
        summary.press("Enter")
        expect(screen.answer.locator("details.tool")).to_contain_text("vault of ")
        screen.open("/#/servers")
        screen.page.get_by_role("button", name=f"{disconnect}: vault").press("Enter")
        expect(card.locator(".sv-state")).to_contain_text("Login" if locale == "en" else "ログイン")


def asking_server(era: str) -> dict[str, object]:
    args = ["-m", "tests.fakes.asking", era]
    return {"command": sys.executable, "args": args, "cwd": str(ROOT), "timeout": 60}


@pytest.mark.req("AG-10")
def test_form_of_a_server_is_filled_in_after_a_reload(
    open_screen: OpenScreen, monkeypatch: pytest.MonkeyPatch, home: Path
) -> None:
    script = [use(Use("deploy")), say("Deployed."), use(Use("slow")), say("Slept.")]
    with served(monkeypatch, home, {"asking": asking_server("legacy")}, *script) as url:
        screen = open_screen("/", at=url, locale="ja", viewport=NARROW, bypass_csp=True)
        ask(screen, "デプロイして")
        form = screen.page.get_by_role("region", name="asking からの質問")
        expect(form).to_contain_text("Deploy what? どれを？")
        screen.page.reload()
        expect(form).to_contain_text("Deploy what? どれを？")
        assert serious_findings(screen) == []
        assert screen.script("document.documentElement.scrollWidth") <= NARROW["width"]
        form.get_by_role("button", name="送信").press("Enter")
        expect(form).to_be_visible()  # the branch is required
        name = form.get_by_label("Branch / ブランチ")
        name.fill("メイン")
        expect(form.get_by_label("Replicas")).to_have_value("2")
        form.get_by_label("Notify the team").press("Space")
        form.get_by_label("Stage").select_option("live")
        name.press("Enter")
        expect(form).to_have_count(0)
        screen.wait_for_end()
        screen.answer.locator("details.tool summary").press("Enter")
        card = screen.answer.locator("details.tool")
        expect(card).to_contain_text("[('count', 2), ('name', 'メイン'), ('stage', 'live'), ('sure', True)]")
        ask(screen, "ゆっくり")
        expect(screen.answers).to_have_count(2)
        screen.wait_for_end()
        screen.answer.locator("details.tool summary").press("Enter")
        expect(screen.answer.locator("details.tool")).to_contain_text("ログの一行")


@pytest.mark.req("AG-10")
def test_url_and_sampling_need_the_users_consent(
    open_screen: OpenScreen, monkeypatch: pytest.MonkeyPatch, home: Path
) -> None:
    script = [use(Use("pay")), say("Paid."), use(Use("think")), say("four"), say("It is four.")]
    with served(monkeypatch, home, {"asking": asking_server("modern")}, *script) as url:
        screen = open_screen("/", at=url)
        ask(screen, "pay")
        form = screen.page.get_by_role("region", name="asking asks you")
        expect(form).to_contain_text("Leads to pay.example.test.")
        link = form.get_by_role("link", name="Open the page")
        assert link.get_attribute("rel") == "noopener noreferrer"
        form.get_by_role("button", name="Decline").press("Enter")
        expect(screen.answer).to_contain_text("Paid.")
        ask(screen, "think")
        consent = screen.page.get_by_role("region", name="asking wants to ask the model")
        expect(consent).to_contain_text("user: 2 + 2 = ?")
        consent.get_by_role("button", name="Allow").press("Enter")
        expect(screen.answer).to_contain_text("It is four.")
