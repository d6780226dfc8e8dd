"""Shared conversations, as their owner lists them and as others read them."""

from dataclasses import dataclass, field
from datetime import datetime

from chie.chat.sessions.entities import Attachment, MessageContent, Role


@dataclass(frozen=True, kw_only=True)
class Share:
    """A link. With a `project_id` it is for the members of that project; otherwise for everybody who may sign in."""

    token: str
    session_id: str
    message_id: str
    title: str
    project_id: str | None
    created_at: datetime


@dataclass(frozen=True, kw_only=True)
class ProjectShare:
    """A conversation that a member has shared with the project."""

    token: str
    title: str
    user_id: str
    created_at: datetime


@dataclass(frozen=True, kw_only=True)
class SharedMessage(MessageContent):
    """A message of the branch that was shared. Its ids open nothing but this link's own files."""

    message_id: str
    parent_id: str | None
    role: Role
    created_at: datetime
    agent_id: str | None = None
    attachments: list[Attachment] = field(default_factory=list)


@dataclass(frozen=True, kw_only=True)
class SharedConversation:
    """The branch that was shared, as it was then. `user_id` shared it; `own` is true for that user."""

    token: str
    title: str
    user_id: str
    own: bool
    created_at: datetime
    messages: list[SharedMessage]
