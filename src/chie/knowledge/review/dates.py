"""Dates in a note, so that 2月13日, 2/13(木) and February 13 are the same, and March is not June."""

import re
from collections.abc import Iterable
from dataclasses import dataclass

_MONTHS = "jan feb mar apr may jun jul aug sep oct nov dec".split()
_LONG = "January|February|March|April|June|July|August|September|October|November|December"  # May is a verb, too
_NAMED = rf"{_LONG}|May|(?:Jan|Feb|Mar|Apr|Jun|Jul|Aug|Sept?|Oct|Nov|Dec)\b\.?"
_BEFORE_MAY = r"(?:\b(?:in|since|until|till|by|of|from|last|during|before|after|early|mid|late|this|next|for|the)[ -])"
_DAY = r"(?P<{}>[12]\d|3[01]|0?[1-9])(?:st|nd|rd|th)?(?![\d:.]*\d)(?!\s*(?:%|[ap]m\b))"
_YEAR = r"(?:199|20[0-4])\d"
PATTERN = re.compile(
    rf"(?<![\d.-])(?P<iso_year>{_YEAR})[-/](?P<iso_month>1[0-2]|0?[1-9])(?!\d)(?:[-/](?P<iso_day>\d{{1,2}})(?!\d))?"
    r"|(?<!\d)(?:(?P<ja_year>\d{4})\s*年(?!間)\s*)?(?:(?P<ja_month>1[0-2]|0?[1-9])\s*月(?!間)(?:\s*(?P<ja_day>\d{1,2})\s*日(?!間))?)"
    rf"|(?<!\d)(?P<ja_only_year>{_YEAR})\s*年(?!間)|毎月\s*(?P<ja_only_day>\d{{1,2}})\s*日"
    r"|(?<![\w/.-])(?P<slash_month>1[0-2]|0?[1-9])/(?P<slash_day>[12]\d|3[01]|0?[1-9])(?![\w/%])"
    r"(?=\s*(?:[（(][月火水木金土日]|の|に(?!分)|から|まで|以降|以前|より前|付|時点|頃|[〜~]))"
    rf"|\b{_DAY.format('day_before')}\s+(?:of\s+)?(?P<month_after>{_NAMED})(?![a-z])(?:,?\s+(?P<year_a>{_YEAR})\b)?"
    rf"|\b(?P<month_before>{_NAMED})\s+{_DAY.format('day_after')}\b(?:,?\s+(?P<year_b>{_YEAR})\b)?"
    rf"|\b(?P<month_alone>{_LONG})\b(?:,?\s+(?P<year_c>{_YEAR})\b)?"
    rf"|{_BEFORE_MAY}(?P<may>May)\b(?:,?\s+(?P<year_d>{_YEAR})\b)?"
    rf"|\b(?:in|since|until|of)\s+(?P<year_only>{_YEAR})\b(?!\s*(?:%|[mkg]?b\b|m?s\b|[a-z]+s\b))"
)


@dataclass(frozen=True)
class Date:
    """`value` is year, month and day; 0 for what the text leaves open."""

    value: tuple[int, int, int]
    text: str
    start: int
    end: int

    @property
    def has_day(self) -> bool:
        return self.value[2] > 0

    def agrees(self, other: "Date") -> bool:
        """February 13 agrees with February, not with March."""
        return all(mine == theirs for mine, theirs in zip(self.value, other.value, strict=True) if mine and theirs)


def dates(text: str) -> list[Date]:
    return [_date(match) for match in PATTERN.finditer(text)]


def differ(a: Iterable[Date], b: Iterable[Date]) -> bool:
    """Whether both have dates and none of one agrees with any of the other."""
    mine, theirs = list(a), list(b)
    return bool(mine and theirs) and not any(one.agrees(other) for one in mine for other in theirs)


def _date(match: re.Match[str]) -> Date:
    found = match.groupdict()
    year = _first(found, "iso_year", "ja_year", "ja_only_year", "year_a", "year_b", "year_c", "year_d", "year_only")
    month = _first(found, "iso_month", "ja_month", "slash_month", "month_after", "month_before", "month_alone", "may")
    day = _first(found, "iso_day", "ja_day", "ja_only_day", "slash_day", "day_before", "day_after")
    number = int(month or 0) if not month or month.isdigit() else _MONTHS.index(month[:3].lower()) + 1
    return Date((int(year or 0), number, int(day or 0)), match.group(), *match.span())


def _first(found: dict[str, str | None], *names: str) -> str:
    return next((value for name in names if (value := found[name])), "")
