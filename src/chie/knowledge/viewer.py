"""For whom notes are read: the user, and the spaces that this user may read and write."""

from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from functools import cached_property

from chie.knowledge.note import ANONYMOUS, TEAM, Note, audience

_TEAM = frozenset({TEAM})


@dataclass(frozen=True)
class Viewer:
    """`rules.current_viewer` makes it from the current identity; stores return nothing that it does not see."""

    user: str = ANONYMOUS
    spaces: frozenset[str] = _TEAM
    writable: frozenset[str] = _TEAM
    narrowed_from: "Viewer | None" = field(default=None, compare=False)

    def sees(self, note: Note) -> bool:
        """Whether the note is in a readable space and neither private nor a proposal of somebody else."""
        return note.space in self.spaces and note.reader in (None, self.user)

    def may_decide(self, note: Note) -> bool:
        """Whether a proposal waits for this viewer too: a private one is its author's alone."""
        return note.space in self.spaces and (not note.private or note.user_id == self.user)

    def within(self, spaces: Iterable[str]) -> "Viewer":
        """The same user, looking into these spaces alone, as far as they are readable."""
        return replace(self, spaces=self.spaces.intersection(spaces), narrowed_from=self.whole)

    @property
    def whole(self) -> "Viewer":
        """Looking into all readable spaces: where somebody looks for a note changes nothing that is known of it, such
        as what supersedes it."""
        return self.narrowed_from or self

    @cached_property
    def sees_team(self) -> bool:
        return TEAM in self.spaces

    @cached_property
    def audiences(self) -> tuple[str, ...]:
        """The audiences of all notes that the viewer sees; that of the team's notes is empty and comes first."""
        found = (audience(space, owner) or "" for space in self.spaces for owner in (None, self.user))
        return tuple(sorted(found))


ANYBODY = Viewer()
