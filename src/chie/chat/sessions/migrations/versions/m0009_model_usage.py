"""What requests to models used and cost, by day, and the monthly limits."""

import sqlalchemy as sa
from alembic import op

from chie.chat.sessions.migrations.types import MOMENT

revision = "0009"
down_revision = "0008"


def upgrade() -> None:
    op.add_column("messages", sa.Column("usage", sa.Text))
    op.create_table(
        "model_usage",
        sa.Column("day", sa.String(10), primary_key=True),
        sa.Column("user_id", sa.Text, primary_key=True),
        sa.Column("agent_id", sa.Text, primary_key=True),
        sa.Column("model", sa.Text, primary_key=True),
        sa.Column("host", sa.Text, primary_key=True),
        sa.Column("price", sa.Text, primary_key=True),
        sa.Column("requests", sa.BigInteger, nullable=False),
        sa.Column("estimated_requests", sa.BigInteger, nullable=False),
        sa.Column("input_tokens", sa.BigInteger, nullable=False),
        sa.Column("cached_tokens", sa.BigInteger, nullable=False),
        sa.Column("cache_write_tokens", sa.BigInteger, nullable=False),
        sa.Column("output_tokens", sa.BigInteger, nullable=False),
        sa.Column("reasoning_tokens", sa.BigInteger, nullable=False),
        sa.Column("cost", sa.BigInteger),
        sqlite_with_rowid=False,
    )
    op.create_index("model_usage_by_user", "model_usage", ["user_id", "day"])
    op.create_table(
        "recorded_usage",
        sa.Column("id", sa.String(36), primary_key=True),
        sa.Column("recorded_at", MOMENT, nullable=False),
    )
    op.create_table(
        "usage_limits",
        sa.Column("scope", sa.String(16), primary_key=True),
        sa.Column("user_id", sa.Text, primary_key=True),
        sa.Column("tokens", sa.BigInteger),
        sa.Column("cost", sa.BigInteger),
        sa.Column("updated_by", sa.Text, nullable=False),
        sa.Column("updated_at", MOMENT, nullable=False),
    )


def downgrade() -> None:
    op.drop_table("usage_limits")
    op.drop_table("recorded_usage")
    op.drop_table("model_usage")
    op.drop_column("messages", "usage")
