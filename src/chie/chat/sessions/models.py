"""The tables. Searched texts have a folded copy, because databases differ in how they fold Japanese."""

import json
from datetime import UTC, datetime
from typing import Any

from sqlalchemy import (
    BigInteger,
    Boolean,
    DateTime,
    Dialect,
    ForeignKey,
    Index,
    Integer,
    LargeBinary,
    String,
    Text,
    TypeDecorator,
)
from sqlalchemy.orm import DeclarativeBase, Mapped, mapped_column

from chie.access.identity import ANONYMOUS

Number = BigInteger().with_variant(Integer, "sqlite")  # the only type that SQLite auto-increments


class Moment(TypeDecorator[datetime]):
    """A point in time. SQLite stores no time zone, so values are UTC there."""

    impl = DateTime(timezone=True)
    cache_ok = True

    def process_result_value(self, value: datetime | None, dialect: Dialect) -> datetime | None:  # noqa: ARG002
        if value is None:
            return None
        return value.astimezone(UTC) if value.tzinfo else value.replace(tzinfo=UTC)


class JsonObject(TypeDecorator[dict[str, Any]]):
    """An object as JSON text; null stands for an empty one."""

    impl = Text
    cache_ok = True

    def process_bind_param(self, value: dict[str, Any] | None, dialect: Dialect) -> str | None:  # noqa: ARG002
        return json.dumps(value, ensure_ascii=False) if value else None

    def process_result_value(self, value: str | None, dialect: Dialect) -> dict[str, Any]:  # noqa: ARG002
        found: dict[str, Any] = json.loads(value) if value else {}
        return found


class Table(DeclarativeBase):
    """The schema that the migrations must produce."""


class SessionRow(Table):
    __tablename__ = "sessions"

    id: Mapped[str] = mapped_column(String(36), primary_key=True)
    title: Mapped[str] = mapped_column(Text)
    folded: Mapped[str] = mapped_column(Text)
    current_agent_id: Mapped[str] = mapped_column(Text)
    created_at: Mapped[datetime] = mapped_column(Moment)
    updated_at: Mapped[datetime] = mapped_column(Moment)
    user_id: Mapped[str] = mapped_column(Text, server_default=ANONYMOUS)
    pinned_at: Mapped[datetime | None] = mapped_column(Moment)
    archived_at: Mapped[datetime | None] = mapped_column(Moment)
    model: Mapped[str | None] = mapped_column(Text)  # the chosen one; null is the agent's own
    parameters: Mapped[dict[str, Any] | None] = mapped_column(JsonObject)
    unread_id: Mapped[str | None] = mapped_column(String(36))  # the last answer that ended and has not been seen
    project_id: Mapped[str | None] = mapped_column(String(36))

    __table_args__ = (
        Index("sessions_by_age", "updated_at", "id"),
        Index("sessions_by_user", "user_id", "updated_at", "id"),
        Index("sessions_by_project", "project_id"),
    )


class MessageRow(Table):
    """`parent_id` makes a session a tree: regenerating or editing adds a branch and changes no row."""

    __tablename__ = "messages"

    seq: Mapped[int] = mapped_column(Number, primary_key=True, autoincrement=True)
    id: Mapped[str] = mapped_column(String(36), unique=True)
    session_id: Mapped[str] = mapped_column(String(36), ForeignKey("sessions.id", ondelete="CASCADE"))
    parent_id: Mapped[str | None] = mapped_column(String(36), ForeignKey("messages.id", ondelete="CASCADE"))
    role: Mapped[str] = mapped_column(String(16))
    content: Mapped[str] = mapped_column(Text)
    folded: Mapped[str] = mapped_column(Text)
    agent_id: Mapped[str | None] = mapped_column(Text)
    status: Mapped[str] = mapped_column(String(16))
    error: Mapped[str | None] = mapped_column(Text)
    parts: Mapped[str | None] = mapped_column(Text)  # JSON, or null where `content` is all there is
    input_tokens: Mapped[int | None] = mapped_column(Integer)
    output_tokens: Mapped[int | None] = mapped_column(Integer)
    last_event_id: Mapped[int] = mapped_column(Integer)
    created_at: Mapped[datetime] = mapped_column(Moment)
    owner: Mapped[str | None] = mapped_column(Text)  # the process that holds the lease while the answer is generated
    alive_at: Mapped[datetime | None] = mapped_column(Moment)  # when the lease was last renewed
    error_code: Mapped[str | None] = mapped_column(Text)
    error_params: Mapped[str | None] = mapped_column(Text)  # JSON
    usage: Mapped[str | None] = mapped_column(Text)  # JSON: the tokens, models and cost of an answer
    model: Mapped[str | None] = mapped_column(Text)  # the name of the model that answered

    __table_args__ = (
        Index("messages_by_session", "session_id", "seq"),
        Index("messages_by_parent", "parent_id"),
        Index("messages_by_status", "status"),
    )


class EventsRow(Table):
    """Consecutive events of an answer. `data` is a JSON list in which a plain string is a piece of text."""

    __tablename__ = "message_events"

    message_id: Mapped[str] = mapped_column(String(36), ForeignKey("messages.id", ondelete="CASCADE"), primary_key=True)
    first: Mapped[int] = mapped_column(Integer, primary_key=True, autoincrement=False)
    last: Mapped[int] = mapped_column(Integer)
    data: Mapped[str] = mapped_column(Text)


class CommandRow(Table):
    """A request to the process that generates an answer; `seq` is the order of arrival."""

    __tablename__ = "run_commands"

    seq: Mapped[int] = mapped_column(Number, primary_key=True, autoincrement=True)
    id: Mapped[str] = mapped_column(String(36), unique=True)
    message_id: Mapped[str] = mapped_column(String(36), ForeignKey("messages.id", ondelete="CASCADE"))
    kind: Mapped[str] = mapped_column(String(16))
    call_id: Mapped[str | None] = mapped_column(Text)
    outcome: Mapped[str | None] = mapped_column(String(32))  # null until the owner takes the command
    error_code: Mapped[str | None] = mapped_column(Text)
    error_params: Mapped[str | None] = mapped_column(Text)  # JSON
    created_at: Mapped[datetime] = mapped_column(Moment)
    payload: Mapped[str | None] = mapped_column(Text)  # JSON: what the user has answered

    __table_args__ = (Index("run_commands_by_message", "message_id"),)


class LoginRow(Table):
    """A user's login at an MCP server; `data` is encrypted. `state` is set while the user is at the provider."""

    __tablename__ = "server_logins"

    user_id: Mapped[str] = mapped_column(Text, primary_key=True)
    server: Mapped[str] = mapped_column(Text, primary_key=True)
    state: Mapped[str | None] = mapped_column(Text, unique=True)
    data: Mapped[str] = mapped_column(Text)
    updated_at: Mapped[datetime] = mapped_column(Moment)


class FileRow(Table):
    """The content of an attached file, once, by its SHA-256."""

    __tablename__ = "attachment_files"

    hash: Mapped[str] = mapped_column(String(64), primary_key=True)
    size: Mapped[int] = mapped_column(Integer)
    data: Mapped[bytes] = mapped_column(LargeBinary)


class AttachmentRow(Table):
    """A file as a user attached it. `text` is what a model reads of a document; an image has none."""

    __tablename__ = "attachments"

    id: Mapped[str] = mapped_column(String(36), primary_key=True)
    user_id: Mapped[str] = mapped_column(Text)
    hash: Mapped[str] = mapped_column(String(64), ForeignKey("attachment_files.hash"))
    name: Mapped[str] = mapped_column(Text)
    kind: Mapped[str] = mapped_column(String(16))
    media_type: Mapped[str] = mapped_column(Text)
    width: Mapped[int | None] = mapped_column(Integer)
    height: Mapped[int | None] = mapped_column(Integer)
    text: Mapped[str | None] = mapped_column(Text)
    characters: Mapped[int | None] = mapped_column(Integer)
    created_at: Mapped[datetime] = mapped_column(Moment)  # of the last upload
    repeated_at: Mapped[datetime | None] = mapped_column(Moment)  # the last upload, if it was not the first

    __table_args__ = (
        Index("attachments_by_content", "user_id", "hash", "name", unique=True),
        Index("attachments_by_hash", "hash"),
    )


class MessageAttachmentRow(Table):
    """The files of a message, in order. An edited question shares those of the question before."""

    __tablename__ = "message_attachments"

    message_id: Mapped[str] = mapped_column(String(36), ForeignKey("messages.id", ondelete="CASCADE"), primary_key=True)
    position: Mapped[int] = mapped_column(Integer, primary_key=True, autoincrement=False)
    attachment_id: Mapped[str] = mapped_column(String(36), ForeignKey("attachments.id"))

    __table_args__ = (Index("message_attachments_by_attachment", "attachment_id"),)


class EndpointRow(Table):
    """A model endpoint that an admin added. `settings` is JSON; `secret` is encrypted JSON, and null without a key."""

    __tablename__ = "endpoints"

    id: Mapped[str] = mapped_column(String(36), primary_key=True)
    name: Mapped[str] = mapped_column(Text, unique=True)
    kind: Mapped[str] = mapped_column(String(16))
    settings: Mapped[str] = mapped_column(Text)
    secret: Mapped[str | None] = mapped_column(Text)
    secret_changed_at: Mapped[datetime | None] = mapped_column(Moment)
    created_at: Mapped[datetime] = mapped_column(Moment)
    updated_at: Mapped[datetime] = mapped_column(Moment)


class AddedServerRow(Table):
    """An MCP server that an admin added. `settings` is JSON; `secret`, with the whole URL, is encrypted JSON."""

    __tablename__ = "added_servers"

    name: Mapped[str] = mapped_column(Text, primary_key=True)
    settings: Mapped[str] = mapped_column(Text)
    secret: Mapped[str] = mapped_column(Text)
    secret_changed_at: Mapped[datetime] = mapped_column(Moment)
    created_at: Mapped[datetime] = mapped_column(Moment)
    updated_at: Mapped[datetime] = mapped_column(Moment)


class PromptRow(Table):
    """A prompt that a user has saved; a shared one is offered to everybody."""

    __tablename__ = "saved_prompts"

    id: Mapped[str] = mapped_column(String(36), primary_key=True)
    user_id: Mapped[str] = mapped_column(Text)
    name: Mapped[str] = mapped_column(Text)
    text: Mapped[str] = mapped_column(Text)
    shared: Mapped[bool] = mapped_column(Boolean)
    created_at: Mapped[datetime] = mapped_column(Moment)
    updated_at: Mapped[datetime] = mapped_column(Moment)

    __table_args__ = (Index("saved_prompts_by_user", "user_id"),)


class QueuedRow(Table):
    """A message that waits for the answer before it. It becomes a question with the same id; `seq` is the order."""

    __tablename__ = "queued_messages"

    seq: Mapped[int] = mapped_column(Number, primary_key=True, autoincrement=True)
    id: Mapped[str] = mapped_column(String(36), unique=True)
    session_id: Mapped[str] = mapped_column(String(36), ForeignKey("sessions.id", ondelete="CASCADE"))
    parent_id: Mapped[str] = mapped_column(String(36), ForeignKey("messages.id", ondelete="CASCADE"))
    content: Mapped[str] = mapped_column(Text)
    agent_id: Mapped[str | None] = mapped_column(Text)
    error_code: Mapped[str | None] = mapped_column(Text)  # why it could not be sent
    error_params: Mapped[str | None] = mapped_column(Text)  # JSON
    created_at: Mapped[datetime] = mapped_column(Moment)

    __table_args__ = (
        Index("queued_messages_by_session", "session_id", "seq"),
        Index("queued_messages_by_parent", "parent_id"),
    )


class QueuedAttachmentRow(Table):
    """The files of a queued message, in order."""

    __tablename__ = "queued_attachments"

    queued_id: Mapped[str] = mapped_column(
        String(36), ForeignKey("queued_messages.id", ondelete="CASCADE"), primary_key=True
    )
    position: Mapped[int] = mapped_column(Integer, primary_key=True, autoincrement=False)
    attachment_id: Mapped[str] = mapped_column(String(36), ForeignKey("attachments.id"))

    __table_args__ = (Index("queued_attachments_by_attachment", "attachment_id"),)
