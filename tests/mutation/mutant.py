"""A mutant: one small fault put into a function, and what became of it."""

import re
from dataclasses import dataclass
from typing import Literal

Fate = Literal["test", "type", "survived", "not reached", "not tried"]

_TEXT = re.compile(r'"([^"]*)"')


@dataclass(frozen=True)
class Mutant:
    """`before` and `after` are the lines that differ, each as one line; `fate` names who noticed, or why nobody did."""

    place: str
    before: str
    after: str
    fate: Fate

    @property
    def module(self) -> str:
        return self.place.split()[0]

    @property
    def is_noticed(self) -> bool:
        return self.fate in ("test", "type")

    @property
    def is_wording(self) -> bool:
        """Only the letter case of a sentence for people, or marks around it: tests look for the words that matter."""
        pairs = zip(_TEXT.findall(self.before), _TEXT.findall(self.after), strict=False)
        changed = [(one, other) for one, other in pairs if one != other]
        return all(one.casefold() == other.replace("XX", "").casefold() for one, other in changed) and any(
            one.count(" ") > 1 for one, _ in changed
        )
