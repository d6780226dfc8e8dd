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
class Decision:
    """What somebody decided on a proposal, with what was there before. `result` is the note as the decision left it,
    None if the proposal was rejected; `target` is the note that it was merged into, as that note was before."""

    proposal: Note
    by: str
    at: datetime
    result: Note | None = None
    target: Note | None = None


@dataclass(frozen=True, kw_only=True)
class RecordedSearch:
    """A search that ended in a note that was opened or cited."""

    query: str
    note: str
    at: datetime
