"""The nouns: what was said, by whom, and how far an answer got."""

from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any, Literal
from uuid import uuid4

from chie.access.identity import ANONYMOUS

Role = Literal["user", "assistant"]
Status = Literal["complete", "streaming", "stopped", "interrupted", "failed"]


def new_id() -> str:
    return str(uuid4())


def now() -> datetime:
    return datetime.now(UTC)


@dataclass(frozen=True, kw_only=True)
class Session:
    """A conversation, without its messages. Nobody but its user knows of it."""

    session_id: str
    title: str
    current_agent_id: str
    created_at: datetime
    updated_at: datetime
    user_id: str = ANONYMOUS


@dataclass(frozen=True, kw_only=True)
class Message:
    """A question or an answer. `parts` tells in order what was said and which tools ran; `last_event_id` is the
    event up to which `content` reaches, so an answer that is still streaming can be followed from there."""

    message_id: str
    session_id: str
    parent_id: str | None
    role: Role
    content: str
    status: Status
    created_at: datetime
    agent_id: str | None = None
    error: str | None = None
    parts: list[dict[str, Any]] = field(default_factory=list)
    input_tokens: int | None = None
    output_tokens: int | None = None
    last_event_id: int = 0


@dataclass(frozen=True, kw_only=True)
class Conversation:
    """A session whole. Messages form a tree by `parent_id`, oldest first; the last one ends the newest branch."""

    session_id: str
    title: str
    current_agent_id: str
    created_at: datetime
    updated_at: datetime
    user_id: str = ANONYMOUS
    messages: list[Message]


@dataclass(frozen=True, kw_only=True)
class Page:
    """Part of the list, newest first; `next_cursor` leads to the rest."""

    sessions: list[Session]
    next_cursor: str | None = None


@dataclass(frozen=True, kw_only=True)
class Ending:
    """How an answer came out, for its row."""

    status: Status
    content: str
    parts: list[dict[str, Any]] = field(default_factory=list)
    error: str | None = None
    input_tokens: int | None = None
    output_tokens: int | None = None
    last_event_id: int = 0


@dataclass(frozen=True, kw_only=True)
class Events:
    """A stretch of an answer's events, numbered from `first`; a plain string is text."""

    message_id: str
    first: int
    items: list[str | dict[str, Any]]

    @property
    def last(self) -> int:
        return self.first + len(self.items) - 1
