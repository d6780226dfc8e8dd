"""Asking a question, following its answer, stopping it, and approving tool calls."""

import asyncio
from functools import partial
from typing import Annotated, Any

from fastapi import Depends, Header, Path, Query
from fastapi.responses import Response

from chie.chat.api.schemas import MAX_ID, AnswerQuestion, AnswerState, Approve, Ask, Decision, Edit, Regenerate
from chie.chat.api.sse import MEDIA_TYPE, EventStream
from chie.chat.api.state import Chat, ChatState
from chie.chat.interaction import Answer
from chie.chat.runs.run import Run
from chie.chat.time_zone import use_time_zone
from chie.http.openapi_errors import errors
from chie.http.routing import Router

router = Router(prefix="/api/chat", tags=["chat"])

MessageId = Annotated[str, Path(min_length=1, max_length=MAX_ID)]
TimeZone = Annotated[
    str | None, Header(max_length=64, description="Yours, such as `Asia/Tokyo`: the model is told your date.")
]
LastEventId = Annotated[int, Header(ge=0, le=2**31 - 1, description="The number of the last event received.")]
After = Annotated[int, Query(ge=0, le=2**31 - 1, description="The same, for clients that cannot set headers.")]

EVENT_TYPES = ["message", "reasoning", "summary", "tool_call", "tool_preview", "tool_progress", "tool_log"]
EVENT_TYPES += ["elicitation", "elicitation_end", "tool_result", "error", "done"]
EVENT: dict[str, Any] = {
    "type": "object",
    "properties": {
        "id": {"type": "string", "pattern": "^[0-9]+$"},
        "event": {"enum": EVENT_TYPES},
        "data": {"type": "string", "contentMediaType": "application/json"},
    },
    "required": ["id", "event", "data"],
}
EVENTS: dict[int | str, dict[str, Any]] = {
    200: {
        "description": f"Server-Sent Events: {', '.join(f'`{name}`' for name in EVENT_TYPES)}.",
        "content": {MEDIA_TYPE: {"schema": EVENT}},
        "headers": {
            "X-Chie-Session": {"description": "The session.", "schema": {"type": "string"}},
            "X-Chie-Message": {"description": "The answer, to follow it later.", "schema": {"type": "string"}},
        },
    }
}


async def _in_time_zone(x_time_zone: TimeZone = None) -> None:
    use_time_zone(x_time_zone)


IN_TIME_ZONE = [Depends(_in_time_zone)]


@router.post(
    "/stream",
    response_class=EventStream,
    status_code=200,
    responses={**EVENTS, **errors(404, 409, 413, 429)},
    dependencies=IN_TIME_ZONE,
)
async def ask(body: Ask, chat: ChatState) -> EventStream:
    """Ask an agent. The question is saved before the agent starts, and the answer continues if you disconnect."""
    run = await chat.starter.ask(
        body.message,
        session_id=body.session_id,
        agent_id=body.agent_id,
        parent_id=body.parent_id,
        attachment_ids=body.attachments,
        choice=body.choice,
        project_id=body.project_id,
    )
    return await _stream(chat, run)


@router.get(
    "/stream/{message_id}",
    response_class=EventStream,
    status_code=200,
    responses={**EVENTS, 204: {"description": "You already have every event."}, **errors(404)},
)
async def follow(message_id: MessageId, chat: ChatState, last_event_id: LastEventId = 0, after: After = 0) -> Response:
    """Resume an answer: every event after the last one you received, exactly once."""
    after = max(last_event_id, after)
    answer = await chat.answers.get(message_id)
    if answer.status != "streaming" and after >= answer.last_event_id:
        return Response(status_code=204)
    return _event_stream(chat, message_id, answer.session_id, after)


@router.post(
    "/{message_id}/regenerate",
    response_class=EventStream,
    status_code=200,
    responses={**EVENTS, **errors(404, 409, 413, 429)},
    dependencies=IN_TIME_ZONE,
)
async def regenerate(message_id: MessageId, chat: ChatState, body: Regenerate | None = None) -> EventStream:
    """Generate another answer to the same question, as a new branch."""
    body = body or Regenerate()
    run = await chat.starter.regenerate(message_id, agent_id=body.agent_id, choice=body.choice, beside=body.beside)
    return await _stream(chat, run)


@router.post(
    "/{message_id}/edit",
    response_class=EventStream,
    status_code=200,
    responses={**EVENTS, **errors(404, 409, 413, 429)},
    dependencies=IN_TIME_ZONE,
)
async def edit(message_id: MessageId, body: Edit, chat: ChatState) -> EventStream:
    """Ask an edited question, as a new branch."""
    run = await chat.starter.edit(
        message_id, body.message, agent_id=body.agent_id, attachment_ids=body.attachments, choice=body.choice
    )
    return await _stream(chat, run)


@router.post("/{message_id}/stop", responses=errors(404, 409))
async def stop(message_id: MessageId, chat: ChatState) -> AnswerState:
    """Stop an answer and keep what has been generated."""
    answer = await chat.runs.stop(message_id)
    return AnswerState(message_id=message_id, status=answer.status)


@router.post("/{message_id}/approve", responses=errors(404, 409, 413))
async def approve(message_id: MessageId, body: Approve, chat: ChatState) -> Decision:
    """Approve or deny a tool call that waits for approval."""
    await chat.runs.decide(message_id, body.id, approved=body.approved)
    return Decision(id=body.id, approved=body.approved)


@router.post("/{message_id}/answer", status_code=204, responses=errors(404, 409, 413))
async def answer_question(message_id: MessageId, body: AnswerQuestion, chat: ChatState) -> None:
    """Answer a question that a server asks while its tool runs: the event `elicitation`."""
    answer = Answer(action=body.action)
    if body.action == "accept" and body.content is not None:
        answer["content"] = {name: value for name, value in body.content.items() if value is not None}
    await chat.runs.answer(message_id, body.id, answer)


async def _stream(chat: Chat, run: Run) -> EventStream:
    await asyncio.sleep(0)  # the run sends its request first: the response can begin while the model works
    return _event_stream(chat, run.message_id, run.session_id, 0)


def _event_stream(chat: Chat, message_id: str, session_id: str, after: int) -> EventStream:
    reader = chat.runs.reader(message_id, after)
    return EventStream(
        reader,
        open_streams=chat.metrics.open_streams,
        session_id=session_id,
        message_id=message_id,
        revoked=partial(chat.runs.begin_stop, message_id),
    )
