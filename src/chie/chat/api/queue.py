"""Messages that wait for the answer before them: queueing, removing and sending them at once."""

from typing import Annotated

from fastapi import Path

from chie.chat.api.schemas import MAX_ID, AnswerState, Queue, SendQueued
from chie.chat.api.state import ChatState
from chie.chat.sessions.entities import QueuedMessage
from chie.http.openapi_errors import errors
from chie.http.routing import Router

router = Router(prefix="/api/sessions/{session_id}/queue/{message_id}", tags=["sessions"])

UUID = r"^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$"
SessionId = Annotated[str, Path(min_length=1, max_length=MAX_ID)]
NewId = Annotated[str, Path(pattern=UUID, description="A new UUID, which the question has when it is sent.")]


@router.put("", responses=errors(404, 409, 413))
async def queue_message(session_id: SessionId, message_id: NewId, body: Queue, chat: ChatState) -> QueuedMessage:
    """Send a message when the answer before it is complete. Repeating the request queues and sends it only once."""
    if body.agent_id is not None:
        chat.agents.get_agent(body.agent_id)
    queued = await chat.queue.add(
        session_id,
        message_id,
        body.message,
        agent_id=body.agent_id,
        parent_id=body.parent_id,
        attachment_ids=body.attachments,
    )
    await chat.queue_sender.send_if_due(queued)
    return queued


@router.delete("", status_code=204, responses=errors(404))
async def remove_from_queue(session_id: SessionId, message_id: NewId, chat: ChatState) -> None:
    """Take a message out of the queue."""
    await chat.queue.remove(session_id, message_id)


@router.post("/send", responses=errors(404, 409, 413))
async def send_queued(
    session_id: SessionId, message_id: NewId, chat: ChatState, body: SendQueued | None = None
) -> AnswerState:
    """Send a queued message before the others. These wait for its answer."""
    run = await chat.queue_sender.send_now(session_id, message_id, stop=bool(body and body.stop))
    return AnswerState(message_id=run.message_id, status="streaming")
