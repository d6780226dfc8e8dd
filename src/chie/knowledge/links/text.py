"""Links to notes in a text: `[[title]]`, `[[title|label]]` and `note://id`, outside of code."""

import re
from urllib.parse import unquote

from chie.knowledge.markdown.obsidian import prose_parts, with_prose
from chie.knowledge.search.query import ascii_lower

_TITLE = re.compile(r"\[\[(?P<title>[^\[\]|\n]{1,300})(?P<label>\|[^\[\]\n]{1,500})?\]\]")
_URI = re.compile(r"note://(?P<id>[\w%.~-]{1,900})", re.ASCII)
_NOT_IN_LINKS = re.compile(r"[\[\]|]")


def titles_in(content: str) -> list[str]:
    """The titles that a text links to, each once."""
    found = (match["title"].strip() for part in prose_parts(content) for match in _TITLE.finditer(part))
    return list(dict.fromkeys(found))


def ids_in(content: str) -> list[str]:
    """The ids that a text links to, each once."""
    found = (unquote(match["id"]) for part in prose_parts(content) for match in _URI.finditer(part))
    return list(dict.fromkeys(found))


def same_title(one: str, other: str) -> bool:
    return folded_title(one) == folded_title(other)


def folded_title(title: str) -> str:
    return ascii_lower(" ".join(title.split()))


def renamed(content: str, old: str, new: str) -> str:
    """The text with links to the title `new` in place of `old`; a title that no link can hold changes nothing."""
    if _NOT_IN_LINKS.search(new):
        return content

    def link(match: re.Match[str]) -> str:
        return f"[[{new}{match['label'] or ''}]]" if same_title(match["title"], old) else match.group()

    return with_prose(content, lambda part: _TITLE.sub(link, part))
