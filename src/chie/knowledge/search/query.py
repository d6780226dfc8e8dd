"""The query language of search: free text with filters such as `tag:docker`, `"exact phrase"` and `-word`.

Whatever does not have the form of a filter is text, so that messages and commands can be pasted: in `http://host:8080`,
`std::vector`, `--force`, `ls -la` and `10:30` nothing is a filter. Quotes and hyphens are filters only in a query that
does not look pasted, as `Error: "foo" not found` does.
"""

import re
from collections.abc import Iterable
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from functools import lru_cache
from typing import TYPE_CHECKING

from chie.errors import ValidationError
from chie.knowledge.search.tokens import LETTER, fold
from chie.unicode import normal

if TYPE_CHECKING:
    from chie.knowledge.note import Note

MAX_FILTERS = 32

_FIELD = re.compile(
    r"""(?<!\S)(?:(?P<minus>-)(?=tag))?(?P<name>tag|author|space|after|before|at(?=[:：]"?(?:19|20)\d\d(?:[-/"\s]|$)))[:：]
        (?:"(?P<quoted>[^"\n]+)"(?!\S)|(?P<bare>[^\s"]+))""",
    re.VERBOSE | re.IGNORECASE,
)
# An excluded word has three letters or more, because options of commands mostly have fewer; a kana or kanji is enough.
_PHRASE = re.compile(
    r"""(?<!\S)(?P<minus>-)?["“](?P<phrase>[^\S\n]*+[^\s"“”][^"“”\n]*+)["”](?!\S)
        |(?<!\S)-(?P<word>(?:[^\W\d_a-zA-Z]|[a-zA-Z]{3})[\w.]*(?:-\w+)*)(?!\S)""",
    re.VERBOSE,
)
# Several lines, options, prompts and paths of commands, assignments, and the punctuation of messages.
_PASTED = re.compile(
    r"""\n|\S[:：;=(](?!\S)|(?<!\S)[({\[<]
        |(?<!\S)(?:--\w|-\w{1,2}(?!\S)|[$>\#.|&]+(?!\S)|[~.]{0,2}/\S|\w+=)""",
    re.VERBOSE,
)
_DATE = re.compile(r"(\d{4})(?:[-/](\d{1,2})(?:[-/](\d{1,2}))?)?")


@dataclass(frozen=True, kw_only=True)
class Filters:
    """Conditions that a note must meet, besides its tags: one of the authors, last changed in the range from `after`
    up to and without `before`, none of `without_tags`, all of the phrases and none of the excluded ones. Tags and
    phrases are folded; a phrase matches whole words."""

    authors: tuple[str, ...] = ()
    after: datetime | None = None
    before: datetime | None = None
    without_tags: tuple[str, ...] = ()
    phrases: tuple[str, ...] = ()
    excluded: tuple[str, ...] = ()

    def __bool__(self) -> bool:
        return self != NO_FILTERS

    def accept(self, note: "Note") -> bool:
        """For stores that cannot check everything themselves."""
        return (
            (not self.authors or ascii_lower(note.user_id) in map(ascii_lower, self.authors))
            and (self.after is None or note.updated_at >= self.after)
            and (self.before is None or note.updated_at < self.before)
            and not {fold(tag) for tag in note.tags}.intersection(self.without_tags)
            and self.accept_text(note.title, note.content)
        )

    def accept_text(self, title: str, content: str) -> bool:
        """Whether these have all of the phrases and none of the excluded ones. Folding a text takes longer than looking
        for a phrase in it, so it is folded once."""
        if not self.phrases and not self.excluded:
            return True
        texts = (fold(content), fold(title))
        return all(_occurs(phrase, texts) for phrase in self.phrases) and not any(
            _occurs(phrase, texts) for phrase in self.excluded
        )


NO_FILTERS = Filters()


@dataclass(frozen=True)
class SearchQuery:
    """A query as it was parsed. `text` is what to look for, the phrases included; it is empty if there are only
    filters. With `spaces`, only notes in one of these are looked for; with `at`, what was known then."""

    text: str
    tags: tuple[str, ...] = ()
    filters: Filters = NO_FILTERS
    spaces: tuple[str, ...] = ()
    at: str | None = None


def parse(query: str) -> SearchQuery:
    """Raises ValidationError for a date that is none, and for too many filters. `at:` is a filter only before a year,
    and `as_of.py` reads its date."""
    fields = list(_FIELD.finditer(query))
    text = _FIELD.sub("", query)
    quoted = [] if _PASTED.search(_PHRASE.sub("", text)) else list(_PHRASE.finditer(text))
    if (number := len(fields) + len(quoted)) > MAX_FILTERS:
        raise ValidationError("knowledge.filters_too_many", count=number, limit=MAX_FILTERS)
    filters = Filters(
        authors=_values(fields, "author"),
        after=_moment(fields, "after"),
        before=_moment(fields, "before"),
        without_tags=tuple(fold(tag.lstrip("#")) for tag in _values(fields, "-tag")),
    )
    if quoted:
        words = [(_is_excluded(found), fold(_words(found))) for found in quoted]
        filters = replace(
            filters,
            phrases=tuple(phrase for minus, phrase in words if not minus),
            excluded=tuple(phrase for minus, phrase in words if minus),
        )
        text = _PHRASE.sub(lambda found: "" if _is_excluded(found) else _words(found), text)
    text = text.strip() if fields or filters else query
    at = next(reversed(_values(fields, "at")), None)
    return SearchQuery(text, _values(fields, "tag"), filters, _values(fields, "space"), at)


def _occurs(phrase: str, texts: Iterable[str]) -> bool:
    return any(phrase in text and _pattern(phrase).search(text) for text in texts)


def ascii_lower(text: str) -> str:
    """As `lower` in SQLite, and in PostgreSQL for a column in the order of its bytes."""
    return text.encode().lower().decode()


def _is_excluded(found: re.Match[str]) -> bool:
    return bool(found["minus"] or found["word"])


def _words(found: re.Match[str]) -> str:
    return found["phrase"] or found["word"]


def _values(fields: Iterable[re.Match[str]], name: str) -> tuple[str, ...]:
    return tuple(
        found["quoted"] or found["bare"]
        for found in fields
        if f"{found['minus'] or ''}{found['name'].casefold()}" == name
    )


def _moment(fields: Iterable[re.Match[str]], name: str) -> datetime | None:
    """The first day of a year or month. The last filter of a name counts."""
    values = _values(fields, name)
    if not values:
        return None
    date = _DATE.fullmatch(normal(values[-1]))
    try:
        year, month, day = (int(part or 1) for part in date.groups()) if date else (0, 0, 0)
        return datetime(year, month, day, tzinfo=UTC)
    except ValueError as error:
        raise ValidationError("knowledge.date_invalid", name=name) from error


@lru_cache(maxsize=64)
def _pattern(phrase: str) -> re.Pattern[str]:
    """`go` is not in `good`. Kana and kanji have no word boundaries."""
    start = rf"(?<!{LETTER})" if re.match(LETTER, phrase) else ""
    end = rf"(?!{LETTER})" if re.match(LETTER, phrase[-1:]) else ""
    return re.compile(start + re.escape(phrase) + end)
