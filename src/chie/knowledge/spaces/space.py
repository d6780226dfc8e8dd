"""Spaces: who may read and write the notes in them, and which repositories are bound to them."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

from chie.knowledge.note import TEAM

Access = Literal["none", "read", "write"]
LEVELS: tuple[Access, ...] = ("none", "read", "write")


@dataclass(frozen=True, kw_only=True)
class Space:
    """`everybody` is what each user may do, `grants` what single users may do, by user id; the larger one counts."""

    name: str
    title: str = ""
    everybody: Access = "none"
    grants: Mapping[str, Access] = field(default_factory=dict)

    def access_of(self, user_id: str) -> Access:
        return larger(self.everybody, self.grants.get(user_id, "none"))


@dataclass(frozen=True, kw_only=True)
class Contents:
    """What is in a space: notes, deleted notes that are not purged, and earlier versions."""

    notes: int = 0
    deleted: int = 0
    versions: int = 0


def larger(one: Access, other: Access) -> Access:
    return max(one, other, key=LEVELS.index)


def smaller(one: Access, other: Access) -> Access:
    return min(one, other, key=LEVELS.index)


TEAM_SPACE = Space(name=TEAM, title="Team", everybody="write")
