"""The errors for n8n's HTTP statuses. The status comes from HTTP; the body only contributes n8n's own sentence."""

import json
import re
from dataclasses import dataclass

from chie.errors import ChieError
from chie.logging import redact
from chie.messages.catalogue import Message
from chie.n8n.errors import ApiError, ApiErrorContext, NotFoundError, NotFoundErrorContext, RejectedKeysError

MAX_SENTENCE_LENGTH = 500

OPERATIONS = {
    "compare versions": Message("n8n.operation_compare_versions"),
    "create tag": Message("n8n.operation_create_tag"),
    "create workflow": Message("n8n.operation_create_workflow"),
    "create workflow from file": Message("n8n.operation_create_workflow_from_file"),
    "delete workflow": Message("n8n.operation_delete_workflow"),
    "describe node": Message("n8n.operation_describe_node"),
    "discover capabilities": Message("n8n.operation_discover_capabilities"),
    "find nodes": Message("n8n.operation_find_nodes"),
    "get execution": Message("n8n.operation_get_execution"),
    "get workflow": Message("n8n.operation_get_workflow"),
    "get workflow connections": Message("n8n.operation_get_workflow_connections"),
    "get version": Message("n8n.operation_get_version"),
    "list backups": Message("n8n.operation_list_backups"),
    "list credentials": Message("n8n.operation_list_credentials"),
    "list executions": Message("n8n.operation_list_executions"),
    "list tags": Message("n8n.operation_list_tags"),
    "list versions": Message("n8n.operation_list_versions"),
    "list workflows": Message("n8n.operation_list_workflows"),
    "n8n health": Message("n8n.operation_n8n_health"),
    "patch workflow": Message("n8n.operation_patch_workflow"),
    "publish workflow": Message("n8n.operation_publish_workflow"),
    "reach n8n": Message("n8n.operation_reach_n8n"),
    "rehearse change": Message("n8n.operation_rehearse_change"),
    "replace workflow from file": Message("n8n.operation_replace_workflow_from_file"),
    "restore version": Message("n8n.operation_restore_version"),
    "restore workflow": Message("n8n.operation_restore_workflow"),
    "retry execution": Message("n8n.operation_retry_execution"),
    "tag workflow": Message("n8n.operation_tag_workflow"),
    "unpublish workflow": Message("n8n.operation_unpublish_workflow"),
    "update workflow": Message("n8n.operation_update_workflow"),
    "validate workflow": Message("n8n.operation_validate_workflow"),
}
_STATUS_CODES = {
    400: "n8n.bad_request",
    401: "n8n.api_key_invalid",
    403: "n8n.permission_missing",
    405: "n8n.method_unsupported",
    409: "n8n.state_conflict",
    413: "n8n.body_too_large",
    415: "n8n.body_dropped",
    429: "n8n.rate_limited",
}
_NOT_FOUND_CODES = {
    "Workflow": "n8n.workflow_not_found",
    "Execution": "n8n.execution_not_found",
    "Version": "n8n.version_not_found",
}

_ID = re.compile(r"[\w.-]{1,64}", re.ASCII)
_NAMED_KEYS = re.compile(r"^request/body(?P<pointer>\S*) Unrecognized key\(s\) in object: (?P<keys>.*)", re.DOTALL)
_UNNAMED_KEYS = re.compile(r"^request/body(?P<pointer>\S*) must NOT have additional properties")
_UNKNOWN_QUERY = re.compile(r"^Unknown query parameter '(?P<key>\w+)'")
_QUOTED = re.compile(r"'([^']*)'")


@dataclass(frozen=True)
class Call:
    """One request, and its purpose for error messages. `operation` is a key of OPERATIONS."""

    method: str
    path: str
    operation: str
    resource_type: str | None = None
    resource_id: str | None = None

    @property
    def reads(self) -> bool:
        return self.method == "GET"

    @property
    def named_operation(self) -> Message:
        return OPERATIONS[self.operation]


def error_for_status(call: Call, status: int, text: str) -> ChieError:
    sentence = _sentence(text)
    if status == 404 and call.resource_type in _NOT_FOUND_CODES and call.resource_id:
        return _not_found(call, sentence)
    context = ApiErrorContext(
        operation=call.operation,
        resource_type=call.resource_type,
        resource_id=call.resource_id,
        status_code=status,
        error_details=sentence,
    )
    message = Message(_code(status), operation=call.named_operation, status=status, reason=_reason(sentence))
    if rejected := _rejected_keys(sentence):
        part, keys = rejected
        return RejectedKeysError(message, context, part=part, keys=keys)
    return ApiError(message, status, context)


def not_the_api(call: Call, status: int) -> ApiError:
    """n8n's editor serves its page for every unknown path, with status 200."""
    context = ApiErrorContext(operation=call.operation, status_code=status, error_details="not JSON")
    return ApiError("n8n.response_not_json", status, context, operation=call.named_operation)


def _not_found(call: Call, sentence: str | None) -> NotFoundError:
    kind, identifier = str(call.resource_type), str(call.resource_id)
    generic = sentence is None or sentence.lower() == "not found"
    return NotFoundError(
        _NOT_FOUND_CODES[kind],
        NotFoundErrorContext(operation=call.operation, resource_type=kind, resource_id=identifier),
        id=identifier if _ID.fullmatch(identifier) else "…",
        reason="" if generic else Message("n8n.reported", sentence=str(sentence).rstrip(".")),
    )


def _reason(sentence: str | None) -> Message:
    if sentence is None:
        return Message("n8n.without_reason")
    return Message("n8n.with_reason", sentence=sentence.rstrip("."))


def _code(status: int) -> str:
    if status >= 500:
        return "n8n.server_error"
    if 300 <= status < 400:
        return "n8n.redirected"
    return _STATUS_CODES.get(status, "n8n.request_failed")


def _sentence(text: str) -> str | None:
    """n8n's message on one line; None for a web page."""
    try:
        body = json.loads(text)
    except (ValueError, RecursionError):
        return None
    message = body.get("message") if isinstance(body, dict) else None
    if not isinstance(message, str) or not message.strip():
        return None
    line = redact(" ".join(message.split()))
    return line if len(line) <= MAX_SENTENCE_LENGTH else f"{line[:MAX_SENTENCE_LENGTH]}…"


def _rejected_keys(sentence: str | None) -> tuple[str, list[str]] | None:
    """n8n has no error code for this, so its sentence must be parsed; nothing else does that."""
    if sentence is None:
        return None
    if found := _NAMED_KEYS.match(sentence):
        return _part(found["pointer"]), _QUOTED.findall(found["keys"])
    if found := _UNNAMED_KEYS.match(sentence):
        return _part(found["pointer"]), []
    if found := _UNKNOWN_QUERY.match(sentence):
        return "query", [found["key"]]
    return None


def _part(pointer: str) -> str:
    head = pointer.strip("/").split("/")[0]
    return head if head in ("settings", "nodes") else "body"
