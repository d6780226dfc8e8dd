"""The user of a session; existing sessions become anonymous."""

import sqlalchemy as sa
from alembic import op

revision = "0002"
down_revision = "0001"


def upgrade() -> None:
    op.add_column("sessions", sa.Column("user_id", sa.Text, nullable=False, server_default="anonymous"))
    op.create_index("sessions_by_user", "sessions", ["user_id", "updated_at", "id"])


def downgrade() -> None:
    op.drop_index("sessions_by_user", "sessions")
    op.drop_column("sessions", "user_id")
