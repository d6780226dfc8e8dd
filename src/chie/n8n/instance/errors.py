"""The errors of n8n's MCP server. Its sentences are kept on one line, without secrets."""

from typing import Any

from chie.logging import redact
from chie.messages.catalogue import Message, Param
from chie.n8n.errors import ApiError, ApiErrorContext, NoResponseError
from chie.n8n.status_errors import MAX_SENTENCE_LENGTH

_STATUS_CODES = {401: "n8n.mcp_token_invalid", 403: "n8n.mcp_token_invalid", 404: "n8n.mcp_off", 429: "n8n.mcp_busy"}
_INVALID_PARAMS = -32602


def for_status(tool: str, status: int, retry_after: str | None) -> ApiError:
    code = _STATUS_CODES.get(status, "n8n.redirected" if 300 <= status < 400 else "n8n.server_error")
    if code in ("n8n.redirected", "n8n.server_error"):
        return _error(tool, code, status, status=status, reason=Message("n8n.without_reason"))
    if code == "n8n.mcp_busy":
        seconds = int(retry_after) if retry_after and retry_after.isdecimal() else 300
        return _error(tool, code, status, seconds=seconds)
    return _error(tool, code, status)


def for_rpc_error(tool: str, error: Any) -> ApiError:  # noqa: ANN401
    found = error if isinstance(error, dict) else {}
    if found.get("code") == _INVALID_PARAMS and str(found.get("message", "")).endswith("not found"):
        return _error(tool, "n8n.mcp_tool_missing", None)
    return for_failure(tool, str(found.get("message", "")))


def for_failure(tool: str, text: str) -> ApiError:
    """The tool answered with an error; n8n's own sentence says why."""
    sentence = one_line(text)
    reason = Message("n8n.with_reason", sentence=sentence.rstrip(".")) if sentence else Message("n8n.without_reason")
    return _error(tool, "n8n.mcp_failed", None, details=sentence or None, reason=reason)


def not_mcp(tool: str, status: int) -> ApiError:
    return _error(tool, "n8n.mcp_response_invalid", status)


def too_large(tool: str, limit: int) -> ApiError:
    return _error(tool, "n8n.mcp_response_too_large", None, megabytes=limit // 2**20)


def no_response(tool: str, url: str, error: str, *, untrusted: bool, maybe_done: bool) -> ApiError:
    code = "n8n.certificate_untrusted" if untrusted else "n8n.unreachable"
    kind: type[ApiError] = ApiError
    if maybe_done:
        kind, code = NoResponseError, "n8n.write_without_response"
    message = Message(code, operation=_operation(tool), url=url, error=error)
    return kind(message, context=ApiErrorContext(operation=tool, error_details=error))


def one_line(text: str) -> str:
    line = redact(" ".join(text.split()))
    return line if len(line) <= MAX_SENTENCE_LENGTH else f"{line[:MAX_SENTENCE_LENGTH]}…"


def _operation(tool: str) -> Message:
    return Message("n8n.operation_call_mcp_tool", tool=tool)


def _error(
    tool: str, code: str, http_status: int | None, /, *, details: str | None = None, **params: Param
) -> ApiError:
    context = ApiErrorContext(operation=tool, status_code=http_status, error_details=details)
    return ApiError(Message(code, operation=_operation(tool), **params), http_status, context)
