"""A person asks, reads, decides, stops and comes back, in a real browser against the real house."""

import re
from collections.abc import Callable
from pathlib import Path

import pytest
from playwright.sync_api import Route, expect
from tests.e2e.app_process import app_process
from tests.e2e.conftest import OpenScreen
from tests.e2e.long import long_session
from tests.e2e.proxy import Cable
from tests.e2e.screen import Screen


def hold_questions(screen: Screen) -> Callable[[], Route]:
    """Questions stay on their way until the test lets them go; tells the first, which the page may yet have to send."""
    held: list[Route] = []

    def hold(route: Route) -> None:
        held.append(route)

    def first() -> Route:
        while not held:  # the test's timeout ends it
            screen.settle()
        return held[0]

    screen.page.route("**/api/chat/stream", hold)
    return first


def scroll(screen: Screen, step: int, *, until: Callable[[], bool]) -> None:
    screen.page.locator(".messages").hover()
    while not until():  # the test's timeout ends it
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
    link = popover.get_by_role("link", name="Open the source")
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


def test_a_tool_that_deletes_waits_for_a_word_even_over_a_reload(screen: Screen) -> None:
    screen.choose_agent("Doubtful")
    screen.ask("clean up")
    expect(screen.page.locator(".approval")).to_have_count(2)
    screen.page.reload()
    expect(screen.page.locator(".approval")).to_have_count(2)
    first, second = screen.page.locator(".approval").all()
    expect(second).to_contain_text("delete_workflow")
    screen.button("Do not allow", second).click()
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
    screen.button("How to send").click()
    screen.page.get_by_role("menuitem", name="Ask again for every tool").click()
    screen.ask("thrice")
    expect(screen.page.locator(".approval")).to_have_count(1)
    screen.button("Do not allow").click()
    expect(screen.answer).to_contain_text("I did not.")


def test_a_stopped_answer_keeps_its_beginning(screen: Screen) -> None:
    screen.choose_agent("Counting")
    screen.ask("100000")
    expect(screen.answer).to_contain_text("0 1 2 3")
    screen.button("Stop").click()
    screen.wait_for_end()
    expect(screen.answer).to_contain_text("Stopped. What was written is kept.")
    screen.page.reload()
    expect(screen.answer).to_contain_text("Stopped. What was written is kept.")
    expect(screen.answer).to_contain_text("0 1 2 3")


def test_a_screen_reader_hears_of_this_conversation_and_of_no_other(screen: Screen) -> None:
    spoken = screen.page.locator(".chat > .hidden-text[role=status]")
    screen.choose_agent("Counting")
    screen.ask("100000")
    expect(screen.answer).to_contain_text("0 1 2 3")
    expect(spoken).to_have_text("Thinking…")
    place = screen.page.url
    screen.page.get_by_role("link", name="New chat").first.click()
    expect(screen.answers).to_have_count(0)
    screen.settle()
    expect(spoken).to_be_empty()
    screen.page.goto(place)
    screen.button("Stop").click()
    expect(spoken).to_have_text("The answer is complete.")


def test_another_answer_and_an_edited_question_are_versions_beside_the_first(screen: Screen) -> None:
    screen.choose_agent("Echo")
    screen.ask("first words")
    expect(screen.answer).to_contain_text("first words")
    screen.wait_for_end()
    question = screen.page.locator("article.user").last
    question.hover()
    screen.button("Edit", question).click()
    box = screen.page.get_by_label("Your question in other words")
    box.fill("other words")
    box.press("Control+Enter")
    expect(screen.answer).to_contain_text("other words")
    screen.wait_for_end()
    expect(question).to_contain_text("2/2")
    screen.answer.hover()
    screen.button("Another answer", screen.answer).click()
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
    expect(alert).to_contain_text("Start LM Studio, or set OPENAI_BASE_URL.")
    expect(screen.answer).to_contain_text("So far so good")
    screen.button("Try again", alert).click()
    expect(screen.answer).to_contain_text("2/2")


@pytest.mark.req("CH-15")
def test_a_cut_connection_is_resumed_with_nothing_lost_or_doubled(open_screen: OpenScreen, cable: Cable) -> None:
    screen = open_screen(at=cable.address)
    screen.choose_agent("Counting")
    screen.ask("150")
    for mark in ("20 21", "60 61"):
        expect(screen.answer).to_contain_text(mark)
        cable.cut()
    screen.wait_for_end()
    expect(screen.answer.locator(".markdown")).to_have_text(numbers(150))


def test_a_house_out_of_reach_is_told_and_the_answer_goes_on_when_it_is_back(
    open_screen: OpenScreen, cable: Cable
) -> None:
    screen = open_screen(at=cable.address)
    screen.choose_agent("Counting")
    screen.ask("120")
    expect(screen.answer).to_contain_text("10 11")
    cable.pull()
    expect(screen.page.locator(".chat-notice")).to_contain_text("It is resumed by itself; nothing is lost.")
    cable.plug()
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
def test_a_restart_of_the_house_keeps_what_was_written_and_the_page_finds_it(
    open_screen: OpenScreen, home_folder: Path
) -> None:
    with app_process(home_folder) as (address, _):
        port = int(address.rsplit(":", 1)[1])
        screen = open_screen(at=address)
        screen.choose_agent("Counting")
        screen.ask("100000")
        expect(screen.answer).to_contain_text("80 81")
    with app_process(home_folder, port):
        expect(screen.answer).to_contain_text("cut short when Chie stopped")
        expect(screen.answer).to_contain_text("10 11")
        screen.choose_agent("Echo")
        screen.ask("and on")
        expect(screen.answer).to_contain_text("and on")


def test_a_question_that_cannot_be_sent_stays_in_the_field(open_screen: OpenScreen, cable: Cable) -> None:
    screen = open_screen(at=cable.address)
    expect(screen.page.locator(".agent-button")).to_contain_text("Guide")
    screen.page.wait_for_load_state("networkidle")  # what the page loads ahead is not what is cut here
    cable.pull()
    screen.ask("大事な質問")
    expect(screen.page.locator(".chat-notice")).to_contain_text("Your message was not sent.")
    expect(screen.field).to_have_value("大事な質問")
    cable.plug()
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


def test_other_words_for_a_question_are_kept_until_they_are_sent(screen: Screen) -> None:
    page = screen.page
    screen.choose_agent("Echo")
    screen.ask("first words")
    screen.wait_for_end()
    page.route("**/api/chat/*/edit", lambda route: route.abort())
    page.locator("article.user").hover()
    screen.button("Edit").click()
    box = page.get_by_label("Your question in other words")
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


def test_other_words_for_a_question_are_there_again_after_a_look_elsewhere_in_the_conversation(
    open_screen: OpenScreen, home_folder: Path
) -> None:
    with app_process(home_folder) as (address, _):
        session = long_session(home_folder, address, 60)
        screen = open_screen(f"/#/chat/{session}", at=address)
        first = screen.page.locator("[data-index='0'] article")
        expect(screen.answer.locator("table")).to_be_visible()
        scroll(screen, -1_000, until=lambda: first.count() == 1)
        screen.button("Edit", first).click()
        box = screen.page.get_by_label("Your question in other words")
        box.fill("書き直した質問")
        scroll(screen, 1_000, until=lambda: first.count() == 0)
        scroll(screen, -1_000, until=lambda: first.count() == 1)
        expect(box).to_have_value("書き直した質問")
        expect(box).not_to_be_focused()


def test_an_answer_that_the_models_provider_stopped_says_so(screen: Screen) -> None:
    screen.choose_agent("Filtered")
    screen.ask("tell me")
    note = "The model's provider stopped this answer."
    expect(screen.answer).to_contain_text(note)
    screen.page.reload()
    expect(screen.answer).to_contain_text("Half of")
    expect(screen.answer).to_contain_text(note)


def test_an_answer_cut_at_the_models_limit_says_so_and_goes_on(open_screen: OpenScreen) -> None:
    screen = open_screen(locale="ja")
    screen.choose_agent("Limited")
    screen.ask("長く")
    note = "長さの上限に達したため、回答は途中で終わりました。"
    expect(screen.answer).to_contain_text(note)
    screen.page.reload()
    expect(screen.answer).to_contain_text(note)
    screen.button("続ける", screen.answer).click()
    expect(screen.answer).to_contain_text("後半です。")
    expect(screen.answer).not_to_contain_text(note)
    expect(screen.answers.first).to_contain_text(note)
    expect(screen.button("続ける")).to_have_count(0)
