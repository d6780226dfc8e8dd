"""The model that a session has chosen with its parameters, and the model that answered."""

import sqlalchemy as sa
from alembic import op

revision = "0010"
down_revision = "0009"


def upgrade() -> None:
    op.add_column("sessions", sa.Column("model", sa.Text))
    op.add_column("sessions", sa.Column("parameters", sa.Text))
    op.add_column("messages", sa.Column("model", sa.Text))


def downgrade() -> None:
    op.drop_column("messages", "model")
    op.drop_column("sessions", "parameters")
    op.drop_column("sessions", "model")
