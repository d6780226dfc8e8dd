"""The rules of projects: who may use, change and delete them, and who their members are."""

from typing import Any

from chie.access.audit import record
from chie.access.identity import current_user, known_user
from chie.access.known_users import known_users
from chie.chat.agents.project import ProjectContext
from chie.chat.projects import store
from chie.chat.projects.entities import RANK, Member, Project, ProjectDetails, Role
from chie.chat.sessions import attachment_table, repository
from chie.chat.sessions.connection import Connection
from chie.chat.sessions.database import Database
from chie.chat.sessions.entities import Session, new_id, now
from chie.chat.sessions.service import existing_session, make_title
from chie.errors import ConflictError, ForbiddenError, NotFoundError, ValidationError

MAX_NAME = 100
MAX_INSTRUCTIONS = 20_000
MAX_USER = 200


class ProjectService:
    """Projects that the current user is not a member of do not exist for them."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def create(self, name: str, **columns: str | None) -> Project:
        """With `instructions`, `agent_id` and `space`. The user becomes its owner."""
        user_id, moment = known_user().id, now()
        values: dict[str, Any] = {
            "id": new_id(),
            "name": _valid_name(name),
            "agent_id": columns.get("agent_id") or None,
            "space": (columns.get("space") or "").strip() or None,
            "instructions": _valid_instructions(columns.get("instructions") or ""),
            "created_at": moment,
            "updated_at": moment,
        }

        async def create(connection: Connection) -> Project:
            await store.create(connection, values, user_id)
            return await existing_project(connection, values["id"])

        project = await self._database.write(create)
        record("project.created", project.project_id)
        return project

    async def all(self) -> list[Project]:
        """The most recently changed first, archived ones too."""
        async with self._database.read() as connection:
            return await store.projects(connection, user_id=current_user().id)

    async def get(self, project_id: str) -> Project:
        async with self._database.read() as connection:
            return await existing_project(connection, project_id)

    async def details(self, project_id: str) -> ProjectDetails:
        async with self._database.read() as connection:
            project = await existing_project(connection, project_id)
            files = await store.file_ids(connection, project_id)
            return ProjectDetails(
                **vars(project),
                files=await attachment_table.found(connection, files),
                members=await store.members(connection, project_id),
                conversations=await store.count_sessions(connection, project_id, user_id=current_user().id),
            )

    async def change(self, project_id: str, **given: str | bool | None) -> Project:
        """Any of `name`, `instructions`, `agent_id`, `space` and `archived`."""
        columns = _columns(given)

        async def change(connection: Connection) -> Project:
            await existing_project(connection, project_id, role="editor", lock=True)
            await store.change(connection, project_id, updated_at=now(), **columns)
            return await existing_project(connection, project_id)

        return await self._database.write(change)

    async def require_owner(self, project_id: str) -> None:
        async with self._database.read() as connection:
            await existing_project(connection, project_id, role="owner")

    async def own_sessions(self, project_id: str) -> list[str]:
        """The user's conversations in the project."""
        async with self._database.read() as connection:
            await existing_project(connection, project_id)
            return await store.session_ids(connection, project_id, user_id=current_user().id)

    async def delete(self, project_id: str, *, delete_conversations: bool = False) -> None:
        """Conversations leave the project; with `delete_conversations` those of the user are deleted, and no others."""
        user_id = current_user().id

        async def delete(connection: Connection) -> None:
            await existing_project(connection, project_id, role="owner", lock=True)
            own = await store.session_ids(connection, project_id, user_id=user_id) if delete_conversations else []
            for session_id in own:
                await repository.delete_session(connection, session_id, user_id=user_id)
            files = await store.file_ids(connection, project_id)
            await store.delete_project(connection, project_id)
            await attachment_table.delete_unused(connection, set(files))

        await self._database.write(delete)
        record("project.deleted", project_id)

    async def set_member(self, project_id: str, user_id: str, role: Role) -> list[Member]:
        """Adds a member, or changes the role of one."""
        member = Member(user_id=_valid_user(user_id), role=role)

        async def change(connection: Connection) -> list[Member]:
            await existing_project(connection, project_id, role="owner", lock=True)
            before = await store.members(connection, project_id)
            _require_owner([*(one for one in before if one.user_id != member.user_id), member])
            await store.set_member(connection, project_id, member)
            return await store.members(connection, project_id)

        members = await self._database.write(change)
        record("project.member_set", project_id)
        return members

    async def remove_member(self, project_id: str, user_id: str) -> None:
        """Owners remove anybody; everybody may leave."""

        async def remove(connection: Connection) -> None:
            role: Role = "viewer" if user_id == current_user().id else "owner"
            await existing_project(connection, project_id, role=role, lock=True)
            before = await store.members(connection, project_id)
            if user_id not in {one.user_id for one in before}:
                raise NotFoundError("projects.member_not_found")
            _require_owner([one for one in before if one.user_id != user_id])
            await store.remove_member(connection, project_id, user_id)

        await self._database.write(remove)
        record("project.member_removed", project_id)

    async def move(self, session_id: str, project_id: str | None) -> Session:
        """Moves a conversation into the project, or out of any. Links for members of the project before end."""

        async def move(connection: Connection) -> Session:
            session = await existing_session(connection, session_id, lock=True)
            if project_id is not None:
                await existing_project(connection, project_id)
            if session.project_id != project_id:
                await store.end_project_shares(connection, session_id)
                await repository.change_session(connection, session_id, project_id=project_id)
            return await existing_session(connection, session_id)

        return await self._database.write(move)

    async def context(self, project_id: str | None) -> ProjectContext | None:
        """What an agent is told; None without a project, and for one that the user is no longer a member of."""
        if project_id is None:
            return None
        async with self._database.read() as connection:
            project = await store.project(connection, project_id, user_id=current_user().id)
            if project is None:
                return None
            files = await store.texts(connection, project_id)
        return ProjectContext(
            name=project.name, instructions=project.instructions, space=project.space, files=tuple(files)
        )


async def existing_project(
    connection: Connection, project_id: str, *, role: Role = "viewer", lock: bool = False
) -> Project:
    """NotFoundError for everybody but members, ForbiddenError for a member whose role does not allow it."""
    project = await store.project(connection, project_id, user_id=current_user().id, lock=lock)
    if project is None:
        raise NotFoundError("projects.not_found")
    if RANK[project.role] < RANK[role]:
        raise ForbiddenError("projects.owners_only" if role == "owner" else "projects.editors_only")
    return project


def _columns(given: dict[str, str | bool | None]) -> dict[str, Any]:
    columns: dict[str, Any] = {}
    if "name" in given:
        columns["name"] = _valid_name(str(given["name"] or ""))
    if "instructions" in given:
        columns["instructions"] = _valid_instructions(str(given["instructions"] or ""))
    if "agent_id" in given:
        columns["agent_id"] = given["agent_id"] or None
    if "space" in given:
        columns["space"] = str(given["space"] or "").strip() or None
    if "archived" in given:
        columns["archived_at"] = now() if given["archived"] else None
    return columns


def _valid_name(name: str) -> str:
    valid = make_title(name, MAX_NAME)
    if not valid:
        raise ValidationError("projects.name_blank")
    return valid


def _valid_instructions(text: str) -> str:
    if len(text) > MAX_INSTRUCTIONS:
        raise ValidationError("projects.instructions_too_long", length=len(text), limit=MAX_INSTRUCTIONS)
    return text.replace("\x00", "").strip()


def _valid_user(user_id: str) -> str:
    name, known = user_id.strip(), known_users()
    if not name or len(name) > MAX_USER or (known is not None and name not in known):
        raise NotFoundError("projects.user_not_found")
    return name


def _require_owner(members: list[Member]) -> None:
    if not any(one.role == "owner" for one in members):
        raise ConflictError("projects.last_owner")
