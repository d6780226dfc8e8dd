"""An OpenAI-compatible API in which every agent is a model: for editors, Open WebUI, LibreChat and the like."""

import logging
from collections.abc import AsyncIterator
from contextlib import aclosing
from time import time
from typing import Any

from fastapi import Request
from fastapi.responses import JSONResponse, Response

from chie.chat.agents.calls import stream_with_options
from chie.chat.api.agent_reader import AgentReader
from chie.chat.api.openai_options import AgentRequest, agent_request
from chie.chat.api.openai_schemas import Completion, CompletionRequest, Model, Models
from chie.chat.api.openai_stream import data, error_object, streamed_answer, whole_answer
from chie.chat.api.sse import HEARTBEAT_COMMENT, MEDIA_TYPE
from chie.chat.api.state import Chat, ChatState
from chie.chat.events import ClientCall, Done, Usage
from chie.chat.runs.reader import HEARTBEAT_SECONDS
from chie.chat.sessions.entities import new_id
from chie.http.openapi_errors import errors
from chie.http.routing import Router

router = Router(prefix="/v1", tags=["openai"])

COMPLETION: dict[int | str, dict[str, Any]] = {
    200: {
        "model": Completion,
        "content": {MEDIA_TYPE: {"schema": {"type": "object", "required": ["data"]}}},
        "description": "The answer.",
    }
}

logger = logging.getLogger(__name__)


@router.get("/models", responses=errors())
async def list_models(chat: ChatState) -> Models:
    """List the available agents as models."""
    agents = [info for info in await chat.agents.list_agents() if info["available"]]
    return Models.model_validate({"data": [{"id": info["agent_id"]} for info in agents]})


@router.get("/models/{model}", responses=errors(404))
async def get_model(model: str, chat: ChatState) -> Model:
    """One agent as a model."""
    return Model(id=chat.agents.get_agent(model).agent_id)


@router.post(
    "/chat/completions", response_class=JSONResponse, responses={**COMPLETION, **errors(401, 403, 404, 413, 429)}
)
async def complete(body: CompletionRequest, chat: ChatState, request: Request) -> Response:
    """Ask an agent. Nothing is stored. The agent's tools run on the server, and those that need approval are denied;
    calls of the request's own `tools` are returned. Fields that cannot be followed are refused by name."""
    reader = await read_answer(chat, body.model, agent_request(body))
    chunks = _Chunks(body.model)
    if not body.stream:
        return await whole_answer(request, chunks.whole(reader))
    usage = bool(body.stream_options and body.stream_options.include_usage)
    return await streamed_answer(request, reader, chunks.stream(reader, usage=usage), _last)


async def read_answer(chat: Chat, model: str, asked: AgentRequest) -> AgentReader:
    agent = chat.agents.get_agent(model)
    await chat.limits.require(agent)
    if asked.has_images:
        await chat.starter.require_seeing(agent)
    logger.info("agent %s answers %d turns that are not stored", agent.agent_id, len(asked.history))
    events = stream_with_options(agent, asked.question, asked.history, new_id(), asked.options)
    return AgentReader(events, HEARTBEAT_SECONDS, chat.recorder.recording(agent))


class _Chunks:
    """One answer in OpenAI's format."""

    def __init__(self, model: str) -> None:
        self._head = {"id": f"chatcmpl-{new_id()}", "created": int(time()), "model": model}

    async def whole(self, reader: AgentReader) -> dict[str, Any]:
        texts: list[str] = []
        thoughts: list[str] = []
        done = Done(type="done", usage=None)
        async with aclosing(reader):
            async for event in reader:
                if event and event["type"] == "message":
                    texts.append(event["content"])
                elif event and event["type"] == "reasoning":
                    thoughts.append(event["content"])
                elif event and event["type"] == "done":
                    done = event
        message: dict[str, Any] = {"role": "assistant", "content": "".join(texts), "refusal": None}
        if thoughts:
            message["reasoning_content"] = "".join(thoughts)
        if calls := done.get("calls"):
            message |= {"content": message["content"] or None, "tool_calls": [_call(call) for call in calls]}
        choice = {"index": 0, "message": message, "finish_reason": _finish(done), "logprobs": None}
        return {**self._head, "object": "chat.completion", "choices": [choice], "usage": _usage(done["usage"])}

    async def stream(self, reader: AgentReader, *, usage: bool) -> AsyncIterator[str]:
        yield self._chunk({"role": "assistant", "content": ""})
        done = Done(type="done", usage=None)
        try:
            async for event in reader:
                if event is None:
                    yield HEARTBEAT_COMMENT.decode()
                elif event["type"] == "message":
                    yield self._chunk({"content": event["content"]})
                elif event["type"] == "reasoning":
                    yield self._chunk({"reasoning_content": event["content"]})
                elif event["type"] == "done":
                    done = event
        except Exception as error:  # noqa: BLE001 - the status is sent, so the error must go into the stream
            yield _last(error_object(error))
            return
        for index, call in enumerate(done.get("calls", ())):
            yield self._chunk({"tool_calls": [{"index": index, **_call(call)}]})
        yield self._chunk({}, finish=_finish(done))
        if usage:
            chunk: dict[str, Any] = {"object": "chat.completion.chunk", "choices": [], "usage": _usage(done["usage"])}
            yield data({**self._head, **chunk})
        yield "data: [DONE]\n\n"

    def _chunk(self, delta: dict[str, Any], finish: str | None = None) -> str:
        choice = {"index": 0, "delta": delta, "finish_reason": finish, "logprobs": None}
        return data({**self._head, "object": "chat.completion.chunk", "choices": [choice]})


def _last(error: dict[str, Any]) -> str:
    return data({"error": error})


def _call(call: ClientCall) -> dict[str, Any]:
    function = {"name": call["name"], "arguments": call["arguments"]}
    return {"id": call["id"], "type": "function", "function": function}


def _finish(done: Done) -> str:
    return done.get("finish", "stop")


def _usage(usage: Usage | None) -> dict[str, Any] | None:
    if usage is None:
        return None
    prompt, completion = usage["input_tokens"], usage["output_tokens"]
    counted: dict[str, Any] = {"prompt_tokens": prompt, "completion_tokens": completion}
    counted["total_tokens"] = prompt + completion
    if cached := usage.get("cached_tokens"):
        counted["prompt_tokens_details"] = {"cached_tokens": cached}
    if reasoning := usage.get("reasoning_tokens"):
        counted["completion_tokens_details"] = {"reasoning_tokens": reasoning}
    return counted
