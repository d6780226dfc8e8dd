"""Links to conversations: making, listing and revoking them, and reading what they show."""

from typing import Annotated

from fastapi import Path
from fastapi.responses import PlainTextResponse, Response

from chie.chat.api.attachments import CONTENT, HEADERS, AttachmentId, file_response
from chie.chat.api.project_schemas import NewShare, Shares
from chie.chat.api.schemas import MAX_ID
from chie.chat.api.sessions import SessionId
from chie.chat.api.state import Chat, ChatState
from chie.chat.sessions.entities import Session
from chie.chat.sharing.entities import Share, SharedConversation
from chie.http.openapi_errors import errors
from chie.http.routing import Router

router = Router(tags=["sharing"])

Token = Annotated[str, Path(min_length=1, max_length=MAX_ID)]


@router.post("/api/sessions/{session_id}/shares", status_code=201, responses=errors(404, 409, 413))
async def share_session(session_id: SessionId, chat: ChatState, body: NewShare | None = None) -> Share:
    """Make a link to the conversation as it is now: messages that follow are not part of it."""
    body = body or NewShare()
    return await chat.sharing.create(session_id, message_id=body.message_id, with_project=body.with_project)


@router.get("/api/shares", responses=errors())
async def list_shares(chat: ChatState) -> Shares:
    """List your links, newest first."""
    return Shares(shares=await chat.sharing.own())


@router.delete("/api/shares/{token}", status_code=204, responses=errors(404))
async def revoke_share(token: Token, chat: ChatState) -> None:
    """Revoke one of your links. Nobody can open it any more; copies that others have made stay theirs."""
    await chat.sharing.revoke(token)


@router.get("/api/shared/{token}", responses=errors(404))
async def get_shared(token: Token, chat: ChatState) -> SharedConversation:
    """Read a shared conversation: the branch that was shared, as it was then."""
    return await chat.sharing.read(token)


@router.get(
    "/api/shared/{token}/attachments/{attachment_id}",
    response_class=Response,
    responses={200: CONTENT[200], **errors(404)},
)
async def get_shared_file(token: Token, attachment_id: AttachmentId, chat: ChatState) -> Response:
    """Get a file of the shared conversation."""
    return file_response(*await chat.sharing.file(token, attachment_id))


@router.get(
    "/api/shared/{token}/attachments/{attachment_id}/text", response_class=PlainTextResponse, responses=errors(404)
)
async def get_shared_text(token: Token, attachment_id: AttachmentId, chat: ChatState) -> PlainTextResponse:
    """Get the text of a document of the shared conversation."""
    return PlainTextResponse(await chat.sharing.file_text(token, attachment_id), headers=HEADERS)


@router.post("/api/shared/{token}/continue", status_code=201, responses=errors(404))
async def continue_shared(token: Token, chat: ChatState) -> Session:
    """Copy the shared conversation into your own, where you can continue it."""
    shared = await chat.sharing.read(token)
    agents = [message.agent_id for message in reversed(shared.messages) if message.agent_id]
    return await chat.sharing.copy(token, agent_id=await _agent(chat, agents[0] if agents else None))


async def _agent(chat: Chat, wanted: str | None) -> str:
    """The agent that answered last, if this Chie still has it."""
    known = {info["agent_id"] for info in await chat.agents.list_agents()}
    return wanted if wanted in known and wanted is not None else await chat.agents.preselected_id()
