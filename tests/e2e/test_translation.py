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


def japanese(open_screen: OpenScreen, path: str) -> Screen:
    return open_screen(path, locale="ja")


@pytest.mark.req("CH-15")
def test_failed_answer_shows_the_reason(open_screen: OpenScreen, address: str) -> None:
    body = {"message": "こんにちは", "agent_id": "default-chat"}
    session = patient.post(f"{address}/api/chat/stream", json=body).headers["X-Chie-Session"]
    screen = japanese(open_screen, f"/#/chat/{session}")
    expect_japanese(screen.answer, f"{UNREACHABLE} のモデルサーバーが応答しません（", "Developer → Start Server")
    screen.button("言語").click()
    screen.page.get_by_role("menuitemcheckbox", name="English").click()
    expect(screen.answer).to_contain_text(f"No model server answers at {UNREACHABLE} (")
    screen.button("Language").click()
    screen.page.get_by_role("menuitemcheckbox", name="日本語").click()
    expect_japanese(screen.answer, f"{UNREACHABLE} のモデルサーバーが応答しません（")


def test_unavailable_agent_shows_the_reason(open_screen: OpenScreen) -> None:
    screen = japanese(open_screen, "/")
    screen.page.locator(".agent-button").click()
    expect_japanese(
        screen.page.get_by_role("menu"), "質問に合うチームのメモを引用します。", "利用できません: ", "OPENAI_BASE_URL"
    )


def test_missing_things_are_reported(open_screen: OpenScreen) -> None:
    screen = japanese(open_screen, "/#/chat/no-such-session")
    expect_japanese(screen.page.locator(".chat-body"), "この会話は見つかりません。")
    screen = japanese(open_screen, "/#/knowledge/k-0000000000000000")
    expect_japanese(screen.page.locator(".kn-detail"), "この ID のメモはありません。")


def test_unconfigured_servers_name_their_settings(open_screen: OpenScreen) -> None:
    screen = japanese(open_screen, "/#/workflows")
    expect_japanese(screen.page.locator("#main"), "未設定です：N8N_URL, N8N_API_KEY")
    screen = japanese(open_screen, "/#/servers")
    expect_japanese(screen.page.locator("section[aria-labelledby=sv-tool-servers]"), "未設定です：N8N_URL, N8N_API_KEY")
    expect_japanese(
        screen.page.locator("section[aria-labelledby=sv-bedrock]"), "未設定です：BEDROCK_KB_ID, BEDROCK_MODEL_ARN"
    )


def test_server_that_cannot_start_shows_what_to_fix(open_screen: OpenScreen) -> None:
    screen = japanese(open_screen, "/#/servers")
    screen.page.get_by_role("button", name="接続: clock").click()
    error = "プログラム chie-no-such-program が見つかりません。インストールするか、"
    expect_japanese(screen.page.locator(".toast"), error)
    expect_japanese(screen.page.locator(".sv-server").filter(has_text="clock"), error)


def test_failed_endpoint_test_shows_the_reason(open_screen: OpenScreen) -> None:
    screen = japanese(open_screen, "/#/setup")
    for name in ("OpenAI 互換サーバー", "Anthropic"):
        screen.page.get_by_role("button", name=f"テスト: {name}").click()
    expect_japanese(
        screen.page.locator(".su-page"),
        f"{UNREACHABLE} が応答しません（ConnectError）。OpenAI 互換サーバーを起動し、もう一度テストしてください。",
        "先に ANTHROPIC_API_KEY を設定し、Chie を起動し直してください。",
    )


def test_rejected_note_shows_the_reason(open_screen: OpenScreen) -> None:
    screen = japanese(open_screen, "/#/knowledge")
    screen.page.get_by_role("button", name="新しいメモ").first.click()
    dialog = screen.page.get_by_role("dialog")
    dialog.get_by_label("本文", exact=True).last.fill("長" * 200_001)
    screen.button("保存", dialog).click()
    expect(dialog.get_by_role("alert")).to_have_text(
        "本文が長すぎます（200,001 文字、上限 200,000 文字）。いくつかのメモに分けてください。"
    )


def test_rejected_files_show_their_reasons(open_screen: OpenScreen) -> None:
    screen = japanese(open_screen, "/#/knowledge")
    screen.page.get_by_role("button", name="インポートとエクスポート").first.click()
    screen.page.get_by_role("menuitem", name="インポート").click()
    dialog = screen.page.get_by_role("dialog")
    dialog.locator("input[type=file]").set_input_files(
        [
            FilePayload(name="broken.zip", mimeType="application/zip", buffer=b"no zip"),
            FilePayload(name="latin.md", mimeType="text/markdown", buffer=b"\xff\xfe\xfa" * 20),
        ]
    )
    expect_japanese(
        dialog,
        "zip として読み込めません（BadZipFile）。圧縮し直してください。",
        "UTF-8 のテキストではありません。UTF-8 で保存し直してください。",
    )


def test_catalogue_is_loaded_only_in_japanese(open_screen: OpenScreen) -> None:
    loaded = "performance.getEntriesByType('resource').filter(({ name }) => name.includes('ja-messages')).length"
    screen = open_screen("/#/servers")
    expect(screen.page.get_by_text("not configured: N8N_URL").first).to_be_visible()
    assert screen.script(loaded) == 0
    screen.button("Language").click()
    screen.page.get_by_role("menuitemcheckbox", name="日本語").click()
    expect(screen.page.get_by_text("未設定です：N8N_URL").first).to_be_visible()
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
