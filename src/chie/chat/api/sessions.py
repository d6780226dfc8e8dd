"""Listing, searching, reading, changing, deleting and exporting sessions."""

from typing import Annotated, Any, Literal

from fastapi import Path, Query
from fastapi.responses import JSONResponse, PlainTextResponse, Response

from chie.chat.api.schemas import MAX_ID, NewSession, SessionChange
from chie.chat.api.state import ChatState
from chie.chat.sessions.entities import Conversation, Page, Session
from chie.chat.sessions.export import as_json, as_markdown, file_name
from chie.errors import ValidationError
from chie.http.openapi_errors import errors
from chie.http.routing import Router

router = Router(prefix="/api/sessions", tags=["sessions"])

SessionId = Annotated[str, Path(min_length=1, max_length=MAX_ID)]

EXPORT: dict[int | str, dict[str, Any]] = {
    200: {
        "description": "The conversation as a file.",
        "content": {
            "text/markdown": {"schema": {"type": "string"}},
            "application/json": {"schema": {"$ref": "#/components/schemas/Conversation"}},
        },
    }
}


@router.post("", status_code=201, responses=errors(404, 413))
async def create_session(chat: ChatState, body: NewSession | None = None) -> Session:
    """Create an empty session. Asking without a session creates one too."""
    body = body or NewSession()
    agent = await chat.starter.agent(body.agent_id, project_id=body.project_id)
    return await chat.sessions.create(agent_id=agent.agent_id, title=body.title, project_id=body.project_id)


@router.get("", responses=errors())
async def list_sessions(
    chat: ChatState,
    query: Annotated[str | None, Query(max_length=1_000, description="Text to find in titles and messages.")] = None,
    pinned: Annotated[bool | None, Query(description="Only pinned sessions, or only the others.")] = None,
    archived: Annotated[
        bool | None,
        Query(description="Only archived sessions, or none. Default: none, but a search finds them too."),
    ] = None,
    limit: Annotated[int, Query(ge=1, le=200)] = 50,
    cursor: Annotated[str | None, Query(max_length=500, description="`next_cursor` of the previous page.")] = None,
    project_id: Annotated[str | None, Query(max_length=MAX_ID, description="Only sessions of this project.")] = None,
) -> Page:
    """List sessions, newest first. With `query`, each has the passage of a question or an answer that matches."""
    return await chat.sessions.page(
        query=query, pinned=pinned, archived=archived, limit=limit, cursor=cursor, project_id=project_id
    )


@router.get("/{session_id}", responses=errors(404))
async def get_session(session_id: SessionId, chat: ChatState) -> Conversation:
    """Get the messages of all branches. A streaming answer has what has been saved so far."""
    return await chat.sessions.conversation(session_id)


@router.patch("/{session_id}", responses=errors(404, 413))
async def change_session(session_id: SessionId, body: SessionChange, chat: ChatState) -> Session:
    """Rename, pin or archive the session, change the agent that answers from now on, or move it to a project."""
    moves = "project_id" in body.model_fields_set
    if not moves and all(value is None for value in body.model_dump().values()):
        raise ValidationError("sessions.nothing_to_change")
    agent_id = body.current_agent_id and chat.agents.get_agent(body.current_agent_id).agent_id
    if moves:
        await chat.projects.move(session_id, body.project_id)
    return await chat.sessions.change(
        session_id, title=body.title, agent_id=agent_id, pinned=body.pinned, archived=body.archived
    )


@router.delete("/{session_id}", status_code=204, responses=errors(404, 409))
async def delete_session(session_id: SessionId, chat: ChatState) -> None:
    """Delete the session permanently. A streaming answer is stopped first."""
    for message_id in await chat.sessions.unfinished(session_id):
        await chat.runs.stop(message_id)
    await chat.sessions.delete(session_id)


@router.get("/{session_id}/export", response_class=Response, responses={**EXPORT, **errors(404)})
async def export_session(
    session_id: SessionId,
    chat: ChatState,
    format: Annotated[Literal["markdown", "json"], Query(description="JSON has all branches.")] = "markdown",  # noqa: A002
) -> Response:
    """Export a conversation: the newest branch as Markdown, or all branches as JSON."""
    conversation = await chat.sessions.conversation(session_id)
    headers = {"Content-Disposition": f'attachment; filename="{file_name(conversation, format)}"'}
    if format == "json":
        return JSONResponse(as_json(conversation), headers=headers)
    return PlainTextResponse(as_markdown(conversation), media_type="text/markdown", headers=headers)
