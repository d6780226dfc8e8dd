"""Formulas in answers and notes: drawn by KaTeX under the page's Content-Security-Policy, loaded on demand."""

from collections.abc import Callable
from pathlib import Path

import pytest
from playwright.sync_api import Locator, expect
from tests.e2e.conftest import OpenScreen
from tests.e2e.screen import Screen
from tests.e2e.test_accessibility import serious_findings
from tests.e2e.test_markdown import in_chat, in_note

pytestmark = pytest.mark.req("AG-15")

NARROW = {"width": 360, "height": 640}
WIDE = " + ".join(f"x_{{{number}}}^2" for number in range(60))
TEXT = rf"""面積は \(\pi r^2\) で、関数$f(x)$は**$a_1 * b_1$**です。

\[
\sqrt{{\frac{{a}}{{b}}}}
- \left\{{ \begin{{matrix}} 1 & 2 \\ 3 & 4 \end{{matrix}} \right.
\]

1. $$\hat{{y}} = \text{{速さ}}$$
2. wide:
   \[ {WIDE} \]

| a | $|x|$ |
|---|---|
| b | \(y\) |
"""
UNTOUCHED = r"""It costs $5 and $10, `$x$` and \$y\$; 価格は$5〜$10です。

```tex
\(x\)
```
"""
FONTS_LOADED = (
    "() => [...document.fonts].filter((one) => one.family.startsWith('KaTeX') && one.status === 'loaded').length > 2"
)


@pytest.mark.parametrize("locale", ["ja-JP", "en-US"])
@pytest.mark.parametrize("show", [in_chat, in_note], ids=["answer", "note"])
def test_formulas_are_drawn(open_screen: OpenScreen, locale: str, show: Callable[[Screen, str], Locator]) -> None:
    screen = open_screen("/", locale=locale, viewport=NARROW)
    shown = show(screen, TEXT)
    expect(shown.locator(".katex-html")).to_have_count(8)
    expect(shown.locator(".formula-display .katex-display")).to_have_count(3)
    expect(shown.locator(".formula-source")).to_have_count(0)
    expect(shown.locator("math annotation").first).to_have_text(r"\pi r^2")
    expect(shown.locator("strong .katex-html")).to_have_count(1)
    expect(shown.locator("td .katex-html")).to_have_count(1)
    screen.page.wait_for_function(FONTS_LOADED)
    assert screen.script("() => document.documentElement.scrollWidth") <= NARROW["width"]
    wide = shown.locator(".formula-display").last
    expect(wide).to_have_attribute("tabindex", "0")
    wide.focus()
    screen.page.keyboard.press("ArrowRight")
    screen.page.wait_for_function("(element) => element.scrollLeft > 0", arg=wide.element_handle())


def test_prices_and_code_stay_as_they_are(open_screen: OpenScreen) -> None:
    screen = open_screen()
    requests: list[str] = []
    screen.page.on("request", lambda request: requests.append(request.url))
    shown = in_chat(screen, UNTOUCHED)
    expect(shown).to_contain_text("It costs $5 and $10, $x$ and $y$; 価格は$5〜$10です。")
    expect(shown.locator("pre, .code").first).to_contain_text(r"\(x\)")
    expect(shown.locator(".formula")).to_have_count(0)
    assert not [url for url in requests if "katex" in url.lower()]


def test_bad_tex_shows_its_source(open_screen: OpenScreen) -> None:
    screen = open_screen()
    shown = in_chat(screen, r"wrong: \(\frac{1}\) and \(\nosuchcommand{x}\), right: \(x\)")
    expect(shown.locator(".katex-html")).to_have_count(1)
    expect(shown.locator(".formula-source")).to_have_text([r"\(\frac{1}\)", r"\(\nosuchcommand{x}\)"])


def test_hostile_tex_stays_harmless(open_screen: OpenScreen) -> None:
    screen = open_screen()
    shown = in_chat(
        screen,
        r"\(\href{javascript:window.hacked=1}{x}\) \(\htmlData{a=b}{x}\) \(\def\a{\a\a}\a\) \(\rule{9999em}{9999em}\) "
        r"\(\includegraphics{https://evil.example.test/x.png}\) \(\text{<img src=x onerror=hacked=2>}\)",
    )
    expect(shown.locator(".katex-html").last).to_be_visible()
    assert screen.script("() => window.hacked ?? null") is None
    expect(shown.locator("a, img")).to_have_count(0)
    assert screen.script("(element) => element.scrollHeight < 4000", shown.element_handle())


@pytest.mark.parametrize("locale", ["ja-JP", "en-US"])
def test_formulas_appear_while_the_answer_is_written(open_screen: OpenScreen, tmp_path: Path, locale: str) -> None:
    screen = open_screen("/", locale=locale)
    screen.choose_agent("Mathematician")
    screen.ask(str(tmp_path / "go"))
    expect(screen.answer.locator(".formula-source")).to_have_text("\\[\nS_1 * S_2")
    (tmp_path / "go").touch()
    screen.wait_for_end()
    expect(screen.answer.locator(".katex-html")).to_have_count(2)
    expect(screen.answer.locator(".formula-source")).to_have_count(0)


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_formulas_are_accessible(open_screen: OpenScreen, theme: str) -> None:
    screen = open_screen(locale="ja-JP", color_scheme=theme, bypass_csp=True, viewport=NARROW)
    shown = in_chat(screen, TEXT)
    expect(shown.locator(".katex-html")).to_have_count(8)
    expect(shown.locator(".katex-html").first).to_have_attribute("aria-hidden", "true")
    assert serious_findings(screen) == []
