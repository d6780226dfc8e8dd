"""A mutant: one small change of a function, and its fate."""

import re
from dataclasses import dataclass
from typing import Literal

Fate = Literal["test", "type", "survived", "not reached", "not tried"]

_TEXT = re.compile(r'"([^"]*)"')


@dataclass(frozen=True)
class Mutant:
    """`before` and `after` are the changed lines, joined; `fate` is what detected it, or why it was not."""

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
        """Whether it changes only the letter case of a sentence, or adds marks around it."""
        pairs = zip(_TEXT.findall(self.before), _TEXT.findall(self.after), strict=False)
        changed = [(one, other) for one, other in pairs if one != other]
        return all(one.casefold() == other.replace("XX", "").casefold() for one, other in changed) and any(
            one.count(" ") > 1 for one, _ in changed
        )
