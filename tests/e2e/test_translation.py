"""Server messages on the Japanese page: no English sentence of ours is left."""

import json
import re
from collections.abc import Iterator

import pytest
from playwright.sync_api import FilePayload, Locator, expect
from tests.app.processes import http_server
from tests.e2e.conftest import OpenScreen
from tests.e2e.screen import Screen
from tests.fakes import patient

from chie.messages.catalogue import Language, Message

ENGLISH = re.compile(r"\b[A-Za-z']+,? [a-z']{2,} [a-z']{2,}\b")
WATCH = """() => {
  window.steps = [];
  new MutationObserver(() => {
    const shown = document.querySelector(".kn-progress + span")?.textContent;
    if (shown && window.steps.at(-1) !== shown) window.steps.push(shown);
  }).observe(document.body, { subtree: true, childList: true, characterData: true });
}"""
UNREACHABLE = "http://127.0.0.1:9/v1"


@pytest.fixture(scope="module")
def address(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """A real app without n8n, with an unreachable model and an MCP server that cannot be started."""
    home = tmp_path_factory.mktemp("home")
    servers = {"clock": {"command": "chie-no-such-program"}}
    (home / "servers.json").write_text(json.dumps({"mcpServers": servers}), encoding="utf-8")
    with pytest.MonkeyPatch.context() as environment:
        environment.setenv("CHIE_HOME", str(home))
        environment.setenv("OPENAI_BASE_URL", UNREACHABLE)
        environment.delenv("N8N_URL", raising=False)
        with http_server("chie", "serve") as address:
            patient.post(f"{address}/api/knowledge", json={"content": "最初のメモ"}).raise_for_status()
            yield address


def expect_japanese(element: Locator, *words: str) -> None:
    for word in words:
        expect(element).to_contain_text(word)
    assert ENGLISH.findall(element.inner_text()) == []


def shown(message: Message, language: Language = "ja") -> str:
    """The text as the page renders it, with code elements in place of backticks."""
    return message.text(language).replace("`", "")


def japanese(open_screen: OpenScreen, path: str) -> Screen:
    return open_screen(path, locale="ja")


@pytest.mark.req("CH-15")
def test_failed_answer_shows_the_reason(open_screen: OpenScreen, address: str) -> None:
    body = {"message": "こんにちは", "agent_id": "default-chat"}
    session = patient.post(f"{address}/api/chat/stream", json=body).headers["X-Chie-Session"]
    screen = japanese(open_screen, f"/#/chat/{session}")
    reason = Message(
        "models.local_server_unreachable", url=UNREACHABLE, error="ConnectError", setting="OPENAI_BASE_URL"
    )
    expect_japanese(screen.answer, shown(reason))
    screen.button("言語").click()
    screen.page.get_by_role("menuitemcheckbox", name="English").click()
    expect(screen.answer).to_contain_text(shown(reason, "en"))
    screen.button("Language").click()
    screen.page.get_by_role("menuitemcheckbox", name="日本語").click()
    expect_japanese(screen.answer, shown(reason))


def test_unavailable_agent_shows_the_reason(open_screen: OpenScreen) -> None:
    screen = japanese(open_screen, "/")
    screen.page.locator(".agent-button").click()
    notes = Message("agents.notes_description")
    expect_japanese(screen.page.get_by_role("menu"), shown(notes), "利用できません: ", "OPENAI_BASE_URL")


def test_missing_things_are_reported(open_screen: OpenScreen) -> None:
    screen = japanese(open_screen, "/#/chat/no-such-session")
    expect_japanese(screen.page.locator(".chat-body"), "この会話は見つかりません。")
    screen = japanese(open_screen, "/#/knowledge/k-0000000000000000")
    expect_japanese(screen.page.locator(".kn-detail"), shown(Message("knowledge.note_not_found")))


def test_unconfigured_servers_name_their_settings(open_screen: OpenScreen) -> None:
    n8n = shown(Message("n8n.not_configured", variables=["N8N_URL", "N8N_API_KEY"]))
    bedrock = shown(Message("bedrock_kb.not_configured", variables=["BEDROCK_KB_ID", "BEDROCK_MODEL_ARN"]))
    screen = japanese(open_screen, "/#/workflows")
    expect_japanese(screen.page.locator("#main"), n8n)
    screen = japanese(open_screen, "/#/servers")
    expect_japanese(screen.page.locator("section[aria-labelledby=sv-tool-servers]"), n8n, bedrock)
    expect_japanese(screen.page.locator("section[aria-labelledby=sv-bedrock]"), bedrock)


def test_server_that_cannot_start_shows_what_to_fix(open_screen: OpenScreen) -> None:
    screen = japanese(open_screen, "/#/servers")
    screen.page.get_by_role("button", name="接続: clock").click()
    error = shown(Message("toolbox.program_not_found", command="chie-no-such-program"))
    expect_japanese(screen.page.locator(".toast"), error)
    expect_japanese(screen.page.locator(".sv-server").filter(has_text="clock"), error)


def test_failed_endpoint_test_shows_the_reason(open_screen: OpenScreen) -> None:
    screen = japanese(open_screen, "/#/setup")
    for name in ("OpenAI 互換サーバー", "Anthropic"):
        screen.page.get_by_role("button", name=f"テスト: {name}").click()
    endpoint = Message("setup.openai_compatible_server")
    unreachable = Message("setup.local_endpoint_unreachable", url=UNREACHABLE, error="ConnectError", name=endpoint)
    missing = Message("setup.endpoint_not_configured", variables=["ANTHROPIC_API_KEY"])
    expect_japanese(
        screen.page.locator(".su-page"), shown(unreachable).replace(" を起動し", "を起動し"), shown(missing)
    )


def test_rejected_note_shows_the_reason(open_screen: OpenScreen) -> None:
    screen = japanese(open_screen, "/#/knowledge")
    screen.page.get_by_role("button", name="新しいメモ").first.click()
    dialog = screen.page.get_by_role("dialog")
    dialog.get_by_label("本文", exact=True).last.fill("長" * 200_001)
    screen.button("保存", dialog).click()
    reason = Message("knowledge.content_too_long", length=200_001, limit=200_000)
    expect(dialog.get_by_role("alert")).to_have_text(shown(reason))


def test_rejected_files_show_their_reasons(open_screen: OpenScreen) -> None:
    screen = japanese(open_screen, "/#/knowledge")
    screen.page.get_by_role("button", name="インポートとエクスポート").first.click()
    screen.page.get_by_role("menuitem", name="インポート").click()
    dialog = screen.page.get_by_role("dialog")
    dialog.locator("input[type=file]").set_input_files(
        [
            FilePayload(name="broken.zip", mimeType="application/zip", buffer=b"no zip"),
            FilePayload(name="latin.md", mimeType="text/markdown", buffer="Ärger".encode("latin-1")),
        ]
    )
    unreadable = Message("knowledge.zip_unreadable", error="BadZipFile")
    expect_japanese(dialog, shown(unreadable), shown(Message("knowledge.file_encoding_unknown")))


def test_catalogue_is_loaded_only_in_japanese(open_screen: OpenScreen) -> None:
    loaded = "performance.getEntriesByType('resource').filter(({ name }) => name.includes('ja-messages')).length"
    screen = open_screen("/#/servers")
    n8n = Message("n8n.not_configured", variables=["N8N_URL", "N8N_API_KEY"])
    expect(screen.page.get_by_text(shown(n8n, "en")).first).to_be_visible()
    assert screen.script(loaded) == 0
    screen.button("Language").click()
    screen.page.get_by_role("menuitemcheckbox", name="日本語").click()
    expect(screen.page.get_by_text(shown(n8n)).first).to_be_visible()
    assert screen.script(loaded) == 1


def test_long_import_shows_its_progress(open_screen: OpenScreen) -> None:
    screen = japanese(open_screen, "/#/knowledge")
    screen.page.get_by_role("button", name="インポートとエクスポート").first.click()
    screen.page.get_by_role("menuitem", name="インポート").click()
    dialog = screen.page.get_by_role("dialog")
    screen.page.evaluate(WATCH)
    files = [
        FilePayload(name=f"note-{n}.md", mimeType="text/markdown", buffer=f"# メモ {n}\n\n内容 {n}".encode())
        for n in range(45)
    ]
    dialog.locator("input[type=file]").set_input_files(files)
    expect(dialog).to_contain_text("45 件を保存しました（変更なし 0 件）。")
    assert screen.script("window.steps") == [f"45 ファイル中 {n} ファイル完了" for n in (0, 20, 40)]
