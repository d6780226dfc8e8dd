"""Files that come with questions: each content once, the uploads of a user, and the messages that have them."""

import sqlalchemy as sa
from alembic import op

from chie.chat.sessions.migrations.types import MOMENT

revision = "0006"
down_revision = "0005"


def upgrade() -> None:
    op.create_table(
        "attachment_files",
        sa.Column("hash", sa.String(64), primary_key=True),
        sa.Column("size", sa.Integer, nullable=False),
        sa.Column("data", sa.LargeBinary, nullable=False),
    )
    op.create_table(
        "attachments",
        sa.Column("id", sa.String(36), primary_key=True),
        sa.Column("user_id", sa.Text, nullable=False),
        sa.Column("hash", sa.String(64), sa.ForeignKey("attachment_files.hash"), nullable=False),
        sa.Column("name", sa.Text, nullable=False),
        sa.Column("kind", sa.String(16), nullable=False),
        sa.Column("media_type", sa.Text, nullable=False),
        sa.Column("width", sa.Integer),
        sa.Column("height", sa.Integer),
        sa.Column("text", sa.Text),
        sa.Column("characters", sa.Integer),
        sa.Column("created_at", MOMENT, nullable=False),
    )
    op.create_index("attachments_by_content", "attachments", ["user_id", "hash", "name"], unique=True)
    op.create_index("attachments_by_hash", "attachments", ["hash"])
    op.create_table(
        "message_attachments",
        sa.Column("message_id", sa.String(36), sa.ForeignKey("messages.id", ondelete="CASCADE"), primary_key=True),
        sa.Column("position", sa.Integer, primary_key=True, autoincrement=False),
        sa.Column("attachment_id", sa.String(36), sa.ForeignKey("attachments.id"), nullable=False),
    )
    op.create_index("message_attachments_by_attachment", "message_attachments", ["attachment_id"])


def downgrade() -> None:
    op.drop_table("message_attachments")
    op.drop_table("attachments")
    op.drop_table("attachment_files")
