"""Messages that wait for the answer before them, and their files."""

import sqlalchemy as sa
from alembic import op

from chie.chat.sessions.migrations.types import MOMENT

revision = "0011"
down_revision = "0010"

NUMBER = sa.BigInteger().with_variant(sa.Integer, "sqlite")


def upgrade() -> None:
    op.create_table(
        "queued_messages",
        sa.Column("seq", NUMBER, primary_key=True, autoincrement=True),
        sa.Column("id", sa.String(36), nullable=False, unique=True),
        sa.Column("session_id", sa.String(36), sa.ForeignKey("sessions.id", ondelete="CASCADE"), nullable=False),
        sa.Column("parent_id", sa.String(36), sa.ForeignKey("messages.id", ondelete="CASCADE"), nullable=False),
        sa.Column("content", sa.Text, nullable=False),
        sa.Column("agent_id", sa.Text),
        sa.Column("error_code", sa.Text),
        sa.Column("error_params", sa.Text),
        sa.Column("created_at", MOMENT, nullable=False),
    )
    op.create_index("queued_messages_by_session", "queued_messages", ["session_id", "seq"])
    op.create_index("queued_messages_by_parent", "queued_messages", ["parent_id"])
    op.create_table(
        "queued_attachments",
        sa.Column(
            "queued_id", sa.String(36), sa.ForeignKey("queued_messages.id", ondelete="CASCADE"), primary_key=True
        ),
        sa.Column("position", sa.Integer, primary_key=True, autoincrement=False),
        sa.Column("attachment_id", sa.String(36), sa.ForeignKey("attachments.id"), nullable=False),
    )
    op.create_index("queued_attachments_by_attachment", "queued_attachments", ["attachment_id"])


def downgrade() -> None:
    op.drop_table("queued_attachments")
    op.drop_table("queued_messages")
