"""The tables. Texts that are searched have a folded twin, because no two databases fold Japanese alike."""

from datetime import UTC, datetime

from sqlalchemy import BigInteger, DateTime, Dialect, ForeignKey, Index, Integer, String, Text, TypeDecorator
from sqlalchemy.orm import DeclarativeBase, Mapped, mapped_column

from chie.access.identity import ANONYMOUS

Number = BigInteger().with_variant(Integer, "sqlite")  # SQLite counts up by itself only for this type


class Moment(TypeDecorator[datetime]):
    """A point in time; SQLite keeps no zone, so it is always UTC there."""

    impl = DateTime(timezone=True)
    cache_ok = True

    def process_result_value(self, value: datetime | None, dialect: Dialect) -> datetime | None:  # noqa: ARG002
        if value is None:
            return None
        return value.astimezone(UTC) if value.tzinfo else value.replace(tzinfo=UTC)


class Table(DeclarativeBase):
    """What Alembic compares the migrations with."""


class SessionRow(Table):
    __tablename__ = "sessions"

    id: Mapped[str] = mapped_column(String(36), primary_key=True)
    title: Mapped[str] = mapped_column(Text)
    folded: Mapped[str] = mapped_column(Text)
    current_agent_id: Mapped[str] = mapped_column(Text)
    created_at: Mapped[datetime] = mapped_column(Moment)
    updated_at: Mapped[datetime] = mapped_column(Moment)
    user_id: Mapped[str] = mapped_column(Text, server_default=ANONYMOUS)

    __table_args__ = (
        Index("sessions_by_age", "updated_at", "id"),
        Index("sessions_by_user", "user_id", "updated_at", "id"),
    )


class MessageRow(Table):
    """`parent_id` makes a tree of a session: answering again or editing adds a branch and changes nothing."""

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
    parts: Mapped[str | None] = mapped_column(
        Text
    )  # JSON; only where tools ran or the answer was cut, else `content` is all
    input_tokens: Mapped[int | None] = mapped_column(Integer)
    output_tokens: Mapped[int | None] = mapped_column(Integer)
    last_event_id: Mapped[int] = mapped_column(Integer)
    created_at: Mapped[datetime] = mapped_column(Moment)
    owner: Mapped[str | None] = mapped_column(Text)  # the process that is writing the answer, while it does
    alive_at: Mapped[datetime | None] = mapped_column(Moment)

    __table_args__ = (
        Index("messages_by_session", "session_id", "seq"),
        Index("messages_by_parent", "parent_id"),
        Index("messages_by_status", "status"),
    )


class EventsRow(Table):
    """A stretch of an answer's events, for those who come back: `data` is a JSON list, a plain string is text."""

    __tablename__ = "message_events"

    message_id: Mapped[str] = mapped_column(String(36), ForeignKey("messages.id", ondelete="CASCADE"), primary_key=True)
    first: Mapped[int] = mapped_column(Integer, primary_key=True, autoincrement=False)
    last: Mapped[int] = mapped_column(Integer)
    data: Mapped[str] = mapped_column(Text)


class OrderRow(Table):
    """What a process asks of the one that writes an answer. `seq` is the order in which it was asked."""

    __tablename__ = "answer_orders"

    seq: Mapped[int] = mapped_column(Number, primary_key=True, autoincrement=True)
    id: Mapped[str] = mapped_column(String(36), unique=True)
    message_id: Mapped[str] = mapped_column(String(36), ForeignKey("messages.id", ondelete="CASCADE"))
    wish: Mapped[str] = mapped_column(String(16))
    call_id: Mapped[str | None] = mapped_column(Text)
    outcome: Mapped[str | None] = mapped_column(String(32))  # nothing until the writer takes it
    reply: Mapped[str | None] = mapped_column(Text)
    created_at: Mapped[datetime] = mapped_column(Moment)

    __table_args__ = (Index("answer_orders_by_message", "message_id"),)
