"""What a command carries: a user's answer to a question that a tool asks."""

import sqlalchemy as sa
from alembic import op

revision = "0007"
down_revision = "0006"


def upgrade() -> None:
    op.add_column("run_commands", sa.Column("payload", sa.Text))


def downgrade() -> None:
    op.drop_column("run_commands", "payload")
