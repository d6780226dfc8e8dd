"""Sessions, messages and the events of answers."""

import sqlalchemy as sa
from alembic import op

from chie.chat.sessions.migrations.types import MOMENT, NUMBER

revision = "0001"
down_revision = None


def upgrade() -> None:
    op.create_table(
        "sessions",
        sa.Column("id", sa.String(36), primary_key=True),
        sa.Column("title", sa.Text, nullable=False),
        sa.Column("folded", sa.Text, nullable=False),
        sa.Column("current_agent_id", sa.Text, nullable=False),
        sa.Column("created_at", MOMENT, nullable=False),
        sa.Column("updated_at", MOMENT, nullable=False),
    )
    op.create_index("sessions_by_age", "sessions", ["updated_at", "id"])
    op.create_table(
        "messages",
        sa.Column("seq", NUMBER, primary_key=True, autoincrement=True),
        sa.Column("id", sa.String(36), nullable=False, unique=True),
        sa.Column("session_id", sa.String(36), sa.ForeignKey("sessions.id", ondelete="CASCADE"), nullable=False),
        sa.Column("parent_id", sa.String(36), sa.ForeignKey("messages.id", ondelete="CASCADE")),
        sa.Column("role", sa.String(16), nullable=False),
        sa.Column("content", sa.Text, nullable=False),
        sa.Column("folded", sa.Text, nullable=False),
        sa.Column("agent_id", sa.Text),
        sa.Column("status", sa.String(16), nullable=False),
        sa.Column("error", sa.Text),
        sa.Column("parts", sa.Text),
        sa.Column("input_tokens", sa.Integer),
        sa.Column("output_tokens", sa.Integer),
        sa.Column("last_event_id", sa.Integer, nullable=False),
        sa.Column("created_at", MOMENT, nullable=False),
        sa.Column("owner", sa.Text),
        sa.Column("alive_at", MOMENT),
    )
    op.create_index("messages_by_session", "messages", ["session_id", "seq"])
    op.create_index("messages_by_parent", "messages", ["parent_id"])
    op.create_index("messages_by_status", "messages", ["status"])
    op.create_table(
        "message_events",
        sa.Column("message_id", sa.String(36), sa.ForeignKey("messages.id", ondelete="CASCADE"), primary_key=True),
        sa.Column("first", sa.Integer, primary_key=True, autoincrement=False),
        sa.Column("last", sa.Integer, nullable=False),
        sa.Column("data", sa.Text, nullable=False),
    )


def downgrade() -> None:
    op.drop_table("message_events")
    op.drop_table("messages")
    op.drop_table("sessions")
