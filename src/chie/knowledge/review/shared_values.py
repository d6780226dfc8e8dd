"""Spells values that two notes agree in alike, so that the pair model need not know that 1分半 is 90 seconds."""

import re

from chie.knowledge.review.quantities import Quantity, quantities
from chie.unicode import normal

_NUMBER = re.compile(r"[\d.,\s]+")


def spelt_alike(a: str, b: str) -> tuple[str, str]:
    """Both texts in NFKC, with the shorter spelling of each value that both have. The same for either order."""
    a, b = normal(a), normal(b)
    in_a, in_b = quantities(a), quantities(b)
    return _respelt(a, in_a, in_b), _respelt(b, in_b, in_a)


def _respelt(text: str, mine: list[Quantity], theirs: list[Quantity]) -> str:
    for one in reversed(mine):
        spellings = [one.text, *(other.text for other in theirs if _agree(one, other))]
        text = text[: one.start] + min(spellings, key=lambda spelling: (len(spelling), spelling)) + text[one.end :]
    return text


def _agree(a: Quantity, b: Quantity) -> bool:
    """103 s are not 100 s, but a month is 30 days or 31."""
    if not a.measure or a.measure != b.measure:
        return False
    return a.value == b.value or (_unit(a) != _unit(b) and a.agrees(b))


def _unit(quantity: Quantity) -> str:
    return _NUMBER.sub("", quantity.text)
