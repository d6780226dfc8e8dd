"""The prompt library: saving, using with variables, sharing, importing and exporting prompts."""

import json
from pathlib import Path

import pytest
from playwright.sync_api import FilePayload, expect
from tests.e2e.conftest import OpenScreen
from tests.e2e.screen import Screen
from tests.e2e.test_accessibility import serious_findings
from tests.fakes import patient

NARROW = {"width": 360, "height": 740}

TEXTS = {
    "en": {"new": "New prompt", "name": "Name", "text": "Text", "save": "Save", "insert": "Insert",
           "list": "Prompts", "asks": "Asks for: who, tone (polite / casual)", "share": "Share with the team",
           "shared": "Shared", "remove": "Delete “{}”", "undo": "Undo", "edit": "Edit “{}”", "use": "Use “{}”",
           "keep": "Save as prompt"},
    "ja": {"new": "プロンプトを作成", "name": "名前", "text": "本文", "save": "保存", "insert": "挿入",
           "list": "プロンプト", "asks": "入力する項目：who, tone (polite / casual)", "share": "チームで共有する",
           "shared": "共有中", "remove": "「{}」を削除", "undo": "元に戻す", "edit": "「{}」を編集",
           "use": "「{}」を使う", "keep": "プロンプトとして保存"},
}  # fmt: skip


def add(screen: Screen, name: str, text: str) -> None:
    assert patient.post(f"{screen.address}/api/prompts", json={"name": name, "text": text}).status_code == 201


FOCUS_WHEN_CLOSED = """() => new MutationObserver(() => {
    if (!document.querySelector("dialog")) window.focused ??= document.activeElement.ariaLabel;
}).observe(document.body, { childList: true, subtree: true })"""


@pytest.mark.req("AG-12")
@pytest.mark.parametrize("language", ["en", "ja"])
def test_prompt_is_written_shared_changed_and_deleted(open_screen: OpenScreen, language: str) -> None:
    t, name = TEXTS[language], f"Reply {language} 返信"
    screen = open_screen("/#/prompts", locale=language, viewport=NARROW, bypass_csp=True)
    page = screen.page
    expect(page.get_by_role("heading", level=1)).to_have_text(t["list"])
    screen.button(t["new"]).click()
    dialog = page.get_by_role("dialog")
    expect(dialog.get_by_label(t["name"], exact=True)).to_be_focused()
    page.keyboard.type(name)
    page.keyboard.press("Tab")
    page.keyboard.type("Write to {{who}}, {{tone=polite|casual}}.")
    expect(dialog).to_contain_text(t["asks"])
    dialog.get_by_label(t["share"]).check()
    assert serious_findings(screen) == []
    page.keyboard.press("Control+Enter")
    entry = page.locator(".pr-row").filter(has_text=name)
    expect(entry).to_contain_text(t["shared"])
    expect(dialog).to_have_count(0)
    assert serious_findings(screen) == []
    assert screen.script("() => document.documentElement.scrollWidth") == NARROW["width"]
    screen.button(t["edit"].format(name)).click()
    page.get_by_role("dialog").get_by_label(t["text"], exact=True).fill("短い本文")
    screen.button(t["save"]).click()
    expect(entry).to_contain_text("短い本文")
    screen.button(t["remove"].format(name)).click()
    expect(entry).to_have_count(0)
    screen.button(t["undo"]).last.click()
    expect(entry).to_be_visible()
    screen.button(t["use"].format(name)).click()
    expect(screen.field).to_have_value("短い本文")
    screen.field.fill("")


@pytest.mark.req("AG-12")
@pytest.mark.parametrize("language", ["en", "ja"])
def test_saved_prompt_is_inserted_with_its_variables_and_edited_before_it_is_sent(
    open_screen: OpenScreen, language: str
) -> None:
    t, name = TEXTS[language], f"下書き {language}"
    screen = open_screen(locale=language, viewport=NARROW)
    add(screen, name, "{{相手}}さんへ、{{口調=丁寧|カジュアル}}に。Bis {{today}}, {{相手}}.")
    screen.choose_agent("Echo")  # which has no MCP servers
    screen.field.press_sequentially("/下書き")
    options = screen.page.get_by_role("listbox", name=t["list"])
    expect(options.get_by_role("option").filter(has_text=name)).to_be_visible()
    while name not in (options.get_by_role("option", selected=True).text_content() or ""):
        screen.page.keyboard.press("ArrowDown")
    screen.page.keyboard.press("Enter")
    dialog = screen.page.get_by_role("dialog", name=name)
    expect(dialog.get_by_label("相手")).to_be_focused()
    expect(dialog.get_by_label("口調")).to_have_value("丁寧")
    expect(screen.button(t["insert"])).to_be_disabled()
    screen.page.keyboard.type("佐藤")
    dialog.get_by_label("口調").select_option("カジュアル")
    screen.button(t["insert"]).click()
    today = screen.script(
        "() => { const d = new Date(); const two = (n) => String(n).padStart(2, '0');"
        "return `${d.getFullYear()}-${two(d.getMonth() + 1)}-${two(d.getDate())}`; }"
    )
    expect(screen.field).to_have_value(f"佐藤さんへ、カジュアルに。Bis {today}, 佐藤.")
    expect(screen.field).to_be_focused()
    screen.page.keyboard.type(" よろしく")
    screen.page.keyboard.press("Enter")
    screen.wait_for_end()
    expect(screen.page.locator("article.user")).to_contain_text("カジュアルに。")
    expect(screen.page.locator("article.user")).to_contain_text("よろしく")


@pytest.mark.req("AG-12")
@pytest.mark.parametrize("language", ["en", "ja"])
def test_question_is_saved_as_a_prompt(open_screen: OpenScreen, language: str) -> None:
    t, question = TEXTS[language], f"Summarise the outage of {language}"
    screen = open_screen(locale=language)
    screen.choose_agent("Echo")
    screen.ask(question)
    screen.wait_for_end()
    # The question gets the id that the server has given it a moment after the answer has ended.
    expect(screen.page.locator(".messages-item[data-message^=local-]")).to_have_count(0)
    screen.page.locator("article.user").hover()
    screen.button(t["keep"]).click()
    dialog = screen.page.get_by_role("dialog")
    expect(dialog.get_by_label(t["name"], exact=True)).to_have_value(question)
    expect(dialog.get_by_label(t["text"], exact=True)).to_have_value(question)
    screen.page.evaluate(FOCUS_WHEN_CLOSED)
    screen.button(t["save"]).click()
    expect(dialog).to_have_count(0)
    assert screen.page.evaluate("() => window.focused") == t["keep"], "or it would be taken from the field later"
    screen.field.press_sequentially("/Summarise")
    expect(screen.page.get_by_role("option").filter(has_text=question)).to_be_visible()
    screen.field.fill("")
    expect(screen.answer).to_contain_text(question)
    assert screen.answer.get_by_role("button", name=t["keep"]).count() == 0


@pytest.mark.req("AG-12")
def test_prompts_are_exported_and_imported(screen: Screen, tmp_path: Path) -> None:
    add(screen, "exported prompt", "text of the export")
    screen.open("/#/prompts")
    expect(screen.page.locator(".pr-row").filter(has_text="exported prompt")).to_be_visible()
    screen.button("Import and export").click()
    with screen.page.expect_download() as download:
        screen.page.get_by_role("menuitem", name="Export my prompts").click()
    download.value.save_as(tmp_path / "prompts.json")
    exported = json.loads((tmp_path / "prompts.json").read_text(encoding="utf-8"))
    picker = screen.page.locator("input[type=file]")
    exported["prompts"] = [one for one in exported["prompts"] if one["name"] == "exported prompt"]
    exported["prompts"].append({"name": "持ち込み", "text": "本文", "shared": False})
    content = json.dumps(exported).encode()
    picker.set_input_files([FilePayload(name="prompts.json", mimeType="application/json", buffer=content)])
    expect(screen.page.locator(".toast").last).to_contain_text("1 prompt was imported, 1 already there.")
    expect(screen.page.locator(".pr-row").filter(has_text="持ち込み")).to_be_visible()
    picker.set_input_files([FilePayload(name="x.json", mimeType="application/json", buffer=b"no json")])
    expect(screen.page.locator(".toast").last).to_contain_text("This is not a file of exported prompts.")


@pytest.mark.req("AG-12")
@pytest.mark.parametrize("theme", ["light", "dark"])
def test_axe_finds_nothing_on_the_prompts_page(open_screen: OpenScreen, theme: str) -> None:
    screen = open_screen("/#/prompts", color_scheme=theme, bypass_csp=True)
    add(screen, f"axe {theme}", "for {{who}}")
    screen.page.reload()
    expect(screen.page.locator(".pr-row").filter(has_text=f"axe {theme}")).to_be_visible()
    assert serious_findings(screen) == []
    screen.button(f"Use “axe {theme}”").click()
    expect(screen.page.get_by_role("dialog").get_by_label("who")).to_be_focused()
    assert serious_findings(screen) == []
