"""Markdown in answers, notes and previews, under the page's real Content-Security-Policy."""

from collections.abc import Callable

import pytest
from playwright.sync_api import Locator, expect
from tests.e2e.conftest import OpenScreen
from tests.e2e.screen import Screen
from tests.fakes import patient

DEEP = 4_000
NARROW = {"width": 360, "height": 740}
Show = Callable[[str], Locator]
LINES = """(element) => {
  const range = document.createRange();
  range.selectNodeContents(element);
  return new Set([...range.getClientRects()].filter((one) => one.width).map((one) => Math.round(one.bottom))).size;
}"""


def note_of(address: str, content: str) -> str:
    saved = patient.post(f"{address}/api/knowledge", json={"content": content, "title": "読む"}).raise_for_status()
    return str(saved.json()["id"])


def in_chat(screen: Screen, text: str) -> Locator:
    session = patient.post(f"{screen.address}/api/chat/stream", json={"message": text, "agent_id": "echo"})
    screen.open(f"/#/chat/{session.headers['x-chie-session']}")
    expect(screen.answer.locator(".markdown")).to_be_visible()
    return screen.answer.locator(".markdown")


def in_note(screen: Screen, text: str) -> Locator:
    screen.open(f"/#/knowledge/{note_of(screen.address, text)}")
    return screen.page.locator(".kn-detail .kn-markdown")


def in_preview(screen: Screen, text: str) -> Locator:
    screen.open("/#/knowledge")
    screen.page.locator(".kn-head .button.primary, .empty .button.primary").first.click()
    screen.page.locator("textarea.kn-content").first.fill(text)
    screen.page.locator(".kn-modes .button").last.click()
    return screen.page.locator(".kn-preview .kn-markdown")


RENDERERS: dict[str, Callable[[Screen, str], Locator]] = {"chat": in_chat, "note": in_note, "preview": in_preview}


@pytest.fixture(params=["chat", "note"])
def show(request: pytest.FixtureRequest, open_screen: OpenScreen) -> Show:
    """Renders Markdown in an answer or a note; the preview uses the note's renderer."""
    screen = open_screen(locale="ja")
    return lambda text: RENDERERS[request.param](screen, text)


@pytest.mark.parametrize("show", RENDERERS, indirect=True)
def test_entities_are_decoded(show: Show) -> None:
    shown = show("**太字** Q&amp;A&nbsp;と &lt;br&gt; と &copy;")
    expect(shown.locator("strong")).to_have_text("太字")
    expect(shown).to_contain_text("Q&A\u00a0と <br> と ©", use_inner_text=False)


def test_tags_are_shown_as_text(show: Show) -> None:
    shown = show(
        "`List<T>` ではなく List<T> を、<user> に。\n\n<details>\n<summary>続き</summary>\n\n本文\n\n</details>"
    )
    expect(shown).to_contain_text("List<T> を、<user> に。")
    expect(shown).to_contain_text("<details>")
    expect(shown).to_contain_text("<summary>続き</summary>")
    expect(shown).to_contain_text("</details>")
    assert shown.locator("details, summary").count() == 0


def test_line_breaks_are_kept(show: Show) -> None:
    shown = show("一行目\n二行目  \n三行目\\\n四行目\n\n- 項目の一行目\n  項目の二行目")
    expect(shown.locator("p").first).to_contain_text("四行目")
    assert shown.locator("p").first.evaluate(LINES) == 4
    assert shown.locator("li").first.evaluate(LINES) == 2


def test_footnotes_link_there_and_back(show: Show) -> None:
    shown = show(f"本文[^注]です。{'段落。' * 60}\n\n[^注]: 注の本文")
    page = shown.page
    expect(shown.locator("section.footnotes")).to_contain_text("脚注")
    expect(shown.locator("section.footnotes")).not_to_contain_text("Footnotes")
    url = page.url
    shown.locator("sup a").click()
    expect(shown.locator("section.footnotes li")).to_be_focused()
    shown.get_by_label("本文に戻る").click()
    expect(shown.locator("sup a")).to_be_focused()
    assert page.url == url
    assert len(page.context.pages) == 1


def test_only_absolute_urls_become_links(show: Show) -> None:
    shown = show("[隣](./other.md) [章](#chapter) [網](https://example.test/) [便](mailto:a@example.test) ![図](a.png)")
    expect(shown).to_contain_text("隣 章 網 便")
    expect(shown).to_contain_text("図")
    found = [link.get_attribute("href") for link in shown.locator("a").all()]
    assert found == ["https://example.test/", "mailto:a@example.test"]


@pytest.mark.parametrize("renderer", ["chat", "note"])
def test_a_wide_table_scrolls_and_its_words_stay_whole(open_screen: OpenScreen, renderer: str) -> None:
    header = " | ".join(f"column {number}" for number in range(12))
    rule = "|".join(["---"] * 12)
    row = " | ".join(["configuration"] * 12)
    screen = open_screen(viewport=NARROW)
    shown = RENDERERS[renderer](screen, f"| {header} |\n|{rule}|\n| {row} |")
    expect(shown.locator("td").first).to_be_visible()
    assert shown.locator("td").first.evaluate(LINES) == 1
    frame = shown.locator("table").locator("..")
    assert frame.evaluate("(one) => one.scrollWidth > one.clientWidth")
    assert screen.script("document.documentElement.scrollWidth") <= NARROW["width"]


@pytest.mark.parametrize("renderer", ["chat", "note"])
def test_list_has_enough_padding_for_long_numbers(open_screen: OpenScreen, renderer: str) -> None:
    screen = open_screen(viewport=NARROW)
    shown = RENDERERS[renderer](screen, "998. first\n999. second\n1000. third")
    listed = shown.locator("ol")
    expect(listed).to_be_visible()
    space = listed.evaluate(
        """(list) => {
          const context = document.createElement("canvas").getContext("2d");
          context.font = getComputedStyle(list).font;
          return parseFloat(getComputedStyle(list).paddingLeft) - context.measureText("1000. ").width;
        }"""
    )
    assert space >= 0


def test_note_that_cannot_be_rendered_falls_back_to_its_source(open_screen: OpenScreen, address: str) -> None:
    """Nesting this deep overflows the browser's stack."""
    broken, whole = note_of(address, f"{'>' * DEEP} **deep**"), note_of(address, "**whole** note")
    screen = open_screen(f"/#/knowledge/{broken}")
    shown = screen.page.locator(".kn-detail .kn-markdown")
    expect(shown).to_contain_text(">>> **deep**")
    screen.script(f"() => {{ location.hash = '#/knowledge/{whole}' }}")
    expect(shown.locator("strong")).to_have_text("whole")
    assert not [one for one in screen.browser_errors if "Maximum call stack" not in one]
    screen.browser_errors.clear()  # React reports what it caught


@pytest.fixture
def learned(open_screen: OpenScreen) -> Screen:
    screen = open_screen(locale="ja", viewport=NARROW)
    asked = patient.post(f"{screen.address}/api/chat/stream", json={"message": "出典", "agent_id": "learned"})
    screen.open(f"/#/chat/{asked.headers['x-chie-session']}")
    expect(screen.answer.locator(".markdown .source-number").first).to_be_visible()
    return screen


def test_a_source_of_two_digits_is_one_number(learned: Screen) -> None:
    for number in learned.answer.locator(".source-number", has_text="12").all():
        assert number.evaluate(LINES) == 1


def test_no_line_begins_with_the_full_stop_after_a_citation(learned: Screen) -> None:
    gaps = learned.answer.locator(".markdown p").evaluate_all(
        """(paragraphs) => paragraphs.map((one) => {
          const stop = document.createRange();
          stop.setStart(one.lastChild, one.lastChild.data.indexOf("。"));
          stop.setEnd(one.lastChild, one.lastChild.data.indexOf("。") + 1);
          return stop.getBoundingClientRect().left - one.querySelector("button").getBoundingClientRect().right;
        })"""
    )
    assert len(gaps) == 28
    assert [gap for gap in gaps if gap < 0] == []
