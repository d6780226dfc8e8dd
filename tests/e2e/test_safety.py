"""Text from models and tools stays text, whatever it looks like."""

from playwright.sync_api import Request, expect
from tests.e2e.screen import Screen

HARM = "script, iframe, object, embed, img[src^='http'], svg [onload], [onerror], a[href^='javascript'], [href^='data']"


def test_nothing_in_an_answer_runs_loads_or_becomes_an_element(screen: Screen) -> None:
    asked: list[str] = []

    def note(request: Request) -> None:
        asked.append(request.url)

    screen.page.on("request", note)
    screen.choose_agent("Hostile")
    screen.ask('<img src=x onerror="window.hacked=1">')
    screen.wait_for_end()
    expect(screen.answer).to_contain_text("<script>window.hacked = 1</script>")
    for card in screen.answer.locator("details.tool summary").all():
        card.click()
    screen.answer.locator(".sources-found summary").click()
    screen.answer.locator(".source-chip").first.click()
    expect(screen.page.locator(".source-card:popover-open")).to_contain_text("<script>hacked=1</script>")
    assert screen.page.locator(f"main :is({HARM})").count() == 0
    assert screen.script("() => window.hacked") is None
    assert [url for url in asked if not url.startswith(screen.address)] == []


def test_links_send_no_referrer(screen: Screen) -> None:
    screen.choose_agent("Hostile")
    screen.ask("links")
    screen.wait_for_end()
    links = screen.answer.locator(".markdown a")
    expect(links).to_have_count(3)
    assert {link.get_attribute("href") for link in links.all()} == {
        "https://example.test/ok",
        "https://example.test/auto",
        "https://evil.example.test/pixel.png?secret=1",
    }
    for link in links.all():
        assert "noreferrer" in (link.get_attribute("rel") or "")
    assert screen.answer.locator("img").count() == 0
    expect(screen.answer).to_contain_text("graph TD; A[")  # shown as its source


def test_trusted_types_reject_strings_in_script_sinks(screen: Screen) -> None:
    expect(screen.field).to_be_visible()
    sinks = {
        "HTML": "document.createElement('div').innerHTML = '<b>x</b>'",
        "a script": "document.createElement('script').text = '1'",
        "a script's URL": "document.createElement('script').src = '/x.js'",
        "a permissive policy": "trustedTypes.createPolicy('mine', {})",
    }
    for what, code in sinks.items():
        refused = screen.script(f"() => {{ try {{ {code}; return 'taken'; }} catch (error) {{ return error.name; }} }}")
        assert refused == "TypeError", what
    assert len(screen.browser_errors) >= len(sinks)  # the browser reports every refusal
    screen.browser_errors.clear()
