"""Sessions: list, search, read, rename, switch agent, delete, export."""

from typing import Annotated, Any, Literal

from fastapi import APIRouter, Path, Query
from fastapi.responses import JSONResponse, PlainTextResponse, Response

from chie.chat.api.schemas import MAX_ID, NewSession, SessionChange
from chie.chat.api.state import ChatState
from chie.chat.sessions.entities import Conversation, Page, Session
from chie.chat.sessions.export import as_json, as_markdown, file_name
from chie.errors import ValidationError
from chie.http.openapi_errors import errors

router = APIRouter(prefix="/api/sessions", tags=["sessions"])

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
    """Begin a session before anything is said in it; asking without a session begins one too."""
    body = body or NewSession()
    return await chat.sessions.create(agent_id=body.agent_id, title=body.title)


@router.get("", responses=errors())
async def list_sessions(
    chat: ChatState,
    query: Annotated[str | None, Query(max_length=1_000, description="Words in titles or messages.")] = None,
    limit: Annotated[int, Query(ge=1, le=200)] = 50,
    cursor: Annotated[str | None, Query(max_length=500, description="`next_cursor` of the page before.")] = None,
) -> Page:
    """Newest first."""
    return await chat.sessions.page(query=query, limit=limit, cursor=cursor)


@router.get("/{session_id}", responses=errors(404))
async def get_session(session_id: SessionId, chat: ChatState) -> Conversation:
    """All messages of all branches. An answer that is still being written is there as far as it is saved."""
    return await chat.sessions.conversation(session_id)


@router.patch("/{session_id}", responses=errors(404, 413))
async def change_session(session_id: SessionId, body: SessionChange, chat: ChatState) -> Session:
    """Rename it, or let another agent answer from now on."""
    if body.title is None and body.current_agent_id is None:
        raise ValidationError("nothing to change: give title or current_agent_id.")
    return await chat.sessions.change(session_id, title=body.title, agent_id=body.current_agent_id)


@router.delete("/{session_id}", status_code=204, responses=errors(404, 409))
async def delete_session(session_id: SessionId, chat: ChatState) -> None:
    """Delete it for good. An answer that is being written is stopped first."""
    for message_id in await chat.sessions.unfinished(session_id):
        await chat.runs.stop(message_id)
    await chat.sessions.delete(session_id)


@router.get("/{session_id}/export", response_class=Response, responses={**EXPORT, **errors(404)})
async def export_session(
    session_id: SessionId,
    chat: ChatState,
    format: Annotated[Literal["markdown", "json"], Query(description="JSON holds every branch.")] = "markdown",  # noqa: A002
) -> Response:
    """Take a conversation along: Markdown of the newest branch, or JSON of everything."""
    conversation = await chat.sessions.conversation(session_id)
    headers = {"Content-Disposition": f'attachment; filename="{file_name(conversation, format)}"'}
    if format == "json":
        return JSONResponse(as_json(conversation), headers=headers)
    return PlainTextResponse(as_markdown(conversation), media_type="text/markdown", headers=headers)
