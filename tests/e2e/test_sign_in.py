"""Authentication in a real browser: signing in and out, and private notes."""

from collections.abc import Iterator

import pytest
from playwright.sync_api import expect
from tests.e2e.app_process import app_process
from tests.e2e.axe import findings
from tests.e2e.conftest import OpenScreen
from tests.e2e.screen import Screen

from chie.access.users import UserFile

NARROW = {"width": 360, "height": 740}
TOKENS: dict[str, str] = {}


@pytest.fixture(scope="module")
def address(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    home = tmp_path_factory.mktemp("home")
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
        ("en-US", "Sign in", "Token", "Sign in", "Sign out", "The token is not valid, or no longer."),
        ("ja-JP", "サインイン", "トークン", "サインイン", "サインアウト", "トークンが有効ではないか、失効しています。"),
    ],
)
def test_signing_in_and_out_on_a_narrow_screen(
    open_screen: OpenScreen, locale: str, title: str, label: str, button: str, out: str, wrong: str
) -> None:
    screen = open_screen(locale=locale, viewport=NARROW, bypass_csp=True)
    page = screen.page
    expect(page.get_by_role("heading", name=title)).to_be_visible()
    assert screen.script("() => document.documentElement.scrollWidth <= innerWidth")
    assert findings(screen) == []
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


def test_private_note_has_a_lock_and_is_hidden_from_others(open_screen: OpenScreen) -> None:
    aki = open_screen("/#/knowledge")
    sign_in(aki, TOKENS["aki"])
    aki.button("New note").first.click()
    aki.page.get_by_role("textbox", name="Text").fill("the kettle is mine")
    aki.page.get_by_label("Only visible to me").check()
    aki.button("Save").click()
    item = aki.page.locator(".kn-item", has_text="the kettle is mine")
    expect(item.get_by_title("Only visible to me")).to_be_visible()
    aki.button("New note").first.click()
    aki.page.get_by_role("textbox", name="Text").fill("the kettle is everybody's")
    aki.button("Save").click()
    shared = aki.page.locator(".kn-item", has_text="the kettle is everybody's")
    expect(shared).to_be_visible()
    expect(shared.get_by_title("Only visible to me")).to_have_count(0)

    ben = open_screen("/#/knowledge")
    sign_in(ben, TOKENS["ben"])
    ben.page.locator(".kn-item", has_text="the kettle is everybody's").click()
    expect(ben.page.locator(".kn-detail")).to_contain_text("aki")
    expect(ben.page.locator(".kn-item", has_text="the kettle is mine")).to_have_count(0)
    expect(ben.button("Edit")).to_have_count(0)
    expect(ben.button("Delete")).to_have_count(0)


def test_conversations_belong_to_the_signed_in_user(open_screen: OpenScreen) -> None:
    aki = open_screen()
    sign_in(aki, TOKENS["aki"])
    aki.ask("hello")
    aki.wait_for_end()
    path = aki.page.url.split("#")[1]
    ben = open_screen()
    sign_in(ben, TOKENS["ben"])
    expect(ben.field).to_be_visible()
    ben.open(f"/#{path}")
    expect(ben.page.get_by_role("heading", name="Conversation not found")).to_be_visible()
