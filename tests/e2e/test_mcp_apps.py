"""Views of MCP Apps in the page: ours, and one that tries to escape from its frame."""

import ast
import json
import sys
from pathlib import Path

import pytest
from playwright.sync_api import expect
from tests.app.processes import http_server
from tests.e2e.conftest import OpenScreen
from tests.e2e.test_mcp_client import NARROW, ROOT, ask, served
from tests.fakes import patient
from tests.fakes.model_server import Use, say, use
from tests.fakes.n8n import KEY, FakeN8n
from tests.fakes.openai_server import OpenAIServer
from tests.n8n.test_api import FLOW

pytestmark = pytest.mark.req("AG-11")

REFUSED = (
    *("cookies", "parent", "storage", "database", "fetch", "image", "popup", "top", "eval"),
    *("socket", "worker", "remote", "frame", "inner"),
)


def test_view_of_another_server_cannot_escape_and_its_calls_are_approved(
    open_screen: OpenScreen, monkeypatch: pytest.MonkeyPatch, home: Path, tmp_path: Path
) -> None:
    notes = tmp_path / "found"
    entry = {"command": sys.executable, "args": ["-m", "tests.fakes.views", str(notes)], "cwd": str(ROOT)}
    script = [use(Use("show")), say("Here.")]
    with served(monkeypatch, home, {"evil": entry}, *script) as url:
        screen = open_screen("/", at=url, locale="ja", viewport=NARROW)
        requests: list[str] = []
        screen.page.on("request", lambda request: requests.append(request.url))
        ask(screen, "見せて")
        screen.wait_for_end()
        expect(screen.page.locator("iframe")).to_have_count(0)
        screen.button("ビューを表示").press("Enter")
        frame = screen.page.frame_locator("iframe")
        expect(frame.locator("#said")).to_have_text("tried everything")
        found = ast.literal_eval(notes.read_text(encoding="utf-8"))
        assert (found["origin"], found["picture"]) == ("null", "image")
        assert {name: found[name] for name in REFUSED if not found[name].startswith("refused")} == {}
        assert {name: json.loads(found[name])["code"] for name in ("other", "hidden", "script")} == {
            "other": -32000,
            "hidden": -32000,
            "script": -32000,
        }
        assert screen.page.url.startswith(url), "the view did not navigate the page"
        assert screen.script("document.documentElement.scrollWidth") <= NARROW["width"]
        for decision, outcome in (
            ("許可しない", "The user did not approve this call."),
            ("今回だけ許可", "wiped everything"),
        ):
            frame.locator("#wipe").click()
            question = screen.page.get_by_role("region", name="evil のビューが次のツールの実行を求めています： wipe")
            expect(question).to_contain_text("everything")
            screen.button(decision, question).press("Enter")
            expect(frame.locator("#said")).to_have_text(outcome)
        alone = patient.get(f"{url}/api/mcp/servers/evil/view", params={"uri": "ui://evil/view.html"})
        policy = alone.headers["content-security-policy"]
        assert "sandbox allow-scripts" in policy
        assert "connect-src https://api.example.test;" in policy
        plain = patient.get(f"{url}/api/mcp/servers/evil/view", params={"uri": "ui://evil/plain.html"})
        assert plain.status_code == 404, "not a view"
        frame.locator("#leave").click()
        expect(frame.locator("#said")).to_have_count(0)
        assert [sent for sent in requests if "escaped" in sent] == [], "neither its form nor its frame goes elsewhere"
        screen.browser_errors.clear()  # the browser has reported what the view was refused


def test_our_own_view_shows_what_was_found(open_screen: OpenScreen, monkeypatch: pytest.MonkeyPatch) -> None:
    search = use(Use("search_knowledge", json.dumps({"query": "nginx"})))
    with OpenAIServer(search, say("Found.")) as model:
        monkeypatch.setenv("OPENAI_BASE_URL", model.base_url)
        with http_server("chie", "serve") as url:
            patient.post(f"{url}/api/knowledge", json={"content": "nginx has worker_connections", "title": "Limits"})
            screen = open_screen("/", at=url)
            screen.choose_agent("Assistant")
            screen.ask("nginx?")
            screen.wait_for_end()
            screen.button("Show view").press("Enter")
            frame = screen.page.frame_locator("iframe")
            expect(frame.locator("main")).to_contain_text("Limits")
            screen.page.emulate_media(color_scheme="dark")
            expect(frame.locator("body")).to_have_css("background-color", "rgb(27, 26, 31)")
            screen.page.emulate_media(color_scheme="light")
            expect(frame.locator("body")).to_have_css("background-color", "rgb(255, 255, 255)")
            screen.button("Hide view").press("Enter")
            expect(screen.page.locator("iframe")).to_have_count(0)


def test_graph_of_a_workflow_shows_the_settings_of_a_node(
    open_screen: OpenScreen, monkeypatch: pytest.MonkeyPatch
) -> None:
    with FakeN8n(2) as n8n, OpenAIServer() as model:
        flow = n8n.add_workflow(**FLOW)
        model.script.extend([use(Use("get_workflow_connections", json.dumps({"id": flow["id"]}))), say("Drawn.")])
        for name, value in {"OPENAI_BASE_URL": model.base_url, "N8N_URL": n8n.url, "N8N_API_KEY": KEY}.items():
            monkeypatch.setenv(name, value)
        with http_server("chie", "serve") as url:
            screen = open_screen("/", at=url, locale="ja", viewport=NARROW)
            screen.choose_agent("アシスタント")
            screen.ask("ワークフローを見せて")
            screen.wait_for_end()
            screen.button("ビューを表示").press("Enter")
            frame = screen.page.frame_locator("iframe")
            expect(frame.locator(".node")).to_have_count(len(FLOW["nodes"]))
            frame.locator('[data-node="整形"] rect').press("Enter")
            frame.locator(".details").get_by_role("button", name="設定を表示").click()
            expect(frame.locator(".details pre")).to_be_visible()
            assert screen.script("document.documentElement.scrollWidth") <= NARROW["width"]
