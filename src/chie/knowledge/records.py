"""What is kept beside notes: decisions that can be undone, how useful notes were, and searches to evaluate with."""

from dataclasses import dataclass
from datetime import datetime
from typing import Literal

from chie.knowledge.note import Note

Use = Literal["shown", "opened", "cited", "recalled", "followed"]
"""What became of a note: in the results of a search, opened, cited in an answer, shown by a hook, and then read."""

Mark = Literal["helpful", "wrong"]
"""What a reader says about a note."""


@dataclass(frozen=True, kw_only=True)
class NoteState:
    """A note as it was at one time, without its text: that is in the note's versions alone, and gone with them."""

    id: str
    version: int
    created_at: datetime
    updated_at: datetime
    confirmed_by: str | None = None
    confirmed_at: datetime | None = None

    @classmethod
    def of(cls, note: Note, version: int | None) -> "NoteState":
        """`version` is None in a store that keeps no versions."""
        return cls(
            id=note.id,
            version=version or 0,
            created_at=note.created_at,
            updated_at=note.updated_at,
            confirmed_by=note.confirmed_by,
            confirmed_at=note.confirmed_at,
        )


@dataclass(frozen=True, kw_only=True)
class Decision:
    """What somebody decided on a proposal, with what was there before. `result` is the note as the decision left it,
    None if the proposal was rejected; `target` is the note that it was merged into, as that note was before. `kept` are
    the notes before, of a store that keeps no versions."""

    proposal: NoteState
    by: str
    at: datetime
    result: NoteState | None = None
    target: NoteState | None = None
    kept: tuple[Note, ...] = ()


@dataclass(frozen=True, kw_only=True)
class RecordedSearch:
    """A search that ended in a note that was opened or cited."""

    query: str
    note: str
    at: datetime
