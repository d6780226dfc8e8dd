"""The knowledge page in a real browser: search, read, write, undo, import, export and the map."""

import io
import re
import zipfile
from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import FilePayload, Locator, Position, expect
from tests.e2e.app_process import app_process
from tests.e2e.conftest import OpenScreen
from tests.e2e.screen import Screen
from tests.e2e.test_accessibility import serious_findings
from tests.e2e.test_typing import ORDERS
from tests.fakes import patient

PREVENTED = """(field, events) => {
  let prevented = false;
  for (const [name, more] of events) {
    const Kind = name === "keydown" ? KeyboardEvent : CompositionEvent;
    const sent = field.dispatchEvent(new Kind(name, { bubbles: true, cancelable: true, key: "Enter", ...more }));
    if (name === "keydown") prevented = !sent;
  }
  return prevented;
}"""
NARROW = {"width": 360, "height": 740}
MARGIN = 0.94  # the map leaves some around the outermost notes


@pytest.fixture(scope="module")
def address(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """An app for this module, with the sample notes."""
    with app_process(tmp_path_factory.mktemp("home")) as (address, _):
        patient.post(f"{address}/api/knowledge/samples").raise_for_status()
        yield address


@pytest.fixture
def empty_app(tmp_path: Path) -> Iterator[str]:
    with app_process(tmp_path / "empty") as (address, _):
        yield address


def search(screen: Screen, text: str) -> Locator:
    """The hits."""
    screen.page.locator("#main").get_by_role("combobox").fill(text)
    expect(screen.page).to_have_url(re.compile(r"[?&]q="))
    return screen.page.locator(".kn-item")


@pytest.mark.req("CH-15")
@pytest.mark.parametrize(
    ("locale", "words", "title", "mark"),
    [
        ("ja", "ディスクが一杯", "ビルドサーバーのディスクが Docker で一杯になる", "ディスク"),
        ("en", "upload refused", "nginx answers 413 to large uploads", "uploads"),
    ],
)
def test_a_search_as_you_type_shows_scores_and_why(
    open_screen: OpenScreen, locale: str, words: str, title: str, mark: str
) -> None:
    screen = open_screen("/#/knowledge", locale=locale)
    found = search(screen, words)
    expect(found.first.locator("strong")).to_have_text(title)
    expect(found.first.locator(".kn-score")).to_contain_text(re.compile(r"\d+"))
    expect(found.first.locator("mark").filter(has_text=mark).first).to_be_visible()
    found.first.click()
    expect(screen.page.get_by_role("heading", level=2, name=title)).to_be_visible()
    screen.page.reload()
    expect(screen.page.locator("#main").get_by_role("combobox")).to_have_value(words)
    expect(screen.page.get_by_role("heading", level=2, name=title)).to_be_visible()


def test_nothing_found_says_so(open_screen: OpenScreen) -> None:
    screen = open_screen("/#/knowledge", locale="ja")
    search(screen, "qzx8841 wvut9930")
    expect(screen.page.get_by_text("該当するメモはまだありません")).to_be_visible()


def test_notes_are_browsed_by_tag(open_screen: OpenScreen) -> None:
    screen = open_screen("/#/knowledge")
    screen.page.get_by_role("navigation", name="Tags").get_by_role("link", name="#nginx 2").click()
    expect(screen.page.locator(".kn-item")).to_have_count(2)
    screen.page.locator(".kn-item").first.click()
    expect(screen.page.get_by_text("Related notes")).to_be_visible()
    expect(screen.page.locator(".kn-facts")).to_contain_text("chie")


def test_a_note_is_written_previewed_changed_deleted_and_brought_back(open_screen: OpenScreen) -> None:
    screen = open_screen("/#/knowledge", locale="ja")
    page = screen.page
    screen.button("新しいメモ").click()
    page.get_by_label("タイトル").fill("太字の確認")
    page.get_by_role("textbox", name="本文").fill("**重要。**次に進む\n\n| 列 | 値 |\n|---|---|\n| a | 1 |")
    page.get_by_role("textbox", name="タグ").fill("試験、表示")
    screen.button("プレビュー").click()
    expect(page.locator(".kn-preview strong")).to_have_text("重要。")
    expect(page.locator(".kn-preview td")).to_have_count(2)
    screen.button("保存").click()
    title = page.get_by_role("heading", level=2, name="太字の確認")
    expect(title).to_be_visible()
    expect(page.locator(".kn-about")).to_contain_text("#試験")
    expect(page.locator(".kn-about")).to_contain_text("人が書いたメモ")
    screen.button("編集").click()
    page.get_by_label("タイトル").fill("太字の再確認")
    screen.button("保存").click()
    expect(page.get_by_role("heading", level=2, name="太字の再確認")).to_be_visible()
    where = page.url
    screen.button("削除").click()
    expect(page.get_by_text("「太字の再確認」を削除しました。")).to_be_visible()
    expect(page.locator("#main")).to_be_focused()
    expect(page.locator(".kn-item").filter(has_text="太字の再確認")).to_have_count(0)
    screen.button("元に戻す").click()
    expect(page.get_by_role("heading", level=2, name="太字の再確認")).to_be_visible()
    assert page.url == where


def test_conflicting_change_is_rejected_and_nothing_is_lost(open_screen: OpenScreen, address: str) -> None:
    note = patient.post(f"{address}/api/knowledge", json={"content": "first words", "title": "Overtaken"}).json()
    screen = open_screen(f"/#/knowledge/{note['id']}")
    screen.button("Edit").click()
    patient.patch(f"{address}/api/knowledge/{note['id']}", json={"content": "their words"}).raise_for_status()
    screen.page.get_by_role("textbox", name="Text").fill("my words")
    screen.button("Save").click()
    expect(screen.page.get_by_role("alert")).to_contain_text("The note has changed since it was read")
    expect(screen.page.get_by_role("textbox", name="Text")).to_have_value("my words")


def test_conflicting_change_is_rejected_even_after_a_refetch(open_screen: OpenScreen, address: str) -> None:
    """Returning to the tab refetches the note behind the editor."""
    note = patient.post(f"{address}/api/knowledge", json={"content": "first words", "title": "Read again"}).json()
    screen = open_screen("/icon.svg")
    page = screen.page
    page.clock.install()
    screen.open(f"/#/knowledge/{note['id']}")
    screen.button("Edit").click()
    page.get_by_role("textbox", name="Text").fill("my words")
    patient.patch(f"{address}/api/knowledge/{note['id']}", json={"content": "their words"}).raise_for_status()
    page.clock.fast_forward("01:00")
    screen.script("() => dispatchEvent(new Event('visibilitychange'))")
    expect(page.locator(".kn-markdown")).to_have_text("their words")
    screen.button("Save").click()
    expect(page.get_by_role("alert")).to_contain_text("The note has changed since it was read")
    expect(page.get_by_role("textbox", name="Text")).to_have_value("my words")
    assert patient.get(f"{address}/api/knowledge/{note['id']}").json()["content"] == "their words"


def test_unsaved_note_is_discarded_only_after_a_confirmation(open_screen: OpenScreen) -> None:
    screen = open_screen("/#/knowledge", locale="ja")
    page = screen.page
    screen.button("新しいメモ").click()
    text = page.get_by_role("textbox", name="本文")
    text.fill("長い時間をかけて書いた文章")
    line, dialog = text.bounding_box(), page.get_by_role("dialog").bounding_box()
    assert line
    assert dialog
    page.mouse.move(line["x"] + 100, line["y"] + 15)
    page.mouse.down()
    page.mouse.move(dialog["x"] - 40, line["y"] + 15, steps=5)
    page.mouse.up()
    page.keyboard.press("Control+Shift+O")
    screen.settle()
    expect(page.get_by_text("変更を破棄しますか？")).to_have_count(0)
    for _ in range(3):
        page.keyboard.press("Escape")
        expect(page.get_by_text("変更を破棄しますか？")).to_be_visible()
    screen.button("編集に戻る").click()
    expect(text).to_have_value("長い時間をかけて書いた文章")
    page.mouse.click(dialog["x"] - 40, line["y"])
    screen.button("破棄する").click()
    expect(page.get_by_role("dialog")).to_have_count(0)
    screen.button("新しいメモ").click()
    expect(text).to_have_value("")
    page.keyboard.press("Escape")
    expect(page.get_by_role("dialog")).to_have_count(0)


def test_unsaved_note_survives_an_expired_session(open_screen: OpenScreen, address: str) -> None:
    note = patient.post(f"{address}/api/knowledge", json={"content": "first words", "title": "Signed out"}).json()
    screen = open_screen(f"/#/knowledge/{note['id']}")
    page = screen.page
    screen.button("Edit").click()
    page.get_by_role("textbox", name="Text").fill("my words")
    body = '{"detail": "Sign in."}'
    page.route(
        "**/api/knowledge/k-*",
        lambda route: route.fulfill(status=401, body=body) if route.request.method == "PATCH" else route.continue_(),
    )
    screen.button("Save").click()
    expect(page.get_by_role("heading", name="Sign in")).to_be_visible()
    page.unroute_all()
    page.reload()
    screen.button("Edit").click()
    expect(page.get_by_role("textbox", name="Text")).to_have_value("my words")
    screen.button("Save").click()
    expect(page.locator(".kn-markdown")).to_have_text("my words")
    screen.button("Edit").click()
    page.keyboard.press("Escape")
    expect(page.get_by_role("dialog")).to_have_count(0)


def test_note_never_becomes_html(open_screen: OpenScreen, address: str) -> None:
    content = "<img src=x onerror=alert(1)><script>alert(1)</script> [link](javascript:alert(1)) ![p](http://127.0.0.1:9/p.png)"
    note = patient.post(f"{address}/api/knowledge", json={"content": content, "title": "<b>x</b>"}).json()
    screen = open_screen(f"/#/knowledge/{note['id']}")
    expect(screen.page.get_by_role("heading", level=2, name="<b>x</b>")).to_be_visible()
    body = screen.page.locator(".kn-markdown")
    expect(body.locator("img, script")).to_have_count(0)
    assert body.get_by_text("link", exact=True).get_attribute("href") in (None, "")


PLAIN_HTTP = "Object.defineProperty(navigator, 'clipboard', { value: undefined })"
"""Browsers have no clipboard API for a page on plain http."""


def test_note_is_copied_without_the_clipboard_api(open_screen: OpenScreen, address: str) -> None:
    note = patient.post(f"{address}/api/knowledge", json={"content": "**写す** text", "title": "Copied"}).json()
    screen = open_screen("/icon.svg")
    page = screen.page
    page.add_init_script(PLAIN_HTTP)
    screen.open(f"/#/knowledge/{note['id']}")
    menu = page.locator(".kn-detail").get_by_role("button", name="Import and export")
    menu.click()
    page.get_by_role("menuitem", name="Copy as Markdown").click()
    expect(page.locator(".toast")).to_have_text("Copied.")
    other_field = page.get_by_label("Search conversations")
    other_field.press("Control+v")
    expect(other_field).to_have_value("**写す** text")
    screen.script("() => { document.execCommand = () => false }")
    menu.click()
    page.get_by_role("menuitem", name="Copy ID").click()
    expect(page.locator(".toast").last).to_contain_text("The browser did not allow copying.")


def test_markdown_files_are_imported_and_everything_is_exported(open_screen: OpenScreen) -> None:
    screen = open_screen("/#/knowledge")
    page = screen.page
    screen.button("Import and export").first.click()
    page.get_by_role("menuitem", name="Import").click()
    good = FilePayload(name="手順.md", mimeType="text/markdown", buffer="# インポートの手順\n\n本文".encode())
    linked = FilePayload(name="目次.md", mimeType="text/markdown", buffer="[[手順|まず手順]] を読む".encode())
    bad = FilePayload(name="bad.md", mimeType="text/markdown", buffer="Ärger".encode("latin-1"))
    page.locator("input[type=file]").set_input_files([good, linked, bad])
    expect(page.get_by_text("2 notes saved, 0 unchanged.")).to_be_visible()
    expect(page.get_by_text("The encoding of the file is not certain")).to_be_visible()
    screen.button("Close").click()
    expect(screen.button("Import and export").first).to_be_focused()
    expect(page.locator(".kn-item").filter(has_text="インポートの手順")).to_be_visible()
    page.locator(".kn-item").filter(has_text="目次").click()
    page.get_by_role("link", name="まず手順").click()
    expect(page.get_by_role("heading", name="インポートの手順", level=2)).to_be_visible()
    screen.button("Import and export").first.click()
    with page.expect_download() as download:
        page.get_by_role("menuitem", name="Export").click()
    names = zipfile.ZipFile(io.BytesIO(Path(download.value.path()).read_bytes())).namelist()
    assert any("インポートの手順" in name for name in names)


@pytest.mark.req("ME-11")
@pytest.mark.parametrize(
    ("locale", "menu", "item", "mask", "done"),
    [
        ("en", "Import and export", "Import", "Mask and import", "1 note saved, 1 unchanged."),
        ("ja", "インポートとエクスポート", "インポート", "伏せ字にしてインポート", "1 件を保存しました（変更なし 1"),
    ],
)
def test_files_with_secrets_are_imported_masked(
    open_screen: OpenScreen, address: str, tmp_path: Path, locale: str, menu: str, item: str, mask: str, done: str
) -> None:
    secret, plain = tmp_path / f"鍵 {locale}.md", tmp_path / f"plain {locale}.md"
    secret.write_text(f"---\ntitle: 鍵の場所 {locale}\n---\nAWS key {'AKIA' + 'Q3EGRTWZ7LDNPYXM'}", encoding="utf-8")
    plain.write_text("Nothing secret.", encoding="utf-8")
    page = open_screen("/#/knowledge", locale=locale).page
    page.get_by_role("button", name=menu).first.click()
    page.get_by_role("menuitem", name=item).click()
    page.locator("input[type=file]").set_input_files([secret, plain])
    expect(page.locator(".kn-refused")).to_contain_text({"en": "line 4", "ja": "4 行目"}[locale])
    page.get_by_role("button", name=mask).click()
    expect(page.get_by_text(done)).to_be_visible()
    notes = patient.get(f"{address}/api/knowledge").json()["notes"]
    [found] = [note["id"] for note in notes if note["title"] == f"鍵の場所 {locale}"]
    assert patient.get(f"{address}/api/knowledge/{found}").json()["content"] == "AWS key ********"


def test_import_skips_newer_notes_until_told_to_overwrite(
    open_screen: OpenScreen, address: str, tmp_path: Path
) -> None:
    file = tmp_path / "後で直す.md"
    file.write_text("# Edited later\n\n最初", encoding="utf-8")
    screen = open_screen("/#/knowledge")
    page = screen.page
    screen.button("Import and export").first.click()
    page.get_by_role("menuitem", name="Import").click()
    page.locator("input[type=file]").set_input_files(file)
    expect(page.get_by_text("1 note saved, 0 unchanged.")).to_be_visible()
    notes = patient.get(f"{address}/api/knowledge").json()["notes"]
    [url] = [f"{address}/api/knowledge/{note['id']}" for note in notes if note["title"] == "Edited later"]
    patient.patch(url, json={"content": "書き足した"})
    page.locator("input[type=file]").set_input_files(file)
    expect(page.get_by_text("1 note is newer in Chie than the file and was skipped:")).to_be_visible()
    expect(page.locator(".kn-refused")).to_have_text("後で直す.md")
    assert patient.get(url).json()["content"] == "書き足した"
    screen.button("Overwrite with the files").click()
    expect(page.get_by_text("1 note saved, 0 unchanged.")).to_be_visible()
    assert patient.get(url).json()["content"] == "# Edited later\n\n最初"


def on_the_map(screen: Screen) -> Position:
    """Where the first note is drawn, from the upper left corner of the picture."""
    point = patient.get(f"{screen.address}/api/knowledge/map").json()["points"][0]
    box = screen.page.locator(".kn-plane").bounding_box()
    assert box is not None
    x, y = (point["x"] * MARGIN + 1) / 2, (1 - point["y"] * MARGIN) / 2
    return {"x": x * box["width"], "y": y * box["height"]}


def test_the_map_is_hovered_clicked_zoomed_and_read_by_keyboard(open_screen: OpenScreen) -> None:
    screen = open_screen("/#/knowledge?map")
    page = screen.page
    plane = page.locator(".kn-plane")
    expect(plane).to_be_visible()
    where = on_the_map(screen)
    plane.hover(position=where)
    expect(page.locator(".kn-map-tip strong")).not_to_be_empty()
    title = page.locator(".kn-map-tip strong").inner_text()
    plane.click(position=where)
    expect(page.get_by_role("heading", level=2, name=title, exact=True)).to_be_visible()
    page.go_back()
    total = page.locator(".kn-map-list li").count()
    for _ in range(6):
        screen.button("Zoom in").click()
    expect(page.locator(".kn-map-list li")).not_to_have_count(total)
    screen.button("Show all").click()
    expect(page.locator(".kn-map-list li")).to_have_count(total)
    page.locator(".kn-legend-tag").last.click()  # which tags have a colour depends on the notes of other tests
    expect(page.locator(".kn-map-list li")).not_to_have_count(total)
    page.locator(".kn-map-list a").first.focus()
    expect(page.locator(".kn-ring")).to_have_count(1)
    page.keyboard.press("Enter")
    expect(page.locator(".kn-detail h2")).to_be_visible()


def test_empty_page_offers_samples(open_screen: OpenScreen, empty_app: str) -> None:
    screen = open_screen("/#/knowledge", at=empty_app, locale="ja")
    expect(screen.page.get_by_role("heading", name="メモはまだありません")).to_be_visible()
    screen.button("サンプルを追加").click()
    expect(screen.page.locator(".kn-item")).to_have_count(10)


@pytest.mark.req("CH-15")
def test_an_answer_is_saved_to_knowledge_and_found_again(open_screen: OpenScreen) -> None:
    screen = open_screen()
    page = screen.page
    screen.ask("nginx の接続数は？")
    screen.wait_for_end()
    screen.answer.hover()
    screen.answer.get_by_role("button", name="Save to knowledge").click()
    title = page.get_by_role("textbox", name="Title")
    expect(title).not_to_have_value("")
    expect(page.get_by_role("textbox", name="Tags")).to_have_value(re.compile("nginx"))
    title.fill("Saved from the chat 検証")
    page.keyboard.press("Escape")
    screen.button("Keep editing").click()
    screen.button("Save").click()
    expect(page.locator(".toast")).to_contain_text("Saved.")
    conversation = page.url
    screen.open("/#/knowledge?q=Saved%20from%20the%20chat")
    page.locator(".kn-item").first.click()
    expect(page.get_by_role("heading", level=2, name="Saved from the chat 検証")).to_be_visible()
    expect(page.locator(".kn-facts a")).to_have_attribute("href", conversation)


def test_enter_that_confirms_a_conversion_saves_nothing(open_screen: OpenScreen) -> None:
    """Browsers submit a form on Enter, so the event must be prevented."""
    screen = open_screen("/#/knowledge", locale="ja")
    screen.button("新しいメモ").click()
    screen.page.get_by_role("textbox", name="本文").fill("まだ書いている途中")
    title = screen.page.get_by_role("textbox", name="タイトル")
    title.fill("へんかん")
    for order, events in ORDERS.items():
        assert title.evaluate(PREVENTED, events) is True, order
        expect(screen.page.get_by_role("dialog")).to_be_visible()
    screen.button("保存").click()
    expect(screen.page.get_by_role("heading", level=2, name="へんかん")).to_be_visible()


@pytest.mark.parametrize("path", ["/#/knowledge", "/#/knowledge?q=nginx", "/#/knowledge?map"])
def test_nothing_is_cut_off_on_a_narrow_screen(open_screen: OpenScreen, path: str) -> None:
    screen = open_screen(path, viewport=NARROW, locale="ja")
    expect(screen.page.locator(".kn-item, .kn-plane").first).to_be_visible()
    assert screen.script("document.documentElement.scrollWidth") <= NARROW["width"]
    if "map" not in path:
        screen.page.locator(".kn-item").first.click()
        expect(screen.page.locator(".kn-detail h2")).to_be_visible()
        screen.page.get_by_role("link", name="一覧に戻る").click()
        expect(screen.page.locator(".kn-item").first).to_be_visible()


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_axe_finds_nothing_serious(open_screen: OpenScreen, theme: str) -> None:
    screen = open_screen("/#/knowledge?q=nginx", color_scheme=theme, bypass_csp=True)
    expect(screen.page.locator("mark").first).to_be_visible()
    screen.page.locator(".kn-item").first.click()
    expect(screen.page.locator(".kn-similar li").first).to_be_visible()
    assert serious_findings(screen) == []
    screen.open("/#/knowledge?map")
    expect(screen.page.locator(".kn-plane")).to_be_visible()
    assert serious_findings(screen) == []
    screen.button("New note").click()
    expect(screen.page.get_by_role("dialog")).to_be_visible()
    assert serious_findings(screen) == []


@pytest.mark.req("SE-4")
@pytest.mark.parametrize(("locale", "announced"), [("ja", "候補"), ("en", "suggestion")])
def test_filters_are_completed_in_the_search_field(open_screen: OpenScreen, locale: str, announced: str) -> None:
    screen = open_screen("/#/knowledge", locale=locale)
    field = screen.page.locator("#main").get_by_role("combobox")
    options = screen.page.get_by_role("option")
    expect(field).to_have_attribute("aria-expanded", "false")
    field.press_sequentially("tag:do")
    expect(field).to_have_attribute("aria-expanded", "true")
    expect(options.first).to_contain_text("docker")
    expect(screen.page.get_by_role("status").filter(has_text=announced)).to_have_count(1)
    assert field.get_attribute("aria-activedescendant") == options.first.get_attribute("id")
    assert serious_findings(screen) == []
    field.press("Enter")
    expect(field).to_have_value("tag:docker ")
    expect(field).to_be_focused()
    expect(options).to_have_count(0)
    expect(screen.page.locator(".kn-item").first).to_contain_text("#docker")
    field.press_sequentially("author:chi")
    expect(options).to_have_count(1)
    expect(options.first).to_contain_text("chie")
    field.press("ArrowDown")
    expect(options.first).to_have_attribute("aria-selected", "true")
    # A busy machine draws its next frame only after more has been typed.
    screen.page.evaluate("() => { window.due = []; window.requestAnimationFrame = (run) => window.due.push(run) }")
    options.first.click()
    expect(field).to_have_value("tag:docker author:chie ")
    expect(field).to_be_focused()
    field.press_sequentially("after:20")
    screen.page.evaluate("() => window.due.forEach((run) => run())")
    assert field.evaluate("(field) => field.selectionStart === field.value.length")
    expect(options).to_have_count(3)
    field.press("ArrowUp")
    expect(options.last).to_have_attribute("aria-selected", "true")
    field.press("Escape")
    expect(options).to_have_count(0)
    expect(field).to_have_value("tag:docker author:chie after:20")
    expect(screen.page.locator(".kn-item").first).to_contain_text("#docker")  # a date is not half
    field.press("Escape")
    expect(field).to_have_value("")


@pytest.mark.req("SE-4")
@pytest.mark.parametrize(("locale", "told"), [("ja", "日付"), ("en", "no valid date")])
def test_a_date_that_is_none_is_explained(open_screen: OpenScreen, locale: str, told: str) -> None:
    screen = open_screen("/#/knowledge?q=after:yesterday", locale=locale)
    expect(screen.page.get_by_text(told)).to_be_visible()
