"""The nouns of the room, as they are kept and as they go over the wire."""

from dataclasses import dataclass, field
from datetime import UTC, datetime
from secrets import token_hex
from typing import Literal

from chie.access.identity import ANONYMOUS as ANONYMOUS  # noqa: PLC0414 - the stores take it from here

AuthorKind = Literal["person", "agent"]


def new_id() -> str:
    """Short, because assistants carry ids in their context; a letter first, because Vector Search asks for one."""
    return f"k-{token_hex(8)}"


def now() -> datetime:
    return datetime.now(UTC)


@dataclass(frozen=True, kw_only=True)
class Note:
    """A finding, whole. The team's, unless `private`: then only its author sees it."""

    id: str
    title: str
    content: str
    tags: list[str] = field(default_factory=list)
    source: str | None = None
    status: str | None = None
    user_id: str = ANONYMOUS
    author_kind: AuthorKind = "agent"
    private: bool = False
    created_at: datetime
    updated_at: datetime


@dataclass(frozen=True, kw_only=True)
class Hit:
    """A note that was found. `content` is its best passage; `partial` says that the note holds more."""

    id: str
    title: str
    content: str
    score: float
    tags: list[str] = field(default_factory=list)
    source: str | None = None
    status: str | None = None
    user_id: str = ANONYMOUS
    private: bool = False
    created_at: datetime
    updated_at: datetime
    partial: bool = False


@dataclass(frozen=True, kw_only=True)
class Similar:
    """A note that says nearly the same."""

    id: str
    title: str
    score: float


@dataclass(frozen=True, kw_only=True)
class Heading:
    """A note in a list: enough to choose by."""

    id: str
    title: str
    tags: list[str]
    source: str | None
    status: str | None
    user_id: str
    private: bool
    created_at: datetime
    updated_at: datetime
    length: int


@dataclass(frozen=True, kw_only=True)
class TagCount:
    """A tag as most notes spell it, and how many carry it."""

    tag: str
    count: int


@dataclass(frozen=True, kw_only=True)
class Page:
    """Part of a list, newest first; `next_cursor` leads to the rest."""

    notes: list[Heading]
    next_cursor: str | None = None


@dataclass(frozen=True, kw_only=True)
class Found:
    """What a search found. `notice` is set when less than the whole search could run, and says why."""

    hits: list[Hit]
    notice: str | None = None


@dataclass(frozen=True, kw_only=True)
class Saved:
    """A note that is now on disk, with the notes that were there before and say nearly the same."""

    id: str
    title: str
    tags: list[str]
    user_id: str
    private: bool
    created_at: datetime
    updated_at: datetime
    similar: list[Similar] = field(default_factory=list)
    notice: str | None = None
