"""What every view is: small, whole, and unable to reach anything or to make markup of a text."""

import re
from importlib.resources import files

import pytest

from chie.mcp_kit.views import page, shown_by

SCRIPTS = [files("chie.knowledge") / "search_view.js", files("chie.n8n") / "graph_view.js"]
PAGES = [page("A & B", script.read_text(encoding="utf-8")) for script in SCRIPTS]
SINKS = re.compile(r"innerHTML|outerHTML|insertAdjacentHTML|document\.write|srcdoc|\beval\b|new Function|setHTML")
REACHES = re.compile(
    r"\bfetch\(|XMLHttpRequest|WebSocket|EventSource|sendBeacon|@import|url\((?!#)|localStorage|cookie"
)


@pytest.mark.parametrize("html", PAGES)
def test_a_view_is_small_and_whole(html: str) -> None:
    assert len(html.encode()) < 24_000
    assert re.findall(r"<(?:link|img|iframe|script src)", html) == []
    addresses = set(re.findall(r"https?://[\w./]+", html))
    assert addresses == {"http://www.w3.org/1999/xhtml", "http://www.w3.org/2000/svg"}  # names, never fetched
    assert html.count("</script>") == 1
    assert "<title>A &amp; B</title>" in html


@pytest.mark.parametrize("html", PAGES)
def test_a_view_has_no_way_out_and_no_way_to_make_markup(html: str) -> None:
    assert SINKS.findall(html) == []
    assert REACHES.findall(html) == []
    [policy] = re.findall(r'Content-Security-Policy" content="([^"]+)"', html)
    rules = dict(rule.split(" ", 1) for rule in policy.split("; "))
    assert rules["default-src"] == "'none'"
    assert rules["require-trusted-types-for"] == "'script'"
    assert "unsafe" not in policy


@pytest.mark.parametrize("script", SCRIPTS)
def test_both_languages_have_the_same_words(script: object) -> None:
    words = re.findall(r"^    (en|ja): \{(.*?)^    \},", script.read_text(encoding="utf-8"), re.DOTALL | re.MULTILINE)  # type: ignore[attr-defined]
    names = {language: re.findall(r"^      (\w+):", body, re.MULTILINE) for language, body in words}
    assert names["en"] == names["ja"]
    assert len(names["en"]) > 9


def test_a_tool_without_a_view_carries_nothing_more() -> None:
    assert shown_by(None) is None
    assert shown_by("ui://x") == {"ui": {"resourceUri": "ui://x"}}
