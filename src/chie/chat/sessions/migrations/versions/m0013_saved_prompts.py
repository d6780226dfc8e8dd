"""Prompts that users save for themselves or share."""

import sqlalchemy as sa
from alembic import op

from chie.chat.sessions.migrations.types import MOMENT

revision = "0013"
down_revision = "0012"


def upgrade() -> None:
    op.create_table(
        "saved_prompts",
        sa.Column("id", sa.String(36), primary_key=True),
        sa.Column("user_id", sa.Text, nullable=False),
        sa.Column("name", sa.Text, nullable=False),
        sa.Column("text", sa.Text, nullable=False),
        sa.Column("shared", sa.Boolean, nullable=False),
        sa.Column("created_at", MOMENT, nullable=False),
        sa.Column("updated_at", MOMENT, nullable=False),
    )
    op.create_index("saved_prompts_by_user", "saved_prompts", ["user_id"])


def downgrade() -> None:
    op.drop_table("saved_prompts")
