"""The tables of what models used, and of the limits on it."""

from datetime import datetime

from sqlalchemy import BigInteger, Index, String, Text
from sqlalchemy.orm import Mapped, mapped_column

from chie.chat.sessions.models import Moment, Table


class UsageRow(Table):
    """What one user's requests to a model used on one day, in UTC. It outlives the conversations.

    `price` is the price per million tokens that applied, so a new price makes a new row. `cost` is in billionths of
    a US dollar, or null if the price is unknown.
    """

    __tablename__ = "model_usage"

    day: Mapped[str] = mapped_column(String(10), primary_key=True)
    user_id: Mapped[str] = mapped_column(Text, primary_key=True)
    agent_id: Mapped[str] = mapped_column(Text, primary_key=True)
    model: Mapped[str] = mapped_column(Text, primary_key=True)
    host: Mapped[str] = mapped_column(Text, primary_key=True)
    price: Mapped[str] = mapped_column(Text, primary_key=True)
    requests: Mapped[int] = mapped_column(BigInteger)
    estimated_requests: Mapped[int] = mapped_column(BigInteger)
    input_tokens: Mapped[int] = mapped_column(BigInteger)
    cached_tokens: Mapped[int] = mapped_column(BigInteger)
    cache_write_tokens: Mapped[int] = mapped_column(BigInteger)
    output_tokens: Mapped[int] = mapped_column(BigInteger)
    reasoning_tokens: Mapped[int] = mapped_column(BigInteger)
    cost: Mapped[int | None] = mapped_column(BigInteger)

    __table_args__ = (Index("model_usage_by_user", "user_id", "day"), {"sqlite_with_rowid": False})


class RecordedUsageRow(Table):
    """The ids of records of the last days: one that is written again after a broken connection counts once."""

    __tablename__ = "recorded_usage"

    id: Mapped[str] = mapped_column(String(36), primary_key=True)
    recorded_at: Mapped[datetime] = mapped_column(Moment)


class UsageLimitRow(Table):
    """A monthly limit of the `team`, of `everyone` or of one `user`; a null sets no limit."""

    __tablename__ = "usage_limits"

    scope: Mapped[str] = mapped_column(String(16), primary_key=True)
    user_id: Mapped[str] = mapped_column(Text, primary_key=True)  # empty for `team` and `everyone`
    tokens: Mapped[int | None] = mapped_column(BigInteger)
    cost: Mapped[int | None] = mapped_column(BigInteger)  # in billionths of a US dollar
    updated_by: Mapped[str] = mapped_column(Text)
    updated_at: Mapped[datetime] = mapped_column(Moment)
