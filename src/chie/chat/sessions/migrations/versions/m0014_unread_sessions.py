"""The last answer of a session that its user has not seen."""

import sqlalchemy as sa
from alembic import op

revision = "0014"
down_revision = "0013"


def upgrade() -> None:
    op.add_column("sessions", sa.Column("unread_id", sa.String(36)))


def downgrade() -> None:
    op.drop_column("sessions", "unread_id")
