"""Notes, search hits and pages, as they are stored and as they go over the wire."""

from dataclasses import dataclass, field
from datetime import UTC, datetime
from secrets import token_hex
from typing import Literal
from urllib.parse import quote

from chie.access.identity import ANONYMOUS as ANONYMOUS  # noqa: PLC0414 - re-exported for the stores
from chie.knowledge.anchors.anchor import AnchorReport, StoredAnchor
from chie.messages.catalogue import Message

TEAM = "team"
"""The space of notes that name no other."""

SEPARATOR = "\x1f"  # between the space and the owner of an audience

NoteOrigin = Literal["person", "assistant", "import", "hook"]
"""Who wrote a note: a person, an assistant by itself or because a hook asked it, or another program's file."""


def new_id() -> str:
    """Short, because assistants keep ids in their context, and starting with a letter, as Vector Search requires."""
    return f"k-{token_hex(8)}"


NOTE_URI = "note://{id}"
"""The MCP resource of a note."""


def note_uri(note_id: str) -> str:
    return NOTE_URI.format(id=quote(note_id, safe=""))


def audience(space: str, owner: str | None) -> str | None:
    """A key for those who find a note: None for all who may read the team's space, else a text that differs for every
    space and, with an `owner`, for every user in it. No user id has the separator, which is not printable."""
    return owner if space == TEAM else f"{space}{SEPARATOR}{owner or ''}"


def space_of(key: str | None) -> str:
    """The space of an audience."""
    space, separator, _ = (key or "").partition(SEPARATOR)
    return space if separator else TEAM


def now() -> datetime:
    return datetime.now(UTC)


@dataclass(frozen=True, kw_only=True)
class ImportedFile:
    """The file that a note was last imported from. `version` is the note's `updated_at` after that import."""

    vault: str
    path: str
    fingerprint: str
    version: datetime


@dataclass(frozen=True, kw_only=True)
class Note:
    """A whole note. Readers of its space see it unless it is `private` or a `proposal` that nobody has accepted yet.

    `questions` are questions that it answers, in other words than its own, and `signatures` are errors that it explains
    (`recall/signatures.py`). `confirmed_by` is the person who has said that it is right, `supersedes` has the ids of
    the notes that it replaces. `source` is for people; `anchor` is the code that the note is about.
    """

    id: str
    title: str
    content: str
    tags: list[str] = field(default_factory=list)
    source: str | None = None
    status: str | None = None
    user_id: str = ANONYMOUS
    origin: NoteOrigin = "assistant"
    space: str = TEAM
    private: bool = False
    proposal: bool = False
    questions: list[str] = field(default_factory=list)
    signatures: list[str] = field(default_factory=list)
    confirmed_by: str | None = None
    confirmed_at: datetime | None = None
    supersedes: list[str] = field(default_factory=list)
    anchor: StoredAnchor = None
    created_at: datetime
    updated_at: datetime

    @property
    def reader(self) -> str | None:
        """The only user who finds the note; None for a note that is shared in its space."""
        return self.user_id if self.private or self.proposal else None

    @property
    def audience(self) -> str | None:
        return audience(self.space, self.reader)


@dataclass(frozen=True, kw_only=True)
class NoteLink:
    """A note that another one names."""

    id: str
    title: str


@dataclass(frozen=True, kw_only=True)
class Hit:
    """A search result. `content` is the note's best passage; `partial` means that the note has more. A hit that is not
    `confident` is as similar as unrelated notes can be by chance: perhaps it helps. `question` is the note's question
    that matched, if one did; `anchor_report` is what has become of the code that the note is about."""

    id: str
    title: str
    content: str
    score: float
    confident: bool = True
    question: str | None = None
    tags: list[str] = field(default_factory=list)
    source: str | None = None
    status: str | None = None
    user_id: str = ANONYMOUS
    space: str = TEAM
    private: bool = False
    proposal: bool = False
    confirmed_by: str | None = None
    anchor: StoredAnchor = None
    anchor_report: AnchorReport | None = None
    created_at: datetime
    updated_at: datetime
    partial: bool = False
    superseded_by: list[NoteLink] = field(default_factory=list)


@dataclass(frozen=True, kw_only=True)
class Similar:
    """A note that says nearly the same."""

    id: str
    title: str
    score: float


@dataclass(frozen=True, kw_only=True)
class Heading:
    """A note in a list, without its content."""

    id: str
    title: str
    tags: list[str]
    source: str | None
    status: str | None
    user_id: str
    space: str = TEAM
    private: bool
    proposal: bool = False
    created_at: datetime
    updated_at: datetime
    length: int


@dataclass(frozen=True, kw_only=True)
class TagCount:
    """A tag in its most frequent spelling, and the number of notes that have it."""

    tag: str
    count: int


@dataclass(frozen=True, kw_only=True)
class AuthorCount:
    """A user, and the number of notes that they wrote."""

    author: str
    count: int


@dataclass(frozen=True, kw_only=True)
class Page:
    """Part of a list, newest first; `next_cursor` continues it."""

    notes: list[Heading]
    next_cursor: str | None = None


@dataclass(frozen=True, kw_only=True)
class Found:
    """The results of a search. `notice` is set if only part of the search could run."""

    hits: list[Hit]
    notice: Message | None = None


@dataclass(frozen=True, kw_only=True)
class SavedNote:
    """A stored note without its content, and existing notes that say nearly the same. `version` counts from 1; it is
    None in a store that keeps no versions."""

    id: str
    title: str
    tags: list[str]
    user_id: str
    space: str = TEAM
    private: bool
    created_at: datetime
    updated_at: datetime
    version: int | None = None
    similar: list[Similar] = field(default_factory=list)


@dataclass(frozen=True, kw_only=True)
class Saved(SavedNote):
    """`notice` is set if the note can be found by its words only."""

    notice: Message | None = None
