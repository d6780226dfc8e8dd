"""What Obsidian adds to Markdown: tags in the text, aliases, and links between the files of a vault."""

import re
from collections.abc import Callable, Iterable, Iterator
from pathlib import PurePosixPath

from chie.unicode import fold

Resolve = Callable[[str], str | None]
"""Finds the URI of the note that a link names; None if the vault has no such file."""

_FENCE = re.compile(r" {0,3}(?P<marks>`{3,}(?=[^`]*$)|~{3,})(?P<rest>.*)")
_TICKS = re.compile(r"`+")
_EMOJI = r"\u200d\ufe0f\u2600-\u27bf\U0001f000-\U0001faff"
_TAG = re.compile(rf"(?<!\S)#(?P<tag>[\w/{_EMOJI}-]+)")
_LINK = re.compile(
    r"!?\[\[(?P<target>[^\[\]|#^\n]{1,500})(?P<part>[#^][^\[\]|\n]{0,500})?(?:\|(?P<shown>[^\[\]\n]{1,500}))?\]\]"
)
_SPECIAL = re.compile(r"([\\\[\]])")


def is_fence(line: str, fence: str) -> str | None:
    """The fence that is open after this line: marks, or nothing; None if the line is no fence."""
    found = _FENCE.match(line)
    if not found:
        return None
    if not fence:
        return found["marks"]
    return "" if found["marks"].startswith(fence) and not found["rest"].strip() else fence


def prose(body: str) -> str:
    """The body without fenced code, where lines that begin with `#` are comments."""
    return "\n".join(line for line, code in _lines(body) if not code)


def prose_parts(body: str) -> Iterator[str]:
    """The parts of the body outside of code, each within a line."""
    for line, is_code in _lines(body):
        if not is_code:
            yield from (line[start:stop] for start, stop in _prose_spans(line))


def inline_tags(body: str) -> list[str]:
    """Tags as Obsidian reads them, not in code: `#` after a blank, then letters, digits, `_`, `-`, `/`, not all
    digits. Unlike Obsidian's, they end before Japanese punctuation."""
    text = prose(body)
    found = _TAG.finditer("`".join(text[start:stop] for start, stop in _prose_spans(text)))
    tags = (match["tag"].strip("/") for match in found)
    return [tag for tag in tags if tag and not re.fullmatch(r"[\d/_-]*", tag)]


def with_links(body: str, resolve: Resolve) -> str:
    """`[[File|text]]` becomes a Markdown link to the note of that file. Links that lead nowhere stay as they are."""

    def link(match: re.Match[str]) -> str:
        uri = resolve(match["target"].strip())
        if uri is None:
            return match.group()
        shown = match["shown"] or f"{match['target'].strip()}{(match['part'] or '').replace('#', ' > ')}"
        escaped = _SPECIAL.sub(r"\\\1", shown)
        return f"[{escaped}]({uri})"

    return with_prose(body, lambda part: _LINK.sub(link, part))


def with_prose(body: str, change: Callable[[str], str]) -> str:
    """The body with every part outside of code changed."""

    def changed(line: str) -> str:
        end, parts = 0, list[str]()
        for start, stop in _prose_spans(line):
            parts += [line[end:start], change(line[start:stop])]
            end = stop
        return "".join(parts)

    return "\n".join(line if is_code else changed(line) for line, is_code in _lines(body))


def with_aliases(body: str, title: str, aliases: Iterable[str]) -> str:
    """Other names of the note are added at the end, where a search finds them, unless the text has them."""
    known = fold(f"{title}\n{body}")
    missing = [alias for alias in dict.fromkeys(map(_line, aliases)) if alias and fold(alias) not in known]
    return f"{body.rstrip()}\n\nAliases: {', '.join(missing)}" if missing and body.strip() else body


class LinkIndex:
    """Finds the file that a link names: by its path, or by its name, with the shortest path first."""

    def __init__(self, paths: Iterable[str]) -> None:
        self._paths: dict[str, str] = {}
        for path in sorted(paths, key=lambda path: (path.count("/"), path)):
            pure = PurePosixPath(path)
            for name in (path, str(pure.with_suffix("")), pure.name, pure.stem):
                self._paths.setdefault(fold(name), path)

    def find(self, target: str) -> str | None:
        return self._paths.get(fold(target.removeprefix("/")))


def _lines(body: str) -> Iterator[tuple[str, bool]]:
    """Every line, and whether it belongs to fenced code."""
    fence = ""
    for line in body.split("\n"):
        after = is_fence(line, fence)
        yield line, bool(fence) or after is not None
        fence = fence if after is None else after


def _prose_spans(text: str) -> Iterator[tuple[int, int]]:
    """Start and end of the parts around code spans, in linear time; the last part ends with the text. A span ends with
    as many backticks as it began."""
    runs = [match.span() for match in _TICKS.finditer(text)]
    later: dict[int, list[int]] = {}
    for number in reversed(range(len(runs))):
        later.setdefault(runs[number][1] - runs[number][0], []).append(number)
    position = number = 0
    while number < len(runs):
        same = later[runs[number][1] - runs[number][0]]
        while same and same[-1] <= number:
            same.pop()
        if same:
            yield position, runs[number][0]
            number = same[-1]
            position = runs[number][1]
        number += 1
    yield position, len(text)


def _line(text: str) -> str:
    return " ".join(text.split())
