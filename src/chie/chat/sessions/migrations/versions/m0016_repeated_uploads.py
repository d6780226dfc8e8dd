"""When a file was uploaded again: it is kept for the question that it was uploaded for."""

import sqlalchemy as sa
from alembic import op

from chie.chat.sessions.migrations.types import MOMENT

revision = "0016"
down_revision = "0015"


def upgrade() -> None:
    op.add_column("attachments", sa.Column("repeated_at", MOMENT))


def downgrade() -> None:
    op.drop_column("attachments", "repeated_at")
