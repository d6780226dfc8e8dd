"""The tables of projects and of shared conversations."""

from datetime import datetime

from sqlalchemy import ForeignKey, Index, String, Text
from sqlalchemy.orm import Mapped, mapped_column

from chie.chat.sessions.models import Moment, Table


class ProjectRow(Table):
    __tablename__ = "projects"

    id: Mapped[str] = mapped_column(String(36), primary_key=True)
    name: Mapped[str] = mapped_column(Text)
    instructions: Mapped[str] = mapped_column(Text)
    agent_id: Mapped[str | None] = mapped_column(Text)
    space: Mapped[str | None] = mapped_column(Text)
    created_at: Mapped[datetime] = mapped_column(Moment)
    updated_at: Mapped[datetime] = mapped_column(Moment)
    archived_at: Mapped[datetime | None] = mapped_column(Moment)


class ProjectMemberRow(Table):
    __tablename__ = "project_members"

    project_id: Mapped[str] = mapped_column(String(36), ForeignKey("projects.id", ondelete="CASCADE"), primary_key=True)
    user_id: Mapped[str] = mapped_column(Text, primary_key=True)
    role: Mapped[str] = mapped_column(String(16))

    __table_args__ = (Index("project_members_by_user", "user_id"),)


class ProjectFileRow(Table):
    """The attachment belongs to the user who uploaded it; every member of the project reads it."""

    __tablename__ = "project_files"

    project_id: Mapped[str] = mapped_column(String(36), ForeignKey("projects.id", ondelete="CASCADE"), primary_key=True)
    attachment_id: Mapped[str] = mapped_column(String(36), ForeignKey("attachments.id"), primary_key=True)
    created_at: Mapped[datetime] = mapped_column(Moment)

    __table_args__ = (Index("project_files_by_attachment", "attachment_id"),)


class ShareRow(Table):
    """A link to the branch that ends with a message. Messages do not change, so the link shows what was shared.

    With a `project_id` it is for the members of that project alone.
    """

    __tablename__ = "shares"

    token: Mapped[str] = mapped_column(String(64), primary_key=True)
    session_id: Mapped[str] = mapped_column(String(36), ForeignKey("sessions.id", ondelete="CASCADE"))
    message_id: Mapped[str] = mapped_column(String(36), ForeignKey("messages.id", ondelete="CASCADE"))
    user_id: Mapped[str] = mapped_column(Text)
    title: Mapped[str] = mapped_column(Text)
    project_id: Mapped[str | None] = mapped_column(String(36), ForeignKey("projects.id", ondelete="CASCADE"))
    created_at: Mapped[datetime] = mapped_column(Moment)

    __table_args__ = (
        Index("shares_by_session", "session_id"),
        Index("shares_by_message", "message_id"),
        Index("shares_by_user", "user_id", "created_at"),
        Index("shares_by_project", "project_id"),
    )
