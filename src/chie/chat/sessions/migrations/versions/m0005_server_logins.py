"""Logins of users at remote MCP servers."""

import sqlalchemy as sa
from alembic import op

from chie.chat.sessions.migrations.types import MOMENT

revision = "0005"
down_revision = "0004"


def upgrade() -> None:
    op.create_table(
        "server_logins",
        sa.Column("user_id", sa.Text, primary_key=True),
        sa.Column("server", sa.Text, primary_key=True),
        sa.Column("state", sa.Text, unique=True),
        sa.Column("data", sa.Text, nullable=False),
        sa.Column("updated_at", MOMENT, nullable=False),
    )


def downgrade() -> None:
    op.drop_table("server_logins")
