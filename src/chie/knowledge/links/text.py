"""Links to notes in a text: `[[title]]`, `[[title|label]]` and `note://id`, outside of code."""

import re
from urllib.parse import unquote

from chie.knowledge.markdown.obsidian import prose_parts, with_prose
from chie.unicode import fold

ID_PREFIX = "note://"
MAX_TITLE = 300  # characters that a link can hold, and that are compared
_TITLE = re.compile(rf"\[\[(?P<title>[^\[\]|\n]{{1,{MAX_TITLE}}})(?P<label>\|[^\[\]\n]{{1,500}})?\]\]")
_URI = re.compile(r"note://(?P<id>[\w%.~-]{1,900})", re.ASCII)
_NOT_IN_LINKS = re.compile(r"[\[\]|\n]")


def titles_in(content: str) -> list[str]:
    """The titles that a text links to, each once."""
    if "[[" not in content:
        return []
    found = (match["title"].strip() for part in prose_parts(content) for match in _TITLE.finditer(part))
    return list(dict.fromkeys(found))


def ids_in(content: str) -> list[str]:
    """The ids that a text links to, each once."""
    if ID_PREFIX not in content:
        return []
    found = (unquote(match["id"]) for part in prose_parts(content) for match in _URI.finditer(part))
    return list(dict.fromkeys(found))


def targets_in(content: str) -> list[str]:
    """What a text links to, as links are stored: folded titles, and ids after `note://`."""
    found = (*map(folded_title, titles_in(content)), *map(id_target, ids_in(content)))
    return [target for target in dict.fromkeys(found) if target and "\0" not in target]


def id_target(note_id: str) -> str:
    return f"{ID_PREFIX}{note_id}"


def same_title(one: str, other: str) -> bool:
    return folded_title(one) == folded_title(other)


def folded_title(title: str) -> str:
    """Titles that differ in case, in width, in how accents are composed or in the number of blanks are the same to a
    link. Stores keep this: changing it takes a step of their schema."""
    return " ".join(fold(title).split())[:MAX_TITLE]


def renamed(content: str, old: str, new: str) -> str:
    """The text with links to the title `new` in place of `old`; a title that no link can hold changes nothing."""
    if _NOT_IN_LINKS.search(new):
        return content

    def link(match: re.Match[str]) -> str:
        return f"[[{new}{match['label'] or ''}]]" if same_title(match["title"], old) else match.group()

    return with_prose(content, lambda part: _TITLE.sub(link, part))
