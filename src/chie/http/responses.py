"""The body of every HTTP error: `{"detail": text, "code": …, "params": …}`."""

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from starlette.responses import JSONResponse

from chie.messages.catalogue import Message

if TYPE_CHECKING:
    from starlette.types import Scope

SAFE_METHODS = frozenset({"GET", "HEAD", "OPTIONS"})
OPENAI_PREFIX = "/v1/"
QUOTA_CODES = frozenset({"usage.team_limit_reached", "usage.user_limit_reached"})  # clients know another name


def error_response(
    scope: "Scope", status: int, reason: Message | str, headers: Mapping[str, str] | None = None
) -> JSONResponse:
    """A plain string is text from a library, which has no code. OpenAI's clients read `error.message` under /v1."""
    body: dict[str, Any] = {"detail": str(reason)}
    if isinstance(reason, Message):
        body |= {"code": reason.code, "params": reason.json_params()}
    if scope["path"].startswith(OPENAI_PREFIX):
        body["error"] = openai_error(reason, status)
    return JSONResponse(body, status_code=status, headers=headers)


def openai_error(reason: Message | str, status: int = 500) -> dict[str, Any]:
    """The error object of OpenAI's API."""
    kind = "invalid_request_error" if status < 500 else "server_error"
    code = reason.code if isinstance(reason, Message) else None
    if code in QUOTA_CODES:
        kind = code = "insufficient_quota"
    return {"message": str(reason), "type": kind, "param": None, "code": code}


def rejection(scope: "Scope", status: int, reason: Message, headers: Mapping[str, str] | None = None) -> JSONResponse:
    """An error response sent before the request's body was read; it closes the connection if there may be one."""
    closing = {} if scope["method"] in SAFE_METHODS else {"Connection": "close"}
    return error_response(scope, status, reason, {**(headers or {}), **closing})
