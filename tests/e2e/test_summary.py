"""A conversation that is too long for its model, on the page: the oldest turns are summarised, visibly."""

import pytest
from playwright.sync_api import expect
from tests.app.processes import http_server
from tests.e2e.conftest import OpenScreen
from tests.fakes import patient
from tests.fakes.model_server import Refuse, say
from tests.fakes.openai_server import OpenAIServer

pytestmark = pytest.mark.req("AG-2")

LONG = "長い説明です。" * 90
TEXTS = {
    "ja-JP": ("チャット", "最初の 2 件の質問と回答を要約しました", "元のやり取りは消えていません", "編集", "再送信"),
    "en-US": ("Chat", "The first 2 questions were summarised", "Nothing is deleted", "Edit", "Resend"),
}


@pytest.mark.parametrize("locale", TEXTS)
def test_the_oldest_turns_become_a_block_that_opens(
    open_screen: OpenScreen, monkeypatch: pytest.MonkeyPatch, locale: str
) -> None:
    agent, label, note, edit, send = TEXTS[locale]
    answers = [say(f"回答 {number}。{LONG}") for number in range(3)]
    refusal = Refuse(400, "request (2600 tokens) exceeds the available context size (2048 tokens)")
    summary = say("利用者は**要点**を尋ねた。")
    with OpenAIServer(*answers[:2], refusal, summary, answers[2], say("続きです。"), say("編集の答え。")) as model:
        monkeypatch.setenv("OPENAI_BASE_URL", model.base_url)
        with http_server("chie", "serve") as url:
            screen = open_screen("/", at=url, locale=locale, viewport={"width": 360, "height": 640})
            screen.choose_agent(agent)
            for number in range(4):
                screen.ask(f"質問 {number}")
                expect(screen.answers).to_have_count(number + 1)
                screen.wait_for_end()
            block = screen.page.locator("details", has_text=label)
            expect(block).to_have_count(1)
            screen.page.reload()
            expect(block).to_have_count(1)
            block.locator("summary").focus()
            screen.page.keyboard.press("Enter")
            expect(block).to_contain_text("利用者は**要点**を尋ねた。")
            expect(block).to_contain_text(note)
            assert screen.script("() => document.documentElement.scrollWidth") <= 360
            session = screen.page.url.rpartition("/")[2]
            markdown = patient.get(f"{url}/api/sessions/{session}/export").text
            assert "Summary of the first 2 questions" in markdown
            assert "> 利用者は**要点**を尋ねた。" in markdown
            assert markdown.count("長い説明") > 200, "the export has the whole conversation"
            question = screen.page.locator("article.user", has_text="質問 1")
            question.scroll_into_view_if_needed()
            screen.button(edit, question).click()
            screen.page.locator("article.user textarea").fill("別の質問")
            screen.button(send).click()
            expect(screen.answer).to_contain_text("編集の答え。")
    told = [text for _, text in model.turns(model.seen[4])]
    assert told[0].startswith("(A summary of the earlier messages")
    assert told[0].endswith("質問 2")
    assert len(told) == 1
    assert "要点" in model.turns(model.seen[5])[0][1], "later turns of this branch use the summary"
    edited = model.turns(model.seen[6])
    assert [text[:5] for _, text in edited] == ["質問 0", "回答 0。", "別の質問"], "another branch does not"
