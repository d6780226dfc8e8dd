"""Projects, their files, their members, and the conversations that members have shared with them."""

from typing import Annotated, Literal

from fastapi import File, Path, Query, UploadFile
from fastapi.responses import PlainTextResponse, Response

from chie.chat.api.attachments import CONTENT, HEADERS, AttachmentId, file_response
from chie.chat.api.project_schemas import Members, NewProject, ProjectChange, ProjectList, ProjectShares, RoleBody
from chie.chat.api.schemas import MAX_ID
from chie.chat.api.state import ChatState
from chie.chat.projects.entities import Project, ProjectDetails
from chie.chat.sessions.entities import Attachment
from chie.errors import ValidationError
from chie.http.openapi_errors import errors
from chie.http.routing import Router

router = Router(prefix="/api/projects", tags=["projects"])

ProjectId = Annotated[str, Path(min_length=1, max_length=MAX_ID)]
UserId = Annotated[str, Path(min_length=1, max_length=MAX_ID)]


@router.post("", status_code=201, responses=errors(404, 413))
async def create_project(body: NewProject, chat: ChatState) -> Project:
    """Create a project. You become its owner."""
    agent_id = body.agent_id and chat.agents.get_agent(body.agent_id).agent_id
    return await chat.projects.create(body.name, instructions=body.instructions, agent_id=agent_id, space=body.space)


@router.get("", responses=errors())
async def list_projects(chat: ChatState) -> ProjectList:
    """List the projects that you are a member of, the most recently changed first, archived ones too."""
    return ProjectList(projects=await chat.projects.all())


@router.get("/{project_id}", responses=errors(404))
async def get_project(project_id: ProjectId, chat: ChatState) -> ProjectDetails:
    """Get a project with its files and members. `GET /api/sessions?project_id=…` lists your conversations in it."""
    return await chat.projects.details(project_id)


@router.patch("/{project_id}", responses=errors(403, 404, 413))
async def change_project(project_id: ProjectId, body: ProjectChange, chat: ChatState) -> Project:
    """Change what is given; `null` removes the agent or the space. For editors and owners."""
    given = body.model_dump(exclude_unset=True)
    if not given:
        raise ValidationError("projects.nothing_to_change")
    if given.get("agent_id"):
        chat.agents.get_agent(given["agent_id"])
    return await chat.projects.change(project_id, **given)


@router.delete("/{project_id}", status_code=204, responses=errors(403, 404, 409))
async def delete_project(
    project_id: ProjectId,
    chat: ChatState,
    conversations: Annotated[
        Literal["keep", "delete"], Query(description="`delete` deletes your own; those of other members are kept.")
    ] = "keep",
) -> None:
    """Delete the project and its files permanently. Conversations leave the project. For owners."""
    if conversations == "delete":
        await chat.projects.require_owner(project_id)
        for session_id in await chat.projects.own_sessions(project_id):
            for message_id in await chat.sessions.unfinished(session_id):
                await chat.runs.stop(message_id)
    await chat.projects.delete(project_id, delete_conversations=conversations == "delete")


@router.post("/{project_id}/files", status_code=201, responses=errors(403, 404, 413))
async def add_file(
    project_id: ProjectId, file: Annotated[UploadFile, File(description="A document or a text.")], chat: ChatState
) -> Attachment:
    """Add a file, which agents read in every conversation of the project. One of the same name is replaced."""
    await chat.project_files.require_editor(project_id)
    return await chat.project_files.add(project_id, await chat.reader.read(file.filename or "", await file.read()))


@router.get(
    "/{project_id}/files/{attachment_id}", response_class=Response, responses={200: CONTENT[200], **errors(404)}
)
async def get_file(project_id: ProjectId, attachment_id: AttachmentId, chat: ChatState) -> Response:
    """Download a file as it was uploaded."""
    return file_response(*await chat.project_files.get(project_id, attachment_id))


@router.get("/{project_id}/files/{attachment_id}/text", response_class=PlainTextResponse, responses=errors(404))
async def get_file_text(project_id: ProjectId, attachment_id: AttachmentId, chat: ChatState) -> PlainTextResponse:
    """Get the text of a file, as models read it."""
    return PlainTextResponse(await chat.project_files.text(project_id, attachment_id), headers=HEADERS)


@router.delete("/{project_id}/files/{attachment_id}", status_code=204, responses=errors(403, 404))
async def remove_file(project_id: ProjectId, attachment_id: AttachmentId, chat: ChatState) -> None:
    """Remove a file. For editors and owners."""
    await chat.project_files.remove(project_id, attachment_id)


@router.put("/{project_id}/members/{user_id}", responses=errors(403, 404, 409, 413))
async def set_member(project_id: ProjectId, user_id: UserId, body: RoleBody, chat: ChatState) -> Members:
    """Add a member, or change the role of one. For owners."""
    return Members(members=await chat.projects.set_member(project_id, user_id, body.role))


@router.delete("/{project_id}/members/{user_id}", status_code=204, responses=errors(403, 404, 409))
async def remove_member(project_id: ProjectId, user_id: UserId, chat: ChatState) -> None:
    """Remove a member, or leave the project yourself. The conversations of that member leave the project too."""
    await chat.projects.remove_member(project_id, user_id)


@router.get("/{project_id}/shares", responses=errors(404))
async def list_project_shares(project_id: ProjectId, chat: ChatState) -> ProjectShares:
    """List the conversations that members have shared with the project."""
    return ProjectShares(shares=await chat.sharing.of_project(project_id))
