"""An OpenAI-compatible API in which every agent is a model: for editors, Open WebUI, LibreChat and the like."""

import logging
from collections.abc import AsyncIterator
from contextlib import aclosing
from json import JSONEncoder
from time import time
from typing import Any

from fastapi import APIRouter, Request
from fastapi.responses import JSONResponse, Response, StreamingResponse
from starlette.types import Receive, Scope, Send

from chie.access.revocation import ended_by_revocation
from chie.chat.agents.calls import stream_chat
from chie.chat.api.agent_reader import AgentReader, ClientDisconnectedError, until_disconnect
from chie.chat.api.openai_schemas import Completion, CompletionRequest, Models, split
from chie.chat.api.sse import HEADERS, HEARTBEAT_COMMENT, MEDIA_TYPE
from chie.chat.api.state import ChatState
from chie.chat.events import Done, Usage
from chie.chat.models.errors import ModelError
from chie.chat.runs.reader import HEARTBEAT_SECONDS
from chie.chat.sessions.entities import new_id
from chie.errors import AuthenticationError, ChieError, ServiceError
from chie.http.openapi_errors import errors
from chie.http.responses import error_response, openai_error
from chie.logging import request_id

router = APIRouter(prefix="/v1", tags=["openai"])

COMPLETION: dict[int | str, dict[str, Any]] = {
    200: {
        "model": Completion,
        "content": {MEDIA_TYPE: {"schema": {"type": "object", "required": ["data"]}}},
        "description": "The answer.",
    }
}

# The statuses of a model's own errors, which clients treat differently: they repeat a 500, and wait after a 429.
MODEL_STATUS = {
    "models.conversation_too_long": 400,
    "models.bedrock_conversation_too_long": 400,
    "models.question_refused": 400,
    "models.request_rejected": 400,
    "models.bedrock_request_rejected": 400,
    "models.tools_unsupported": 400,
    "models.bedrock_tools_unsupported": 400,
    "models.key_rejected": 401,
    "models.bedrock_credentials_rejected": 401,
    "models.key_forbidden": 403,
    "models.bedrock_access_denied": 403,
    "models.model_not_found": 404,
    "models.bedrock_model_not_found": 404,
    "models.quota_exceeded": 429,
    "models.bedrock_quota_exceeded": 429,
    "models.rate_limited": 429,
    "models.rate_limited_for": 429,
    "models.bedrock_throttled": 429,
}
CLIENT_CLOSED_REQUEST = 499  # nginx's status; only the log shows it
logger = logging.getLogger(__name__)
_json = JSONEncoder(ensure_ascii=False).encode


@router.get("/models", responses=errors())
async def list_models(chat: ChatState) -> Models:
    """List the available agents as models."""
    agents = [info for info in await chat.agents.list_agents() if info["available"]]
    return Models.model_validate({"data": [{"id": info["agent_id"]} for info in agents]})


@router.post(
    "/chat/completions", response_class=JSONResponse, responses={**COMPLETION, **errors(401, 403, 404, 413, 429)}
)
async def complete(body: CompletionRequest, chat: ChatState, request: Request) -> Response:
    """Ask an agent. Nothing is stored. Tools run on the server; those that need approval are denied."""
    agent = chat.agents.get_agent(body.model)
    history, message = split(body.messages)
    logger.info("agent %s answers %d turns that are not stored", agent.agent_id, len(history))
    reader = AgentReader(stream_chat(agent, message, history, new_id()), HEARTBEAT_SECONDS)
    chunks = _Chunks(body.model)
    try:
        if not body.stream:
            return JSONResponse(await until_disconnect(request, chunks.whole(reader)))
        await until_disconnect(request, _first(reader))  # an unreachable model is a 500 instead of a broken stream
    except ClientDisconnectedError:
        return Response(status_code=CLIENT_CLOSED_REQUEST)
    except ModelError as error:
        return _model_error(request, error)
    usage = bool(body.stream_options and body.stream_options.include_usage)
    return _CompletionStream(reader, chunks.stream(reader, usage=usage))


def _model_error(request: Request, error: ModelError) -> Response:
    wait = error.reason.json_params().get("seconds") if error.code == "models.rate_limited_for" else None
    headers = {"Retry-After": str(wait)} if wait else None
    return error_response(request.scope, MODEL_STATUS.get(error.code, 500), error.reason, headers)


async def _first(reader: AgentReader) -> None:
    try:
        await reader.wait_for_first()
    except BaseException:
        await reader.aclose()
        raise


class _CompletionStream(StreamingResponse):
    """Cancels the agent when the response ends, also if the client disconnects before the body starts."""

    def __init__(self, reader: AgentReader, body: AsyncIterator[str]) -> None:
        self._reader = reader
        self._scope: Scope = {}
        super().__init__(body, media_type=MEDIA_TYPE, headers=HEADERS)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        self._scope = scope
        async with aclosing(self._reader):
            await super().__call__(scope, receive, send)

    async def stream_response(self, send: Send) -> None:
        if await ended_by_revocation(self._scope, super().stream_response(send)):
            last = _data({"error": _error(AuthenticationError("access.token_revoked"))})
            await send({"type": "http.response.body", "body": last.encode(), "more_body": False})


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
        message = {"role": "assistant", "content": "".join(texts)}
        if thoughts:
            message["reasoning_content"] = "".join(thoughts)
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
            yield _data({"error": _error(error)})
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


def _error(error: Exception) -> dict[str, Any]:
    if not isinstance(error, ChieError):
        logger.error("an agent raised an unexpected error", exc_info=error)
        error = ServiceError("chat.agent_failed", request_id=request_id())
    return openai_error(error.reason, MODEL_STATUS.get(error.code, 500))


def _data(value: dict[str, Any]) -> str:
    return f"data: {_json(value)}\n\n"


def _finish(done: Done) -> str:
    return done.get("finish", "stop")


def _usage(usage: Usage | None) -> dict[str, int] | None:
    if usage is None:
        return None
    prompt, completion = usage["input_tokens"], usage["output_tokens"]
    return {"prompt_tokens": prompt, "completion_tokens": completion, "total_tokens": prompt + completion}
