"""Sessions, messages and events, as the rest of the chat sees them."""

from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any, Literal
from uuid import uuid4

from chie.access.identity import ANONYMOUS

Role = Literal["user", "assistant"]
Status = Literal["complete", "streaming", "stopped", "interrupted", "failed"]

StoredEvent = str | dict[str, Any]
"""An event as it is stored; a plain string is a piece of text."""


def new_id() -> str:
    return str(uuid4())


def now() -> datetime:
    return datetime.now(UTC)


@dataclass(frozen=True, kw_only=True)
class ModelChoice:
    """The model that answers, as `<endpoint id>/<model name>`; None is the agent's own. `name` is what the provider
    calls it, where that is known before the answer."""

    model: str | None = None
    parameters: dict[str, Any] = field(default_factory=dict)
    name: str | None = None


@dataclass(frozen=True, kw_only=True)
class Session:
    """A conversation without its messages, visible to its user alone. An archived one is not in the list, but found by
    a search."""

    session_id: str
    title: str
    current_agent_id: str
    created_at: datetime
    updated_at: datetime
    user_id: str = ANONYMOUS
    pinned_at: datetime | None = None
    archived_at: datetime | None = None
    model: str | None = None
    parameters: dict[str, Any] = field(default_factory=dict)

    @property
    def choice(self) -> ModelChoice:
        return ModelChoice(model=self.model, parameters=self.parameters)


@dataclass(frozen=True, kw_only=True)
class Attachment:
    """A file that was attached to a question. A document has text, whose length is `characters`; an image has a size
    in pixels."""

    attachment_id: str
    name: str
    kind: Literal["image", "document"]
    media_type: str
    size: int
    width: int | None = None
    height: int | None = None
    characters: int | None = None


@dataclass(frozen=True, kw_only=True)
class MessageContent:
    """The part of a message that is written when an answer ends.

    `parts` holds text and tool events in order. `content` covers the events up to `last_event_id`, so an answer that
    is still streaming can be followed from there. `usage` has the tokens, the models and the cost. `error_code` and
    `error_params` are null for errors that were stored before errors had codes. `model` is the name of the model that
    answered.
    """

    status: Status
    content: str
    parts: list[dict[str, Any]] = field(default_factory=list)
    error: str | None = None
    error_code: str | None = None
    error_params: dict[str, Any] | None = None
    input_tokens: int | None = None
    output_tokens: int | None = None
    usage: dict[str, Any] | None = None
    last_event_id: int = 0
    model: str | None = None


@dataclass(frozen=True, kw_only=True)
class Message(MessageContent):
    """A question or an answer."""

    message_id: str
    session_id: str
    parent_id: str | None
    role: Role
    created_at: datetime
    agent_id: str | None = None
    attachments: list[Attachment] = field(default_factory=list)


@dataclass(frozen=True, kw_only=True)
class QueuedMessage:
    """A message that is sent when the answer `parent_id` is complete, as a question with the id `message_id`.

    `status` is that of the answer: "complete" goes off at once, and a message whose answer failed or was stopped waits
    for the user. `error_code` says why it could not be sent.
    """

    message_id: str
    session_id: str
    parent_id: str
    content: str
    created_at: datetime
    status: Status
    agent_id: str | None = None
    error_code: str | None = None
    error_params: dict[str, Any] | None = None
    attachments: list[Attachment] = field(default_factory=list)


@dataclass(frozen=True, kw_only=True)
class Conversation(Session):
    """A session with its messages: a tree by `parent_id`, oldest first. The last message ends the newest branch.
    `queue` holds the messages that wait, in the order in which they are sent."""

    messages: list[Message]
    queue: list[QueuedMessage] = field(default_factory=list)


@dataclass(frozen=True, kw_only=True)
class Passage:
    """Where a search matched: a part of a message on one line, and the ranges of characters to mark in it.

    `more` is the number of other messages of the session that match. The message may be on any branch.
    """

    message_id: str
    role: Role
    text: str
    ranges: list[tuple[int, int]]
    more: int = 0


@dataclass(frozen=True, kw_only=True)
class ListedSession(Session):
    """`passage` is null without a query, and for a session that matches by its title alone."""

    passage: Passage | None = None


@dataclass(frozen=True, kw_only=True)
class Page:
    """One page of the list of sessions, newest first; `next_cursor` is null on the last page."""

    sessions: list[ListedSession]
    next_cursor: str | None = None


@dataclass(frozen=True, kw_only=True)
class PendingAnswer:
    """A stored question and its empty answer. `history` is the branch that leads to the question."""

    session_id: str
    message_id: str
    agent_id: str
    question: str
    history: list[Message]
    attachments: list[Attachment] = field(default_factory=list)


@dataclass(frozen=True, kw_only=True)
class EventChunk:
    """Consecutive events of an answer; `first` is the number of the first one."""

    message_id: str
    first: int
    items: list[StoredEvent]

    @property
    def last(self) -> int:
        return self.first + len(self.items) - 1
