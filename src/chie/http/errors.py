"""The HTTP edge's translator: exceptions become error responses with the status that their type implies."""

from collections.abc import Iterator
from http import HTTPStatus
from typing import TYPE_CHECKING, cast

from fastapi import FastAPI
from fastapi.exceptions import RequestValidationError
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response

from chie.errors import (
    BUSY_CODES,
    ChieError,
    ConflictError,
    ForbiddenError,
    LimitError,
    NotFoundError,
    ValidationError,
)
from chie.http.responses import error_response
from chie.http.security_headers import HEADERS
from chie.logging import request_id
from chie.messages.catalogue import Message
from chie.messages.validation import describe, distinct

if TYPE_CHECKING:
    from pydantic_core import ErrorDetails

STATUS: dict[type[ChieError], int] = {
    ValidationError: 400,
    ForbiddenError: 403,
    NotFoundError: 404,
    ConflictError: 409,
    LimitError: 429,
}

RETRY_SECONDS = 5  # after a 503

_HTTP = {404: Message("http.path_not_found"), 405: Message("http.method_not_allowed")}


def add_error_handlers(app: FastAPI) -> None:
    app.add_exception_handler(ChieError, _chie_error)
    app.add_exception_handler(RequestValidationError, _invalid_request)
    app.add_exception_handler(HTTPException, _http_error)
    app.add_exception_handler(RecursionError, _too_deep)
    app.add_exception_handler(Exception, _unexpected)


def status_of(error: ChieError) -> int:
    """500 for errors that the caller did not cause: ours, a model's or a tool's. 503 if waiting helps."""
    if error.code in BUSY_CODES:
        return 503
    return next((status for kind, status in STATUS.items() if isinstance(error, kind)), 500)


def internal_error() -> Message:
    """For exceptions that are bugs: names the request under which the log has the stack."""
    return Message("http.internal_error", request=request_id())


async def _chie_error(request: Request, error: Exception) -> Response:
    assert isinstance(error, ChieError)  # noqa: S101 - registered for this type alone
    headers = {"Retry-After": str(RETRY_SECONDS)} if error.code in BUSY_CODES else None
    if isinstance(error, LimitError):  # OpenAI's clients would repeat the request at once
        headers = {"Retry-After": str(error.seconds), "x-should-retry": "false"}
    return error_response(request.scope, status_of(error), error.reason, headers)


async def _invalid_request(request: Request, error: Exception) -> Response:
    assert isinstance(error, RequestValidationError)  # noqa: S101
    reason = Message("http.invalid_request", problems=distinct(_problems(error)))
    return error_response(request.scope, 400, reason)


async def _http_error(request: Request, error: Exception) -> Response:
    assert isinstance(error, HTTPException)  # noqa: S101
    if isinstance(error.__cause__, RecursionError):
        return await _too_deep(request, error)
    if isinstance(error.__cause__, ValueError) and error.status_code == 400:  # FastAPI could not decode the body
        not_json = Message("http.invalid_request", problems=[Message("http.body_not_json")])
        return error_response(request.scope, 400, not_json)
    is_default = error.detail == HTTPStatus(error.status_code).phrase
    reason = _HTTP.get(error.status_code, error.detail) if is_default else error.detail
    return error_response(request.scope, error.status_code, reason, error.headers)


async def _too_deep(request: Request, _: Exception) -> Response:
    """Only what a caller nests is nested deeply, in the body itself or in a text of it that is JSON."""
    return error_response(request.scope, 400, Message("http.body_too_deep"))


async def _unexpected(request: Request, _: Exception) -> Response:
    """Starlette sends this response outside of all middleware, so it must add the security headers itself."""
    return error_response(request.scope, 500, internal_error(), HEADERS)


def _problems(error: RequestValidationError) -> Iterator[Message]:
    for problem in error.errors():
        part, *location = problem["loc"]
        if problem["type"] == "json_invalid":
            yield Message("http.body_not_json")
        elif problem["type"] == "extra_forbidden":
            yield Message("http.unknown_field", part=part)
        elif not location:
            yield Message("http.body_not_object", part=part)
        else:
            yield describe(cast("ErrorDetails", {**problem, "loc": tuple(location)}))
