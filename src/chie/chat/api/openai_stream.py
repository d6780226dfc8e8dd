"""Answers under `/v1`: their errors with the statuses that clients expect, and streams that end with the client."""

import logging
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import aclosing
from json import JSONEncoder
from typing import Any

from fastapi import Request
from fastapi.responses import JSONResponse, Response, StreamingResponse
from starlette.types import Receive, Scope, Send

from chie.access.revocation import ended_by_revocation
from chie.chat.api.agent_reader import AgentReader, ClientDisconnectedError, until_disconnect
from chie.chat.api.sse import HEADERS, MEDIA_TYPE
from chie.chat.models.errors import ModelError
from chie.errors import AuthenticationError, ChieError, ServiceError
from chie.http.responses import error_response, openai_error
from chie.logging import request_id

# The statuses of a model's own errors, which clients treat differently: they repeat a 500, and wait after a 429.
MODEL_STATUS = {
    "models.conversation_too_long": 400,
    "models.bedrock_conversation_too_long": 400,
    "models.images_unsupported": 400,
    "models.bedrock_images_unsupported": 400,
    "models.message_too_long": 400,
    "models.parameter_refused": 400,
    "models.tools_too_long": 400,
    "models.parameters_unsupported": 400,
    "models.reasoning_refused": 400,
    "models.question_refused": 400,
    "models.request_rejected": 400,
    "models.bedrock_request_rejected": 400,
    "models.tools_unsupported": 400,
    "models.bedrock_tools_unsupported": 400,
    "models.key_rejected": 401,
    "models.bedrock_credentials_expired": 401,
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


async def whole_answer(request: Request, read: Awaitable[dict[str, Any]]) -> Response:
    """The answer as JSON. Its agent is cancelled if the client disconnects."""

    async def work() -> dict[str, Any]:
        return await read

    try:
        return JSONResponse(await until_disconnect(request, work()))
    except ClientDisconnectedError:
        return Response(status_code=CLIENT_CLOSED_REQUEST)
    except ModelError as error:
        return _model_error(request, error)


async def streamed_answer(
    request: Request, reader: AgentReader, body: AsyncIterator[str], last: Callable[[dict[str, Any]], str]
) -> Response:
    """The answer as a stream; `last` encodes the error that ends it. An agent that fails at once is no stream."""
    try:
        await until_disconnect(request, _first(reader))
    except ClientDisconnectedError:
        return Response(status_code=CLIENT_CLOSED_REQUEST)
    except ModelError as error:
        return _model_error(request, error)
    return _AnswerStream(reader, body, last)


async def _first(reader: AgentReader) -> None:
    try:
        await reader.wait_for_first()
    except BaseException:
        await reader.aclose()
        raise


class _AnswerStream(StreamingResponse):
    """Cancels the agent when the response ends, also if the client disconnects before the body starts."""

    def __init__(self, reader: AgentReader, body: AsyncIterator[str], last: Callable[[dict[str, Any]], str]) -> None:
        self._reader = reader
        self._last = last
        self._scope: Scope = {}
        super().__init__(body, media_type=MEDIA_TYPE, headers=HEADERS)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        self._scope = scope
        async with aclosing(self._reader):
            await super().__call__(scope, receive, send)

    async def stream_response(self, send: Send) -> None:
        if await ended_by_revocation(self._scope, super().stream_response(send)):
            last = self._last(error_object(AuthenticationError("access.token_revoked")))
            await send({"type": "http.response.body", "body": last.encode(), "more_body": False})


def _model_error(request: Request, error: ModelError) -> Response:
    wait = error.reason.json_params().get("seconds") if error.code == "models.rate_limited_for" else None
    headers = {"Retry-After": str(wait)} if wait else None
    return error_response(request.scope, MODEL_STATUS.get(error.code, 500), error.reason, headers)


def error_object(error: Exception) -> dict[str, Any]:
    if not isinstance(error, ChieError):
        logger.error("an agent raised an unexpected error", exc_info=error)
        error = ServiceError("chat.agent_failed", request_id=request_id())
    return openai_error(error.reason, MODEL_STATUS.get(error.code, 500))


def data(value: dict[str, Any]) -> str:
    return f"data: {_json(value)}\n\n"
