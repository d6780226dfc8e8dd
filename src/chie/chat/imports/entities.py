"""Conversations as an export has them, in the form that a session takes."""

from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, Literal

from chie.messages.catalogue import Message as Text

Source = Literal["chatgpt", "claude"]
NAMES: dict[Source, str] = {"chatgpt": "ChatGPT", "claude": "Claude"}


@dataclass(frozen=True, kw_only=True)
class ImportedFile:
    """A file of which the export has the text."""

    name: str
    text: str


@dataclass(frozen=True, kw_only=True)
class ImportedMessage:
    """`key` is unique within the conversation and the same in every export."""

    key: str
    parent: str | None
    role: Literal["user", "assistant"]
    content: str
    created_at: datetime
    parts: list[dict[str, Any]] = field(default_factory=list)
    files: tuple[ImportedFile, ...] = ()
    answered: bool = True


@dataclass(frozen=True, kw_only=True)
class ImportedConversation:
    """Questions and answers in turn, parents first; the last message ends the branch that was shown."""

    source: Source
    key: str
    title: str
    created_at: datetime
    updated_at: datetime
    messages: list[ImportedMessage]
    pinned: bool = False
    archived: bool = False


@dataclass(frozen=True, kw_only=True)
class SkippedConversation:
    """A conversation that cannot be imported, and why."""

    title: str
    reason: Text


class LargeConversationError(ValueError):
    """A conversation has more messages, or more text in all its branches, than a session may have."""


class DamagedConversationError(ValueError):
    """A conversation has not the form of an export."""
