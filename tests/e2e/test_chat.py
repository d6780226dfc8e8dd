"""The chat in a real browser, against the real app."""

import re
from collections.abc import Callable
from pathlib import Path

import pytest
from playwright.sync_api import Route, expect
from tests.e2e.app_process import app_process
from tests.e2e.conftest import OpenScreen
from tests.e2e.long_sessions import long_session
from tests.e2e.proxy import FlakyProxy
from tests.e2e.screen import Screen


def hold_questions(screen: Screen) -> Callable[[], Route]:
    """Hold questions back until the test releases them; the result waits for the first."""
    held: list[Route] = []

    def hold(route: Route) -> None:
        held.append(route)

    def first() -> Route:
        while not held:  # limited by the test's timeout
            screen.settle()
        return held[0]

    screen.page.route("**/api/chat/stream", hold)
    return first


def scroll(screen: Screen, step: int, *, until: Callable[[], bool]) -> None:
    screen.page.locator(".messages").hover()
    while not until():  # limited by the test's timeout
        screen.page.mouse.wheel(0, step)
        screen.settle()


def numbers(count: int) -> str:
    return " ".join(str(number) for number in range(count))


@pytest.mark.req("CH-15")
def test_a_question_shows_its_tool_its_answer_and_its_sources(screen: Screen) -> None:
    screen.ask("nginx の接続数は？")
    screen.wait_for_end()
    card = screen.answer.locator("details.tool")
    expect(card).to_have_count(1)
    expect(card.locator("pre").first).not_to_be_visible()
    card.locator("summary").click()
    expect(card.locator("pre").first).to_contain_text("nginx の接続数は？")
    expect(card.locator("pre").last).to_contain_text("worker_connections")
    expect(card.locator(".tool-state")).to_have_text(re.compile(r"\d+ ms|\d\.\d s"))
    expect(screen.answer.locator("strong").nth(1)).to_have_text("「再起動なし」")
    expect(screen.answer.locator("table td").first).to_have_text("worker_connections")
    expect(screen.answer).to_contain_text("812 tokens in, 143 out")
    screen.answer.get_by_role("button", name="Source 1 nginx の接続数を上げる手順").first.click()
    popover = screen.page.locator(".source-card:popover-open")
    expect(popover).to_contain_text("worker_connections を 4096 に上げ")
    link = popover.get_by_role("link", name="Open source")
    expect(link).to_have_attribute("href", "https://wiki.example.test/runbooks/nginx")
    expect(link).to_have_attribute("rel", re.compile("noreferrer"))
    screen.page.keyboard.press("Escape")
    expect(popover).to_have_count(0)


@pytest.mark.req("CH-15")
def test_code_is_copied_as_it_is(screen: Screen) -> None:
    screen.ask("nginx の接続数は？")
    screen.wait_for_end()
    screen.button("Copy code", screen.answer).click()
    copied = screen.script("() => navigator.clipboard.readText()")
    assert copied == "events {\n    worker_connections 4096;  # reload で反映\n}"


def test_destructive_tool_waits_for_approval_even_after_a_reload(screen: Screen) -> None:
    screen.choose_agent("Doubtful")
    screen.ask("clean up")
    expect(screen.page.locator(".approval")).to_have_count(2)
    screen.page.reload()
    expect(screen.page.locator(".approval")).to_have_count(2)
    first, second = screen.page.locator(".approval").all()
    expect(second).to_contain_text("delete_workflow")
    screen.button("Deny", second).click()
    expect(screen.page.locator(".approval")).to_have_count(1)
    screen.button("Allow once", first).click()
    screen.wait_for_end()
    expect(screen.answer).to_contain_text("Finished.")
    cards = screen.answer.locator("details.tool")
    assert [card.get_attribute("data-state") for card in cards.all()] == ["good", "bad"]


def test_a_tool_that_is_always_allowed_is_not_asked_about_again(screen: Screen) -> None:
    screen.choose_agent("Cautious")
    screen.ask("once")
    screen.button("Always allow this tool").click()
    screen.wait_for_end()
    screen.ask("twice")
    expect(screen.answers).to_have_count(2)
    screen.wait_for_end()
    expect(screen.answer).to_contain_text("Done.")
    screen.button("Send options").click()
    screen.page.get_by_role("menuitem", name="Ask every time again").click()
    screen.ask("thrice")
    expect(screen.page.locator(".approval")).to_have_count(1)
    screen.button("Deny").click()
    expect(screen.answer).to_contain_text("I did not.")


def test_a_stopped_answer_keeps_its_beginning(screen: Screen) -> None:
    screen.choose_agent("Counting")
    screen.ask("100000")
    expect(screen.answer).to_contain_text("0 1 2 3")
    screen.button("Stop").click()
    screen.wait_for_end()
    expect(screen.answer).to_contain_text("Stopped. The text so far is kept.")
    screen.page.reload()
    expect(screen.answer).to_contain_text("Stopped. The text so far is kept.")
    expect(screen.answer).to_contain_text("0 1 2 3")


def test_live_region_announces_only_the_current_conversation(screen: Screen) -> None:
    announced = screen.page.locator(".chat > .hidden-text[role=status]")
    screen.choose_agent("Counting")
    screen.ask("100000")
    expect(screen.answer).to_contain_text("0 1 2 3")
    expect(announced).to_have_text("Thinking…")
    url = screen.page.url
    screen.page.get_by_role("link", name="New chat").first.click()
    expect(screen.answers).to_have_count(0)
    screen.settle()
    expect(announced).to_be_empty()
    screen.page.goto(url)
    screen.button("Stop").click()
    expect(announced).to_have_text("The answer is complete.")


def test_regenerated_answer_and_edited_question_are_versions(screen: Screen) -> None:
    screen.choose_agent("Echo")
    screen.ask("first words")
    expect(screen.answer).to_contain_text("first words")
    screen.wait_for_end()
    question = screen.page.locator("article.user").last
    question.hover()
    screen.button("Edit", question).click()
    box = screen.page.get_by_label("Edit your question")
    box.fill("other words")
    box.press("Control+Enter")
    expect(screen.answer).to_contain_text("other words")
    screen.wait_for_end()
    expect(question).to_contain_text("2/2")
    screen.answer.hover()
    screen.button("Regenerate", screen.answer).click()
    expect(screen.answer).to_contain_text("2/2")
    screen.wait_for_end()
    question.hover()
    screen.button("Previous version", question).click()
    expect(screen.answer).to_contain_text("first words")
    expect(screen.answers).to_have_count(1)


def test_a_failed_answer_says_what_to_do_and_can_be_tried_again(screen: Screen) -> None:
    screen.choose_agent("Failing")
    screen.ask("later")
    alert = screen.answer.get_by_role("alert")
    expect(alert).to_contain_text("Start it (in LM Studio: Developer, Start Server), or set OPENAI_BASE_URL")
    expect(screen.answer).to_contain_text("So far so good")
    screen.button("Try again", alert).click()
    expect(screen.answer).to_contain_text("2/2")


@pytest.mark.req("CH-15")
def test_a_dropped_connection_is_resumed_with_nothing_lost_or_doubled(
    open_screen: OpenScreen, proxy: FlakyProxy
) -> None:
    screen = open_screen(at=proxy.address)
    screen.choose_agent("Counting")
    screen.ask("150")
    for mark in ("20 21", "60 61"):
        expect(screen.answer).to_contain_text(mark)
        proxy.drop_connections()
    screen.wait_for_end()
    expect(screen.answer.locator(".markdown")).to_have_text(numbers(150))


def test_lost_connection_is_shown_and_the_answer_continues_after_reconnecting(
    open_screen: OpenScreen, proxy: FlakyProxy
) -> None:
    screen = open_screen(at=proxy.address)
    screen.choose_agent("Counting")
    screen.ask("120")
    expect(screen.answer).to_contain_text("10 11")
    proxy.disconnect()
    expect(screen.page.locator(".chat-notice")).to_contain_text("Connection lost. Reconnecting; nothing is lost.")
    proxy.reconnect()
    screen.wait_for_end()
    expect(screen.answer.locator(".markdown")).to_have_text(numbers(120))
    expect(screen.page.locator(".chat-notice")).to_be_empty()


@pytest.mark.req("CH-15")
def test_a_reload_while_an_answer_grows_loses_nothing(screen: Screen) -> None:
    screen.choose_agent("Counting")
    screen.ask("150")
    expect(screen.answer).to_contain_text("30 31")
    screen.page.reload()
    expect(screen.answer).to_contain_text("30 31")
    screen.wait_for_end()
    expect(screen.answer.locator(".markdown")).to_have_text(numbers(150))


@pytest.mark.req("CH-15")
def test_restart_keeps_the_text_so_far(open_screen: OpenScreen, home_folder: Path) -> None:
    with app_process(home_folder) as (address, _):
        port = int(address.rsplit(":", 1)[1])
        screen = open_screen(at=address)
        screen.choose_agent("Counting")
        screen.ask("100000")
        expect(screen.answer).to_contain_text("80 81")
    with app_process(home_folder, port):
        expect(screen.answer).to_contain_text("Chie was shut down during this answer")
        expect(screen.answer).to_contain_text("10 11")
        screen.choose_agent("Echo")
        screen.ask("and on")
        expect(screen.answer).to_contain_text("and on")


def test_a_question_that_cannot_be_sent_stays_in_the_field(open_screen: OpenScreen, proxy: FlakyProxy) -> None:
    screen = open_screen(at=proxy.address)
    expect(screen.page.locator(".agent-button")).to_contain_text("Guide")
    screen.page.wait_for_load_state("networkidle")  # preloads are not the subject of this test
    proxy.disconnect()
    screen.ask("大事な質問")
    expect(screen.page.locator(".chat-notice")).to_contain_text("Your message was not sent.")
    expect(screen.field).to_have_value("大事な質問")
    proxy.reconnect()
    screen.field.press("Enter")
    screen.wait_for_end()
    expect(screen.page.locator("article.user")).to_contain_text("大事な質問")


def test_a_question_that_cannot_be_sent_comes_back_to_its_own_conversation(screen: Screen) -> None:
    page = screen.page
    screen.choose_agent("Echo")
    screen.ask("the first conversation")
    screen.wait_for_end()
    first = page.url
    held = hold_questions(screen)
    screen.ask("届かない質問")
    expect(screen.answers).to_have_count(2)
    page.get_by_role("link", name="New chat").first.click()
    screen.field.fill("words for another one")
    held().abort()
    page.goto(first)
    expect(page.locator(".chat-notice")).to_contain_text("Your message was not sent.")
    expect(screen.field).to_have_value("届かない質問")
    page.get_by_role("link", name="New chat").first.click()
    expect(screen.field).to_have_value("words for another one")
    page.goto(first)
    page.reload()
    expect(screen.field).to_have_value("届かない質問")


def test_rewritten_question_is_kept_until_it_is_sent(screen: Screen) -> None:
    page = screen.page
    screen.choose_agent("Echo")
    screen.ask("first words")
    screen.wait_for_end()
    page.route("**/api/chat/*/edit", lambda route: route.abort())
    page.locator("article.user").hover()
    screen.button("Edit").click()
    box = page.get_by_label("Edit your question")
    box.fill("carefully chosen words")
    box.press("Control+Enter")
    expect(page.locator(".chat-notice")).to_contain_text("Your message was not sent.")
    expect(box).to_have_value("carefully chosen words")
    page.reload()
    expect(box).to_have_value("carefully chosen words")
    page.unroute_all()
    box.press("Control+Enter")
    expect(screen.answer).to_contain_text("carefully chosen words")
    screen.wait_for_end()
    page.reload()
    expect(screen.answer).to_contain_text("carefully chosen words")
    screen.button("Previous version", page.locator("article.user")).click()
    expect(page.locator("article.user")).to_contain_text("first words")
    expect(box).to_have_count(0)


def test_rewritten_question_survives_scrolling_away(open_screen: OpenScreen, home_folder: Path) -> None:
    with app_process(home_folder) as (address, _):
        session = long_session(home_folder, address, 60)
        screen = open_screen(f"/#/chat/{session}", at=address)
        first = screen.page.locator("[data-index='0'] article")
        expect(screen.answer.locator("table")).to_be_visible()
        scroll(screen, -1_000, until=lambda: first.count() == 1)
        screen.button("Edit", first).click()
        box = screen.page.get_by_label("Edit your question")
        box.fill("書き直した質問")
        scroll(screen, 1_000, until=lambda: first.count() == 0)
        scroll(screen, -1_000, until=lambda: first.count() == 1)
        expect(box).to_have_value("書き直した質問")
        expect(box).not_to_be_focused()


def test_filtered_answer_shows_a_note(screen: Screen) -> None:
    screen.choose_agent("Filtered")
    screen.ask("tell me")
    note = "The model provider's content filter stopped this answer."
    expect(screen.answer).to_contain_text(note)
    screen.page.reload()
    expect(screen.answer).to_contain_text("Half of")
    expect(screen.answer).to_contain_text(note)


def test_truncated_answer_can_be_continued(open_screen: OpenScreen) -> None:
    screen = open_screen(locale="ja")
    screen.choose_agent("Limited")
    screen.ask("長く")
    note = "長さの上限に達したため、回答が途中で切れています。"
    expect(screen.answer).to_contain_text(note)
    screen.page.reload()
    expect(screen.answer).to_contain_text(note)
    screen.button("続ける", screen.answer).click()
    expect(screen.answer).to_contain_text("後半です。")
    expect(screen.answer).not_to_contain_text(note)
    expect(screen.answers.first).to_contain_text(note)
    expect(screen.button("続ける")).to_have_count(0)
