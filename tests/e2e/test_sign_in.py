"""A house that asks who you are, in a real browser: signing in and out, and notes of one's own."""

from collections.abc import Iterator

import pytest
from playwright.sync_api import expect
from tests.e2e.app_process import app_process
from tests.e2e.conftest import OpenScreen
from tests.e2e.screen import Screen
from tests.e2e.test_looks import serious_findings

from chie.access.users import UserFile

MAX_EXACT_SCAN_PASSAGES = {"width": 360, "height": 740}
TOKENS: dict[str, str] = {}


@pytest.fixture(scope="module")
def address(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    home = tmp_path_factory.mktemp("house")
    file = UserFile(home / "users.json")
    TOKENS.update({name: file.add(name) for name in ("aki", "ben")})
    with app_process(home) as (address, _):
        yield address


def sign_in(screen: Screen, token: str, *, label: str = "Token", button: str = "Sign in") -> None:
    screen.page.get_by_label(label).fill(token)
    screen.button(button).click()


@pytest.mark.parametrize(
    ("locale", "title", "label", "button", "out", "wrong"),
    [
        ("en-US", "Sign in", "Token", "Sign in", "Sign out", "not, or no longer, one that opens this Chie"),
        ("ja-JP", "サインイン", "トークン", "サインイン", "サインアウト", "このトークンではこの Chie に入れません"),
    ],
)
def test_a_stranger_signs_in_and_out_again_on_a_narrow_screen(
    open_screen: OpenScreen, locale: str, title: str, label: str, button: str, out: str, wrong: str
) -> None:
    screen = open_screen(locale=locale, viewport=MAX_EXACT_SCAN_PASSAGES, bypass_csp=True)
    page = screen.page
    expect(page.get_by_role("heading", name=title)).to_be_visible()
    assert screen.script("() => document.documentElement.scrollWidth <= innerWidth")
    assert serious_findings(screen) == []
    sign_in(screen, "chie_wrong", label=label, button=button)
    expect(page.get_by_role("alert")).to_contain_text(wrong)
    sign_in(screen, TOKENS["aki"], label=label, button=button)
    expect(screen.field).to_be_visible()
    assert screen.script("() => document.cookie") == "", "no script can read the token"
    assert screen.script("() => JSON.stringify({...localStorage, ...sessionStorage})").count("chie_") == 0
    page.reload()
    expect(screen.field).to_be_visible()
    page.get_by_role("button", name="Menu" if locale == "en-US" else "メニュー").click()
    page.get_by_role("dialog").get_by_role("button", name="aki").click()
    page.get_by_role("menuitem", name=out).click()
    expect(page.get_by_role("heading", name=title)).to_be_visible()


def test_a_note_of_ones_own_has_a_lock_and_is_nobody_elses(open_screen: OpenScreen) -> None:
    aki = open_screen("/#/knowledge")
    sign_in(aki, TOKENS["aki"])
    aki.button("New note").first.click()
    aki.page.get_by_role("textbox", name="Text").fill("the kettle is mine")
    aki.page.get_by_label("Only I can see it").check()
    aki.button("Save").click()
    item = aki.page.locator(".kn-item", has_text="the kettle is mine")
    expect(item.get_by_title("Only I can see it")).to_be_visible()
    aki.button("New note").first.click()
    aki.page.get_by_role("textbox", name="Text").fill("the kettle is everybody's")
    aki.button("Save").click()
    shared = aki.page.locator(".kn-item", has_text="the kettle is everybody's")
    expect(shared).to_be_visible()
    expect(shared.get_by_title("Only I can see it")).to_have_count(0)

    ben = open_screen("/#/knowledge")
    sign_in(ben, TOKENS["ben"])
    ben.page.locator(".kn-item", has_text="the kettle is everybody's").click()
    expect(ben.page.locator(".kn-detail")).to_contain_text("aki")
    expect(ben.page.locator(".kn-item", has_text="the kettle is mine")).to_have_count(0)
    expect(ben.button("Edit")).to_have_count(0)
    expect(ben.button("Delete")).to_have_count(0)


def test_the_chat_works_for_who_is_signed_in_and_is_theirs_alone(open_screen: OpenScreen) -> None:
    aki = open_screen()
    sign_in(aki, TOKENS["aki"])
    aki.ask("hello")
    aki.wait_for_end()
    place = aki.page.url.split("#")[1]
    ben = open_screen()
    sign_in(ben, TOKENS["ben"])
    expect(ben.field).to_be_visible()
    ben.open(f"/#{place}")
    expect(ben.page.get_by_role("heading", name="There is no such conversation")).to_be_visible()
