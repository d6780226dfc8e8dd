"""Projects and shared links in a browser: making, using, sharing, revoking and deleting them."""

import re
from collections.abc import Iterator
from uuid import uuid4

import pytest
from playwright.sync_api import Locator, expect
from tests.e2e.app_process import app_process
from tests.e2e.conftest import OpenScreen
from tests.e2e.screen import Screen
from tests.e2e.test_accessibility import serious_findings
from tests.e2e.test_sessions import act, ask_over_http, row
from tests.e2e.test_sign_in import sign_in

from chie.access.users import UserFile

pytestmark = pytest.mark.req("AG-12")

NARROW = {"width": 360, "height": 740}
TEXTS = {
    "en": {"new": "New project", "name": "Name", "create": "Create project", "instructions": "Instructions",
           "save": "Save changes", "saved": "Saved.", "add": "Add files", "chat": "New conversation in this project",
           "actions": "Project actions", "delete": "Delete project…", "keep": "Keep them, outside of any project",
           "confirm": "Delete project", "share": "Share…", "link": "Create link", "copied": "The link was copied.",
           "revoke": "Revoke", "gone": "This link does not work any more", "continue": "Continue this conversation",
           "move": "Move to a project…", "remove": "Remove plan.txt", "moved": "Moved.", "ok": "Save",
           "none": "No projects yet"},
    "ja": {"new": "新しいプロジェクト", "name": "名前", "create": "プロジェクトを作成", "instructions": "指示",
           "save": "変更を保存", "saved": "保存しました。", "add": "ファイルを追加",
           "chat": "このプロジェクトで新しい会話", "actions": "プロジェクトの操作", "delete": "プロジェクトを削除…",
           "keep": "残す（プロジェクトの外に移す）", "confirm": "プロジェクトを削除", "share": "共有…",
           "link": "リンクを作成", "copied": "リンクをコピーしました。", "revoke": "無効にする",
           "gone": "このリンクは使えません", "continue": "この会話を続ける", "move": "プロジェクトに移動…",
           "remove": "plan.txt を削除", "moved": "移動しました。", "ok": "保存",
           "none": "プロジェクトはまだありません"},
}  # fmt: skip


@pytest.fixture(scope="module")
def team(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[str, dict[str, str]]]:
    """An app with users, and their tokens."""
    home = tmp_path_factory.mktemp("team")
    file = UserFile(home / "users.json")
    tokens = {name: file.add(name) for name in ("aki", "ben")}
    with app_process(home) as (address, _):
        yield address, tokens


def heading(screen: Screen) -> Locator:
    return screen.page.get_by_role("heading", level=1)


def create_project(screen: Screen, language: str, name: str) -> None:
    t = TEXTS[language]
    screen.open("/#/projects")
    screen.button(t["new"]).click()
    screen.page.get_by_label(t["name"], exact=True).fill(name)
    screen.page.keyboard.press("Enter")
    expect(heading(screen)).to_have_text(name)


def add_file(screen: Screen, name: str, text: str) -> None:
    screen.page.locator("section:has(#pj-files) input[type=file]").set_input_files(
        {"name": name, "mimeType": "text/plain", "buffer": text.encode()}
    )
    expect(screen.page.locator(".pj-files").get_by_text(name)).to_be_visible()


def share(screen: Screen, language: str, title: str) -> str:
    """The address of the link, from the clipboard."""
    t = TEXTS[language]
    act(screen, title, t["share"])
    screen.button(t["link"]).click()
    expect(screen.page.get_by_text(t["copied"])).to_be_visible()
    link: str = screen.script("() => navigator.clipboard.readText()")
    assert re.search(r"/#/shared/[\w-]{32}$", link)
    return link


@pytest.mark.parametrize("language", ["en", "ja"])
def test_project_is_made_used_and_deleted(open_screen: OpenScreen, language: str) -> None:
    t = TEXTS[language]
    screen = open_screen(locale=language, bypass_csp=True)
    mark = uuid4().hex[:8]  # unlike those of a run before
    name, question = f"移行 {mark}", f"When do we move, {mark}?"
    create_project(screen, language, name)
    screen.page.get_by_label(t["instructions"], exact=True).fill("Be brief. 敬語で。")
    screen.button(t["save"]).click()
    expect(screen.page.get_by_text(t["saved"])).to_be_visible()
    expect(screen.button(t["save"])).to_be_disabled()
    add_file(screen, "plan.txt", "一月に移行する")
    assert serious_findings(screen) == []
    screen.page.get_by_role("link", name=t["chat"]).click()
    chip = screen.page.locator(".pj-chip")
    expect(chip).to_have_text(name)
    screen.choose_agent("Echo")
    screen.ask(question)
    screen.wait_for_end()
    expect(screen.answer).to_contain_text("Be brief. 敬語で。")
    expect(screen.answer).to_contain_text("一月に移行する")
    expect(chip).to_have_text(name)
    screen.page.reload()
    expect(chip).to_have_text(name)
    chip.click()
    expect(screen.page.locator(".pj-row").get_by_text(question)).to_be_visible()
    screen.button(t["remove"]).click()
    expect(screen.page.locator(".pj-files li")).to_have_count(0)
    screen.button(t["actions"]).click()
    screen.page.get_by_role("menuitem", name=t["delete"]).click()
    expect(screen.page.get_by_label(t["keep"])).to_be_checked()
    assert serious_findings(screen) == []
    screen.button(t["confirm"]).click()
    expect(screen.page).to_have_url(re.compile(r"#/projects$"))
    expect(row(screen, question)).to_be_visible()
    row(screen, question).click()
    screen.wait_for_end()
    expect(chip).to_have_count(0)


def test_conversation_is_moved_into_a_project_by_keyboard(open_screen: OpenScreen) -> None:
    screen = open_screen()
    t = TEXTS["en"]
    name, question = f"Moving {uuid4().hex[:8]}", f"which boxes {uuid4().hex[:8]}?"
    create_project(screen, "en", name)
    session = ask_over_http(screen.address, question)
    screen.open(f"/#/chat/{session}")
    screen.page.reload()
    expect(row(screen, question)).to_be_visible()
    act(screen, question, t["move"])
    choice = screen.page.get_by_role("radio", name=name)
    expect(choice).to_be_visible()
    choice.focus()
    screen.page.keyboard.press("Space")
    expect(choice).to_be_checked()
    screen.button(t["ok"]).press("Enter")
    expect(screen.page.get_by_text(t["moved"])).to_be_visible()
    expect(screen.page.locator(".pj-chip")).to_have_text(name)


@pytest.mark.parametrize("theme", ["light", "dark"])
@pytest.mark.parametrize("language", ["en", "ja"])
def test_link_is_made_read_continued_and_revoked(open_screen: OpenScreen, language: str, theme: str) -> None:
    t = TEXTS[language]
    title = f"nginx の接続数 {uuid4().hex[:8]}"  # unlike that of a run before
    screen = open_screen(locale=language, color_scheme=theme, bypass_csp=True)
    screen.choose_agent("Echo")
    screen.ask(title)
    screen.wait_for_end()
    expect(row(screen, title)).to_be_visible()
    link = share(screen, language, title)
    dialog = screen.page.locator("dialog[open]")
    expect(dialog.locator(".sh-links").get_by_text(t["revoke"], exact=True)).to_have_css("opacity", "1")
    assert serious_findings(screen) == []
    screen.page.keyboard.press("Escape")
    expect(dialog).to_have_count(0)
    screen.ask("a later question")
    expect(screen.answers).to_have_count(2)
    screen.wait_for_end()
    reader = open_screen(link.removeprefix(screen.address), locale=language, color_scheme=theme, bypass_csp=True)
    expect(heading(reader)).to_have_text(title)
    expect(reader.answers).to_have_count(1)
    expect(reader.answer.locator(".markdown").first).to_be_visible()
    expect(reader.page.get_by_text("a later question")).to_have_count(0)
    assert serious_findings(reader) == []
    reader.button(t["continue"]).click()
    expect(reader.page).to_have_url(re.compile(r"#/chat/"))
    expect(reader.answers).to_have_count(1)
    reader.ask("my own question")
    expect(reader.answers).to_have_count(2)
    reader.wait_for_end()
    screen.open("/#/shared")
    links = screen.page.locator(".sh-links li").filter(has_text=title)
    expect(links).to_have_count(1)
    assert serious_findings(screen) == []
    links.get_by_text(t["revoke"], exact=True).click()
    expect(links).to_have_count(0)
    requested: list[str] = []
    reader.page.on("request", lambda request: requested.append(request.url))
    reader.page.goto(link)
    expect(reader.page.get_by_text(t["gone"])).to_be_visible()
    token = link.rpartition("/")[2]
    assert not [url for url in requested if f"/sessions/{token}" in url], "the chat was still on the screen"


@pytest.mark.parametrize("language", ["en", "ja"])
def test_pages_fit_360_pixels(open_screen: OpenScreen, language: str) -> None:
    screen = open_screen(locale=language, viewport=NARROW, has_touch=True, is_mobile=True, bypass_csp=True)
    create_project(screen, language, f"狭い画面のための長い名前のプロジェクト {language}")
    add_file(screen, "a-rather-long-name-of-a-file-with-a-plan-in-it.txt", "x")
    wide = "() => document.documentElement.scrollWidth"
    assert screen.script(wide) == 360
    assert serious_findings(screen) == []
    for path in ("projects", "shared", "shared/unknown"):
        screen.open(f"/#/{path}")
        expect(heading(screen)).to_be_visible()
        assert screen.script(wide) == 360, path
        assert serious_findings(screen) == [], path


def test_members_use_a_project_and_read_what_was_shared(
    open_screen: OpenScreen, team: tuple[str, dict[str, str]]
) -> None:
    address, tokens = team
    aki = open_screen(at=address)
    sign_in(aki, tokens["aki"])
    expect(aki.field).to_be_visible()
    create_project(aki, "en", "Team plan")
    aki.page.get_by_label("Add a member").fill("nobody")
    aki.button("Add").click()
    expect(aki.page.get_by_text("There is no such user.")).to_be_visible()
    aki.page.get_by_label("Add a member").fill("ben")
    aki.button("Add").click()
    expect(aki.page.get_by_label("Role of ben")).to_have_value("viewer")
    aki.page.get_by_role("link", name="New conversation in this project").click()
    expect(aki.page.locator(".pj-chip")).to_have_text("Team plan")
    aki.choose_agent("Echo")
    aki.ask("our secret question")
    aki.wait_for_end()
    expect(row(aki, "our secret question")).to_be_visible()
    act(aki, "our secret question", "Share…")
    aki.page.get_by_label("Members of Team plan").check()
    aki.button("Create link").click()
    expect(aki.page.get_by_text("The link was copied.")).to_be_visible()
    ben = open_screen(at=address)
    sign_in(ben, tokens["ben"])
    expect(ben.field).to_be_visible()
    ben.open("/#/projects")
    ben.page.get_by_role("link", name="Team plan").click()
    expect(heading(ben)).to_have_text("Team plan")
    expect(ben.page.get_by_role("button", name="Add files")).to_have_count(0)
    expect(ben.page.get_by_text("No conversations in this project yet.")).to_be_visible()
    ben.page.get_by_role("link", name="our secret question").click()
    expect(heading(ben)).to_have_text("our secret question")
    expect(ben.page.get_by_text("Shared by aki")).to_be_visible()
    ben.page.go_back()
    ben.button("Leave the project").click()
    expect(ben.page.get_by_text("No projects yet")).to_be_visible()


@pytest.mark.parametrize("language", ["en", "ja"])
def test_settings_that_are_not_saved_stay(open_screen: OpenScreen, language: str) -> None:
    t = TEXTS[language]
    screen = open_screen(locale=language)
    create_project(screen, language, f"Unsaved {uuid4().hex[:8]}")
    project = screen.page.url.removeprefix(screen.address)
    instructions = screen.page.get_by_label(t["instructions"])
    instructions.fill("敬語で答える")
    screen.page.get_by_role("link", name=t["chat"]).click()
    expect(screen.page.locator(".pj-chip")).to_be_visible()
    screen.open(project)
    expect(instructions).to_have_value("敬語で答える")
    screen.page.reload()
    expect(instructions).to_have_value("敬語で答える")
    screen.button(t["save"]).click()
    expect(screen.page.get_by_text(t["saved"])).to_be_visible()
    expect(screen.button(t["save"])).to_be_disabled()
    expect(instructions).to_have_value("敬語で答える")
