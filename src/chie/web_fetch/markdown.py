"""Converts the main part of an HTML page on stdin to Markdown: `python -m chie.web_fetch.markdown URL MAX_MEMORY`."""

import re
import sys
from contextlib import suppress
from typing import Any
from urllib.parse import urljoin

from bs4 import BeautifulSoup, Tag
from markdownify import ATX, MarkdownConverter

NOT_CONTENT = ["script", "style", "noscript", "template", "svg", "iframe", "object", "canvas", "nav", "footer", "aside"]
MIN_MAIN_CHARACTERS = 200  # a shorter <main> or <article> is a teaser, and the page as a whole says more
_LONG_BLANK = re.compile(r"\s{100,}")  # markdownify needs quadratic time for them
_BLANK_LINES = re.compile(r"\n[ \t]*(?:\n[ \t]*){2,}")
_FOLLOWABLE = re.compile(r"https?://|mailto:", re.IGNORECASE)


def to_markdown(html: str, url: str) -> str:
    """Links become absolute. A page too deeply nested for the converter is returned as plain text."""
    soup = BeautifulSoup(_LONG_BLANK.sub("\n\n", html), "html.parser")
    for element in soup.find_all(NOT_CONTENT):
        element.extract()
    title = _line(soup.title.get_text()) if soup.title else ""
    main = _main(soup)
    _fix_links(main, _base(soup, url))
    try:
        text = _convert(main)
    except RecursionError:
        text = main.get_text("\n", strip=True)
    text = _BLANK_LINES.sub("\n\n", text).strip()
    return f"# {title}\n\n{text}" if title and not text.startswith(f"# {title}\n") else text


def _convert(main: Tag) -> str:
    converter: Any = MarkdownConverter(heading_style=ATX, bullets="-")
    return str(converter.convert_soup(main))


def _main(soup: BeautifulSoup) -> Tag:
    for name in ("main", "article"):
        found = soup.find_all(name, limit=2)
        if len(found) == 1 and len(found[0].get_text(strip=True)) >= MIN_MAIN_CHARACTERS:
            return found[0]
    if soup.head is not None:
        soup.head.extract()
    return soup.body or soup


def _base(soup: BeautifulSoup, url: str) -> str:
    base = soup.find("base", href=True)
    return _joined(url, str(base["href"])) if base else url


def _fix_links(main: Tag, base: str) -> None:
    """Pictures keep their alternative text only; links that lead nowhere keep their text."""
    for link in main.find_all("a", href=True):
        href = _joined(base, str(link["href"]).strip())
        if _FOLLOWABLE.match(href):
            link["href"] = href
        else:
            del link["href"]
    for image in main.find_all("img"):
        image.replace_with(_line(str(image.get("alt") or "")))


def _joined(base: str, href: str) -> str:
    try:
        return urljoin(base, href)
    except ValueError:
        return ""


def _line(text: str) -> str:
    return " ".join(text.split())


def main(url: str, max_memory: int) -> None:
    with suppress(ImportError, ValueError, OSError):  # not every system has such a limit
        import resource

        resource.setrlimit(resource.RLIMIT_AS, (max_memory, max_memory))
    html = sys.stdin.buffer.read().decode("utf-8")
    sys.stdout.buffer.write(to_markdown(html, url).encode("utf-8", errors="replace"))


if __name__ == "__main__":
    main(sys.argv[1], int(sys.argv[2]))
