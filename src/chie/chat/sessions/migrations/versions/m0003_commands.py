"""Commands from one process to the one that generates an answer."""

import sqlalchemy as sa
from alembic import op

from chie.chat.sessions.migrations.types import MOMENT, NUMBER

revision = "0003"
down_revision = "0002"


def upgrade() -> None:
    op.create_table(
        "answer_orders",
        sa.Column("seq", NUMBER, primary_key=True, autoincrement=True),
        sa.Column("id", sa.String(36), nullable=False, unique=True),
        sa.Column("message_id", sa.String(36), sa.ForeignKey("messages.id", ondelete="CASCADE"), nullable=False),
        sa.Column("wish", sa.String(16), nullable=False),
        sa.Column("call_id", sa.Text),
        sa.Column("outcome", sa.String(32)),
        sa.Column("reply", sa.Text),
        sa.Column("created_at", MOMENT, nullable=False),
    )
    op.create_index("answer_orders_by_message", "answer_orders", ["message_id"])


def downgrade() -> None:
    op.drop_table("answer_orders")
