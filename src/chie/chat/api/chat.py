"""Asking, following, stopping, approving."""

from collections.abc import AsyncIterator
from typing import Annotated, Any

from fastapi import APIRouter, Header, Path, Query
from fastapi.responses import Response

from chie.chat.api.schemas import MAX_ID, AnswerState, Approve, Ask, Decision, Edit, Regenerate
from chie.chat.api.sse import MEDIA_TYPE, EventStream
from chie.chat.api.state import Chat, ChatState
from chie.chat.runs.reader import Batch
from chie.chat.sessions.turns import Beginning
from chie.http.openapi_errors import errors

router = APIRouter(prefix="/api/chat", tags=["chat"])

MessageId = Annotated[str, Path(min_length=1, max_length=MAX_ID)]
LastEventId = Annotated[int, Header(ge=0, le=2**31 - 1, description="The last event that was received.")]
After = Annotated[int, Query(ge=0, le=2**31 - 1, description="The same, where no header can be set.")]

EVENT: dict[str, Any] = {
    "type": "object",
    "properties": {
        "id": {"type": "string", "pattern": "^[0-9]+$"},
        "event": {"enum": ["message", "tool_call", "tool_result", "error", "done"]},
        "data": {"type": "string", "contentMediaType": "application/json"},
    },
    "required": ["id", "event", "data"],
}
EVENTS: dict[int | str, dict[str, Any]] = {
    200: {
        "description": "Server-Sent Events: `message`, `tool_call`, `tool_result`, `error`, `done`.",
        "content": {MEDIA_TYPE: {"schema": EVENT}},
        "headers": {
            "X-Chie-Session": {"description": "The session.", "schema": {"type": "string"}},
            "X-Chie-Message": {"description": "The answer, for following it later.", "schema": {"type": "string"}},
        },
    }
}


@router.post("/stream", response_class=EventStream, status_code=200, responses={**EVENTS, **errors(404, 409, 413)})
async def ask(body: Ask, chat: ChatState) -> EventStream:
    """Ask an agent. The question is saved before the agent starts, and the answer goes on if you leave."""
    beginning = await chat.turns.ask(
        body.message, session_id=body.session_id, agent_id=body.agent_id, parent_id=body.parent_id
    )
    return _stream(chat, beginning)


@router.get(
    "/stream/{message_id}",
    response_class=EventStream,
    status_code=200,
    responses={**EVENTS, 204: {"description": "You have every event already."}, **errors(404)},
)
async def follow(message_id: MessageId, chat: ChatState, last_event_id: LastEventId = 0, after: After = 0) -> Response:
    """Come back to an answer: every event after the last you received, exactly once."""
    after = max(last_event_id, after)
    answer = await chat.turns.answer(message_id)
    if answer.status != "streaming" and after >= answer.last_event_id:
        return Response(status_code=204)
    return EventStream(_counted(chat, message_id, after), session_id=answer.session_id, message_id=message_id)


@router.post(
    "/{message_id}/regenerate",
    response_class=EventStream,
    status_code=200,
    responses={**EVENTS, **errors(404, 409, 413)},
)
async def regenerate(message_id: MessageId, chat: ChatState, body: Regenerate | None = None) -> EventStream:
    """Another answer to the same question, as a branch beside the first."""
    agent_id = body.agent_id if body else None
    return _stream(chat, await chat.turns.regenerate(message_id, agent_id=agent_id))


@router.post(
    "/{message_id}/edit", response_class=EventStream, status_code=200, responses={**EVENTS, **errors(404, 409, 413)}
)
async def edit(message_id: MessageId, body: Edit, chat: ChatState) -> EventStream:
    """The question in other words, as a branch beside the first."""
    return _stream(chat, await chat.turns.edit(message_id, body.message, agent_id=body.agent_id))


@router.post("/{message_id}/stop", responses=errors(404, 409))
async def stop(message_id: MessageId, chat: ChatState) -> AnswerState:
    """End an answer and keep what there is of it."""
    answer = await chat.runs.stop(message_id)
    return AnswerState(message_id=message_id, status=answer.status)


@router.post("/{message_id}/approve", responses=errors(404, 409, 413))
async def approve(message_id: MessageId, body: Approve, chat: ChatState) -> Decision:
    """Let a tool run that waits for your word, or refuse it."""
    await chat.runs.decide(message_id, body.id, approved=body.approved)
    return Decision(id=body.id, approved=body.approved)


def _stream(chat: Chat, beginning: Beginning) -> EventStream:
    run = chat.runs.start(beginning)
    batches = _counted(chat, run.message_id, 0)
    return EventStream(batches, session_id=run.session_id, message_id=run.message_id)


async def _counted(chat: Chat, message_id: str, after: int) -> AsyncIterator[Batch]:
    with chat.metrics.open_streams.track_inprogress():
        async for batch in chat.runs.follow(message_id, after):
            yield batch
