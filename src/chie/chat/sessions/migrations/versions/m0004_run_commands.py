"""Commands between processes under their new name, and the code and parameters of errors."""

import sqlalchemy as sa
from alembic import op

from chie.chat.sessions.migrations.types import MOMENT, NUMBER
from chie.chat.sessions.migrations.versions import m0003_commands

revision = "0004"
down_revision = "0003"


def upgrade() -> None:
    op.add_column("messages", sa.Column("error_code", sa.Text))
    op.add_column("messages", sa.Column("error_params", sa.Text))
    # Commands live for seconds. Renaming the table would keep the old names of its constraints and its sequence.
    op.drop_table("answer_orders")
    op.create_table(
        "run_commands",
        sa.Column("seq", NUMBER, primary_key=True, autoincrement=True),
        sa.Column("id", sa.String(36), nullable=False, unique=True),
        sa.Column("message_id", sa.String(36), sa.ForeignKey("messages.id", ondelete="CASCADE"), nullable=False),
        sa.Column("kind", sa.String(16), nullable=False),
        sa.Column("call_id", sa.Text),
        sa.Column("outcome", sa.String(32)),
        sa.Column("error_code", sa.Text),
        sa.Column("error_params", sa.Text),
        sa.Column("created_at", MOMENT, nullable=False),
    )
    op.create_index("run_commands_by_message", "run_commands", ["message_id"])


def downgrade() -> None:
    op.drop_table("run_commands")
    m0003_commands.upgrade()
    op.drop_column("messages", "error_params")
    op.drop_column("messages", "error_code")
