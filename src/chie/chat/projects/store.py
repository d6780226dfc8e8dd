"""The SQL of projects. Functions take a connection; the caller owns the transaction."""

from collections.abc import Sequence
from typing import Any

from sqlalchemy import Row, delete, func, insert, select, update

from chie.chat.projects.entities import Member, Project
from chie.chat.sessions.connection import Connection
from chie.chat.sessions.entities import now
from chie.chat.sessions.models import AttachmentRow, SessionRow
from chie.chat.sessions.project_models import ProjectFileRow, ProjectMemberRow, ProjectRow, ShareRow

_PROJECT = (
    ProjectRow.id,
    ProjectRow.name,
    ProjectRow.instructions,
    ProjectRow.agent_id,
    ProjectRow.space,
    ProjectRow.created_at,
    ProjectRow.updated_at,
    ProjectRow.archived_at,
    ProjectMemberRow.role,
)
_OF_MEMBER = select(*_PROJECT).join(ProjectMemberRow, ProjectMemberRow.project_id == ProjectRow.id)


async def create(connection: Connection, columns: dict[str, Any], owner: str) -> None:
    await connection.execute(insert(ProjectRow).values(**columns))
    await connection.execute(insert(ProjectMemberRow).values(project_id=columns["id"], user_id=owner, role="owner"))


async def project(connection: Connection, project_id: str, *, user_id: str, lock: bool = False) -> Project | None:
    """None for a user who is not a member. `lock` makes others wait who change the project or its members."""
    statement = _OF_MEMBER.where(ProjectRow.id == project_id, ProjectMemberRow.user_id == user_id)
    if lock:
        statement = statement.with_for_update(of=ProjectRow)
    row = (await connection.execute(statement)).first()
    return _project(row) if row else None


async def projects(connection: Connection, *, user_id: str) -> list[Project]:
    statement = _OF_MEMBER.where(ProjectMemberRow.user_id == user_id)
    rows = await connection.execute(statement.order_by(ProjectRow.updated_at.desc(), ProjectRow.id))
    return [_project(row) for row in rows]


async def change(connection: Connection, project_id: str, **columns: object) -> None:
    await connection.execute(update(ProjectRow).where(ProjectRow.id == project_id).values(**columns))


async def delete_project(connection: Connection, project_id: str) -> None:
    """Its conversations leave it; members, files and the links for its members are deleted with it."""
    await connection.execute(update(SessionRow).where(SessionRow.project_id == project_id).values(project_id=None))
    await connection.execute(delete(ProjectRow).where(ProjectRow.id == project_id))


async def members(connection: Connection, project_id: str) -> list[Member]:
    statement = select(ProjectMemberRow.user_id, ProjectMemberRow.role).where(ProjectMemberRow.project_id == project_id)
    rows = await connection.execute(statement.order_by(ProjectMemberRow.user_id))
    return [Member(user_id=row.user_id, role=row.role) for row in rows]


async def set_member(connection: Connection, project_id: str, member: Member) -> None:
    key = (ProjectMemberRow.project_id == project_id, ProjectMemberRow.user_id == member.user_id)
    changed = await connection.execute(update(ProjectMemberRow).where(*key).values(role=member.role))
    if not changed.rowcount:
        values = {"project_id": project_id, "user_id": member.user_id, "role": member.role}
        await connection.execute(insert(ProjectMemberRow).values(**values))


async def remove_member(connection: Connection, project_id: str, user_id: str) -> None:
    """The member's conversations leave the project, and the other members no longer see those that were shared."""
    key = (ProjectMemberRow.project_id == project_id, ProjectMemberRow.user_id == user_id)
    await connection.execute(delete(ProjectMemberRow).where(*key))
    own = (SessionRow.project_id == project_id, SessionRow.user_id == user_id)
    await connection.execute(update(SessionRow).where(*own).values(project_id=None))
    await connection.execute(delete(ShareRow).where(ShareRow.project_id == project_id, ShareRow.user_id == user_id))


async def end_project_shares(connection: Connection, session_id: str) -> None:
    """Revokes the links of a conversation that are for the members of a project."""
    linked = (ShareRow.session_id == session_id, ShareRow.project_id.is_not(None))
    await connection.execute(delete(ShareRow).where(*linked))


async def session_ids(connection: Connection, project_id: str, *, user_id: str) -> list[str]:
    statement = select(SessionRow.id).where(SessionRow.project_id == project_id, SessionRow.user_id == user_id)
    return list((await connection.execute(statement)).scalars())


async def count_sessions(connection: Connection, project_id: str, *, user_id: str) -> int:
    own = (SessionRow.project_id == project_id, SessionRow.user_id == user_id)
    found: int = (await connection.execute(select(func.count()).select_from(SessionRow).where(*own))).scalar_one()
    return found


async def file_ids(connection: Connection, project_id: str) -> list[str]:
    """In the order in which they were added."""
    statement = select(ProjectFileRow.attachment_id).where(ProjectFileRow.project_id == project_id)
    rows = await connection.execute(statement.order_by(ProjectFileRow.created_at, ProjectFileRow.attachment_id))
    return list(rows.scalars())


async def add_file(connection: Connection, project_id: str, attachment_id: str) -> None:
    values = {"project_id": project_id, "attachment_id": attachment_id, "created_at": now()}
    await connection.execute(insert(ProjectFileRow).values(**values))


async def remove_file(connection: Connection, project_id: str, attachment_id: str) -> bool:
    key = (ProjectFileRow.project_id == project_id, ProjectFileRow.attachment_id == attachment_id)
    return (await connection.execute(delete(ProjectFileRow).where(*key))).rowcount > 0


async def texts(connection: Connection, project_id: str) -> Sequence[tuple[str, str, str]]:
    """The name, the media type and the text of each file."""
    statement = (
        select(AttachmentRow.name, AttachmentRow.media_type, AttachmentRow.text)
        .join(ProjectFileRow, ProjectFileRow.attachment_id == AttachmentRow.id)
        .where(ProjectFileRow.project_id == project_id, AttachmentRow.text.is_not(None))
        .order_by(ProjectFileRow.created_at, ProjectFileRow.attachment_id)
    )
    return [(row.name, row.media_type, row.text) for row in await connection.execute(statement)]


def _project(row: Row[*tuple[Any, ...]]) -> Project:
    return Project(
        project_id=row.id,
        name=row.name,
        instructions=row.instructions,
        agent_id=row.agent_id,
        space=row.space,
        created_at=row.created_at,
        updated_at=row.updated_at,
        archived=row.archived_at is not None,
        role=row.role,
    )
