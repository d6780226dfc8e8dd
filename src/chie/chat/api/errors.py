"""The HTTP edge's translator: every failure is `{"detail": …}` with the status that its type means."""

from collections.abc import Iterator
from http import HTTPStatus
from typing import TYPE_CHECKING, Any, cast

from fastapi import FastAPI
from fastapi.exceptions import RequestValidationError
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import JSONResponse, Response

from chie.errors import ChieError, ConflictError, ForbiddenError, NotFoundError, ValidationError
from chie.http.security_headers import HEADERS
from chie.logging import request_id
from chie.mcp_kit.errors import describe

if TYPE_CHECKING:
    from pydantic_core import ErrorDetails

STATUS: dict[type[ChieError], int] = {
    ValidationError: 400,
    ForbiddenError: 403,
    NotFoundError: 404,
    ConflictError: 409,
}

_HTTP = {
    404: "nothing is at this path. GET /docs shows what there is.",
    405: "this path does not take that method. GET /docs shows which it takes.",
}


def install(app: FastAPI) -> None:
    app.add_exception_handler(ChieError, _chie_error)
    app.add_exception_handler(RequestValidationError, _bad_request)
    app.add_exception_handler(HTTPException, _http_error)
    app.add_exception_handler(Exception, _surprise)


def status_of(error: ChieError) -> int:
    """What is neither the caller's fault nor missing is a failure of ours, a model's or a tool's: 500."""
    return next((status for kind, status in STATUS.items() if isinstance(error, kind)), 500)


def detail(request: Request, status: int, message: str, headers: dict[str, str] | None = None) -> Response:
    """OpenAI's clients look for `error.message`, so under /v1 it is there as well."""
    body: dict[str, Any] = {"detail": message}
    if request.url.path.startswith("/v1/"):
        kind = "invalid_request_error" if status < 500 else "server_error"
        body["error"] = {"message": message, "type": kind, "param": None, "code": None}
    return JSONResponse(body, status_code=status, headers=headers)


async def _chie_error(request: Request, error: Exception) -> Response:
    assert isinstance(error, ChieError)  # noqa: S101 - registered for this type alone
    return detail(request, status_of(error), error.message)


async def _bad_request(request: Request, error: Exception) -> Response:
    assert isinstance(error, RequestValidationError)  # noqa: S101
    return detail(request, 400, "; ".join(dict.fromkeys(_faults(error))) + ".")


async def _http_error(request: Request, error: Exception) -> Response:
    assert isinstance(error, HTTPException)  # noqa: S101
    plain = error.detail == HTTPStatus(error.status_code).phrase
    message = _HTTP.get(error.status_code, error.detail) if plain else error.detail
    return detail(request, error.status_code, message, dict(error.headers or {}))


async def _surprise(request: Request, _: Exception) -> Response:
    """Starlette answers this one outside of everything else, so it has to bring the headers itself."""
    return detail(request, 500, surprise(), dict(HEADERS))


def surprise() -> str:
    return (
        "this request failed inside Chie. Try once more; if it fails again, "
        f"the server's log has the reason under request {request_id()}."
    )


def _faults(error: RequestValidationError) -> Iterator[str]:
    for fault in error.errors():
        where, *location = fault["loc"]
        if fault["type"] == "json_invalid":
            yield "the body is not JSON"
        elif fault["type"] == "extra_forbidden":
            yield f"unknown field in the {where}: GET /docs shows those that there are"
        elif not location:
            yield f"the {where} must be a JSON object, sent with Content-Type: application/json"
        else:
            yield describe(cast("ErrorDetails", {**fault, "loc": tuple(location)}))
