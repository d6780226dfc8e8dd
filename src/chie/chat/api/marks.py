"""Marks for a list of sessions: which ones are answering, wait for the user, or have an answer that is new."""

from hashlib import sha256
from typing import Annotated

from fastapi import Header, Path, Response

from chie.chat.api.schemas import MAX_ID, Seen
from chie.chat.api.state import ChatState
from chie.chat.sessions.marks import Marks
from chie.http.openapi_errors import errors
from chie.http.routing import Router

router = Router(prefix="/api/sessions", tags=["sessions"])

HEADERS = {"Cache-Control": "private, no-cache"}  # the browser asks with the ETag that it has


@router.get("/marks", response_model=Marks, responses={304: {"description": "Nothing has changed."}, **errors()})
async def marks(
    chat: ChatState, response: Response, if_none_match: Annotated[str | None, Header()] = None
) -> Marks | Response:
    """The sessions with an answer that is being generated, that waits for the user, or that has not been seen."""
    found = await chat.marks.get()
    etag = f'"{sha256(repr(found).encode()).hexdigest()[:16]}"'
    if if_none_match == etag:
        return Response(status_code=304, headers={**HEADERS, "ETag": etag})
    response.headers.update({**HEADERS, "ETag": etag})
    return found


@router.post("/{session_id}/seen", status_code=204, responses=errors(404, 413))
async def see(session_id: Annotated[str, Path(min_length=1, max_length=MAX_ID)], body: Seen, chat: ChatState) -> None:
    """The user has seen this answer of the session; a later one stays unread."""
    await chat.marks.see(session_id, body.message_id)
