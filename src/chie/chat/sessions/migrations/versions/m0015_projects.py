"""Projects with members and files, the project of a session, and links to shared conversations."""

import sqlalchemy as sa
from alembic import op

from chie.chat.sessions.migrations.types import MOMENT

revision = "0015"
down_revision = "0014"


def upgrade() -> None:
    op.create_table(
        "projects",
        sa.Column("id", sa.String(36), primary_key=True),
        sa.Column("name", sa.Text, nullable=False),
        sa.Column("instructions", sa.Text, nullable=False),
        sa.Column("agent_id", sa.Text),
        sa.Column("space", sa.Text),
        sa.Column("created_at", MOMENT, nullable=False),
        sa.Column("updated_at", MOMENT, nullable=False),
        sa.Column("archived_at", MOMENT),
    )
    op.create_table(
        "project_members",
        _project_id(primary_key=True),
        sa.Column("user_id", sa.Text, primary_key=True),
        sa.Column("role", sa.String(16), nullable=False),
    )
    op.create_index("project_members_by_user", "project_members", ["user_id"])
    op.create_table(
        "project_files",
        _project_id(primary_key=True),
        sa.Column("attachment_id", sa.String(36), sa.ForeignKey("attachments.id"), primary_key=True),
        sa.Column("created_at", MOMENT, nullable=False),
    )
    op.create_index("project_files_by_attachment", "project_files", ["attachment_id"])
    op.create_table(
        "shares",
        sa.Column("token", sa.String(64), primary_key=True),
        sa.Column("session_id", sa.String(36), sa.ForeignKey("sessions.id", ondelete="CASCADE"), nullable=False),
        sa.Column("message_id", sa.String(36), sa.ForeignKey("messages.id", ondelete="CASCADE"), nullable=False),
        sa.Column("user_id", sa.Text, nullable=False),
        sa.Column("title", sa.Text, nullable=False),
        _project_id(),
        sa.Column("created_at", MOMENT, nullable=False),
    )
    op.create_index("shares_by_session", "shares", ["session_id"])
    op.create_index("shares_by_message", "shares", ["message_id"])
    op.create_index("shares_by_user", "shares", ["user_id", "created_at"])
    op.create_index("shares_by_project", "shares", ["project_id"])
    op.add_column("sessions", sa.Column("project_id", sa.String(36)))
    op.create_index("sessions_by_project", "sessions", ["project_id"])


def _project_id(*, primary_key: bool = False) -> sa.Column[str]:
    key = sa.ForeignKey("projects.id", ondelete="CASCADE")
    return sa.Column("project_id", sa.String(36), key, primary_key=primary_key)


def downgrade() -> None:
    op.drop_index("sessions_by_project", "sessions")
    op.drop_column("sessions", "project_id")
    op.drop_table("shares")
    op.drop_table("project_files")
    op.drop_table("project_members")
    op.drop_table("projects")
