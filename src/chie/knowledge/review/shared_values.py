"""Spells values that two notes agree in alike, so that the pair model need not know that 1分半 is 90 seconds."""

import re

from chie.knowledge.review.dates import Date, dates
from chie.knowledge.review.quantities import Quantity, quantities
from chie.unicode import normal

Value = Quantity | Date

_NUMBER = re.compile(r"[\d.,\s]+")


def spelt_alike(a: str, b: str) -> tuple[str, str]:
    """Both texts in NFKC, with the shorter spelling of each value that both have. The same for either order."""
    a, b = normal(a), normal(b)
    in_a, in_b = _values(a), _values(b)
    return _respelt(a, in_a, in_b), _respelt(b, in_b, in_a)


def _values(text: str) -> list[Value]:
    return sorted([*quantities(text), *dates(text)], key=lambda value: value.start)


def _respelt(text: str, mine: list[Value], theirs: list[Value]) -> str:
    for one in reversed(mine):
        spellings = [one.text, *(other.text for other in theirs if _agree(one, other))]
        text = text[: one.start] + min(spellings, key=lambda spelling: (len(spelling), spelling)) + text[one.end :]
    return text


def _agree(a: Value, b: Value) -> bool:
    """103 s are not 100 s, but a month is 30 days or 31."""
    if isinstance(a, Date) or isinstance(b, Date):
        return isinstance(a, Date) and isinstance(b, Date) and a.value == b.value
    if not a.measure or a.measure != b.measure:
        return False
    return a.value == b.value or (_unit(a) != _unit(b) and a.agrees(b))


def _unit(quantity: Quantity) -> str:
    return _NUMBER.sub("", quantity.text)
