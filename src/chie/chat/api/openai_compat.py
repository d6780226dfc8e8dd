"""Every agent as a model, for anything that speaks to OpenAI: editors, Open WebUI, LibreChat, curl."""

import logging
from collections.abc import AsyncGenerator, AsyncIterator, Sequence
from contextlib import aclosing
from json import JSONEncoder
from time import time
from typing import Any

from fastapi import APIRouter, Request
from fastapi.responses import JSONResponse, Response, StreamingResponse

from chie.chat.agents.base import BaseAgent, Turn
from chie.chat.api.disconnect import ClientLeftError, attended, with_silences
from chie.chat.api.openai_schemas import Completion, CompletionRequest, Models, split
from chie.chat.api.sse import HEADERS, HEARTBEAT, MEDIA_TYPE
from chie.chat.api.state import ChatState
from chie.chat.events import Done, Event, Usage, clean
from chie.chat.runs.reader import HEARTBEAT_SECONDS
from chie.chat.sessions.entities import new_id
from chie.errors import ChieError
from chie.http.errors import internal_error
from chie.http.openapi_errors import errors
from chie.http.responses import openai_error
from chie.messages.catalogue import Message

router = APIRouter(prefix="/v1", tags=["openai"])

COMPLETION: dict[int | str, dict[str, Any]] = {
    200: {
        "model": Completion,
        "content": {MEDIA_TYPE: {"schema": {"type": "object", "required": ["data"]}}},
        "description": "The answer.",
    }
}

CLIENT_LEFT = 499  # as nginx writes it; nobody reads it but the log
SILENCE = HEARTBEAT.decode()

Events = AsyncGenerator[Event | None, None]

logger = logging.getLogger(__name__)
_json = JSONEncoder(ensure_ascii=False).encode


@router.get("/models", responses=errors())
async def list_models(chat: ChatState) -> Models:
    """The agents that are available."""
    agents = [info for info in await chat.agents.list_agents() if info.available]
    return Models.model_validate({"data": [{"id": info.id} for info in agents]})


@router.post("/chat/completions", response_class=JSONResponse, responses={**COMPLETION, **errors(404, 413)})
async def complete(body: CompletionRequest, chat: ChatState, request: Request) -> Response:
    """Ask an agent. Nothing is kept: the client has the history. Tools run here; those that destroy are refused."""
    agent = chat.agents.get_agent(body.model)
    history, message = split(body.messages)
    logger.info("agent %s answers a question of %d turns that is not kept", agent.agent_id, len(history))
    events = with_silences(_answer(agent, message, history), HEARTBEAT_SECONDS)
    chunks = _Chunks(body.model)
    try:
        if not body.stream:
            return JSONResponse(await attended(request, chunks.whole(events)))
        first = await attended(request, _first(events))  # a model that cannot be reached is a 500, no broken stream
    except ClientLeftError:
        return Response(status_code=CLIENT_LEFT)
    usage = bool(body.stream_options and body.stream_options.include_usage)
    return StreamingResponse(chunks.stream(first, events, usage=usage), media_type=MEDIA_TYPE, headers=HEADERS)


async def _answer(agent: BaseAgent, message: str, history: Sequence[Turn]) -> AsyncGenerator[Event, None]:
    async with aclosing(agent.stream_chat(message, history, new_id())) as events:
        async for event in events:
            if event["type"] == "message":
                event["content"] = clean(event["content"])
            elif event["type"] == "tool_call":
                logger.info("tool %s is called", event["name"])
            yield event


async def _first(events: Events) -> Event | None:
    return await anext(events, None)


class _Chunks:
    """One answer in OpenAI's words."""

    def __init__(self, model: str) -> None:
        self._head = {"id": f"chatcmpl-{new_id()}", "created": int(time()), "model": model}

    async def whole(self, events: Events) -> dict[str, Any]:
        texts: list[str] = []
        done = Done(type="done", usage=None)
        async with aclosing(events):
            async for event in events:
                if event and event["type"] == "message":
                    texts.append(event["content"])
                elif event and event["type"] == "done":
                    done = event
        message = {"role": "assistant", "content": "".join(texts)}
        choice = {"index": 0, "message": message, "finish_reason": _finish(done), "logprobs": None}
        return {**self._head, "object": "chat.completion", "choices": [choice], "usage": _usage(done["usage"])}

    async def stream(self, first: Event | None, events: Events, *, usage: bool) -> AsyncIterator[str]:
        yield self._chunk({"role": "assistant", "content": ""})
        done = Done(type="done", usage=None)
        try:
            async for event in _all(first, events):
                if event is None:
                    yield SILENCE
                elif event["type"] == "message":
                    yield self._chunk({"content": event["content"]})
                elif event["type"] == "done":
                    done = event
        except Exception as error:  # noqa: BLE001 - an edge: the status is sent, so the client must be told in the stream
            yield _data({"error": openai_error(_reason(error))})
            return
        yield self._chunk({}, finish=_finish(done))
        if usage:
            yield _data(
                {**self._head, "object": "chat.completion.chunk", "choices": [], "usage": _usage(done["usage"])}
            )
        yield "data: [DONE]\n\n"

    def _chunk(self, delta: dict[str, str], finish: str | None = None) -> str:
        choice = {"index": 0, "delta": delta, "finish_reason": finish, "logprobs": None}
        return _data({**self._head, "object": "chat.completion.chunk", "choices": [choice]})


async def _all(first: Event | None, events: Events) -> AsyncIterator[Event | None]:
    async with aclosing(events):
        yield first
        async for event in events:
            yield event


def _reason(error: Exception) -> Message:
    if isinstance(error, ChieError):
        return error.reason
    logger.error("an agent failed unexpectedly", exc_info=error)
    return internal_error()


def _data(value: dict[str, Any]) -> str:
    return f"data: {_json(value)}\n\n"


def _finish(done: Done) -> str:
    return done.get("finish", "stop")


def _usage(usage: Usage | None) -> dict[str, int] | None:
    if usage is None:
        return None
    asked, answered = usage["input_tokens"], usage["output_tokens"]
    return {"prompt_tokens": asked, "completion_tokens": answered, "total_tokens": asked + answered}
