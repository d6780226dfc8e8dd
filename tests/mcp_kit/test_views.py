"""Views are small, self-contained, and can neither reach the network nor build markup from strings."""

import re
from importlib.resources import files
from importlib.resources.abc import Traversable
from pathlib import Path

import pytest

from chie.mcp_kit.views import bundle, page, shown_by

SCRIPTS = [(files("chie.knowledge"), "search_view.js"), (files("chie.n8n"), "graph_view.js")]
PAGES = [page("A & B", bundle(folder, script)) for folder, script in SCRIPTS]
SINKS = re.compile(r"innerHTML|outerHTML|insertAdjacentHTML|document\.write|srcdoc|\beval\b|new Function|setHTML")
REACHES = re.compile(
    r"\bfetch\(|XMLHttpRequest|WebSocket|EventSource|sendBeacon|@import|url\((?!#)|localStorage|cookie"
)


@pytest.mark.parametrize("html", PAGES)
def test_view_is_small_and_self_contained(html: str) -> None:
    assert len(html.encode()) < 24_000
    assert re.findall(r"<(?:link|img|iframe|script src)", html) == []
    urls = set(re.findall(r"https?://[\w./]+", html))
    assert urls == {"http://www.w3.org/1999/xhtml", "http://www.w3.org/2000/svg"}  # namespaces, never fetched
    assert html.count("</script>") == 1
    assert "<title>A &amp; B</title>" in html


@pytest.mark.parametrize("html", PAGES)
def test_view_cannot_reach_the_network_or_build_markup(html: str) -> None:
    assert SINKS.findall(html) == []
    assert REACHES.findall(html) == []
    [policy] = re.findall(r'Content-Security-Policy" content="([^"]+)"', html)
    rules = dict(rule.split(" ", 1) for rule in policy.split("; "))
    assert rules["default-src"] == "'none'"
    assert rules["require-trusted-types-for"] == "'script'"
    assert "unsafe" not in policy


@pytest.mark.parametrize(("folder", "script"), SCRIPTS)
def test_both_languages_have_the_same_keys(folder: Traversable, script: str) -> None:
    source = folder.joinpath(script).read_text(encoding="utf-8")
    texts = re.findall(r"^    (en|ja): \{(.*?)^    \},", source, re.DOTALL | re.MULTILINE)
    names = {language: re.findall(r"^      (\w+):", body, re.MULTILINE) for language, body in texts}
    assert names["en"] == names["ja"]
    assert len(names["en"]) > 9


def test_bundle_inlines_imports_and_drops_module_syntax(tmp_path: Path) -> None:
    (tmp_path / "size.js").write_text("// @ts-check\nexport const SIZE = 2;\n")
    (tmp_path / "area.js").write_text(
        'import { SIZE } from "./size.js";\n\n/**\n * Squared.\n */\nexport function area() {\n  return SIZE ** 2;\n}\n'
    )
    (tmp_path / "view.js").write_text('import { area } from "./area.js";\n/** @type {number} */ (area());\n')
    assert bundle(tmp_path, "view.js").split("\n") == [
        *("const SIZE = 2;", "function area() {", "return SIZE ** 2;", "}"),
        *("/** @type {number} */ (area());", ""),
    ]


def test_tool_without_a_view_has_no_meta() -> None:
    assert shown_by(None) is None
    assert shown_by("ui://x") == {"ui": {"resourceUri": "ui://x"}}
