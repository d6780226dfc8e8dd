"""What the review finds, and what was decided on it."""

from dataclasses import dataclass, field
from datetime import datetime
from hashlib import sha256
from typing import Literal

from chie.knowledge.note import Note
from chie.knowledge.records import NoteState

Kind = Literal["duplicate", "contradiction", "stale", "orphaned", "unanswered"]
KINDS: tuple[Kind, ...] = ("contradiction", "duplicate", "stale", "orphaned", "unanswered")

Action = Literal["keep", "merge", "supersede", "archive", "dismiss"]
"""Both notes are right; they become one; the newer one replaces the older one; one goes to the trash; no problem."""


@dataclass(frozen=True, kw_only=True)
class FoundPair:
    """Two notes as they were compared: `a` is the id that sorts first. `reason` says in what they differ: `number`,
    `version`, `name`, `negation`, or `statement` if it is none of these, and `same` for duplicates."""

    a: str
    b: str
    kind: Kind
    probability: float
    reason: str
    here: str = ""  # of note a
    there: str = ""

    @property
    def finding(self) -> str:
        return f"{self.kind}:{self.a}:{self.b}"

    @property
    def fingerprint(self) -> str:
        """A decision holds until a note changes so that this changes: other values are another reason to ask."""
        if self.kind == "duplicate":
            return self.reason
        here, there = (" ".join(text.split()) for text in (self.here, self.there))
        return hashed(self.finding, f"{self.reason} {here}|{there}")


def hashed(finding: str, reason: str) -> str:
    """Decisions are kept for longer than the notes that a reason quotes."""
    return sha256(f"{finding} {reason}".encode()).hexdigest()[:32]


@dataclass(frozen=True, kw_only=True)
class ReviewNote:
    """What the review knows of every note: its version, its author, and its only reader, if it has one."""

    id: str
    user_id: str
    owner: str | None
    updated_at: datetime
    confirmed_at: datetime | None


@dataclass(frozen=True, kw_only=True)
class UnansweredSearch:
    """A search that found nothing, or nothing confident."""

    query: str
    count: int
    last_at: datetime


@dataclass(frozen=True, kw_only=True)
class Reason:
    """Why the review asks, as a code that the page translates and its parameters."""

    code: str
    params: dict[str, str | int | float] = field(default_factory=dict)


@dataclass(frozen=True, kw_only=True)
class Finding:
    """One question to somebody who knows. Of two notes, the older one comes first."""

    id: str
    kind: Kind
    notes: list[Note]
    reason: Reason
    may_change: list[bool]  # whether the viewer may change each of the notes


@dataclass(frozen=True, kw_only=True)
class ReviewDecision:
    """What somebody decided on a finding about these notes, with the ones that it changed before and after."""

    id: str
    finding: str
    fingerprint: str
    action: Action
    by: str
    at: datetime
    notes: list[str] = field(default_factory=list)
    before: list[NoteState] = field(default_factory=list)
    after: list[NoteState] = field(default_factory=list)
