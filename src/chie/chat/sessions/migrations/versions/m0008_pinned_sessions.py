"""Sessions that are pinned to the top of the list, and archived ones, which are not in it."""

import sqlalchemy as sa
from alembic import op

from chie.chat.sessions.migrations.types import MOMENT

revision = "0008"
down_revision = "0007"


def upgrade() -> None:
    op.add_column("sessions", sa.Column("pinned_at", MOMENT))
    op.add_column("sessions", sa.Column("archived_at", MOMENT))


def downgrade() -> None:
    op.drop_column("sessions", "archived_at")
    op.drop_column("sessions", "pinned_at")
