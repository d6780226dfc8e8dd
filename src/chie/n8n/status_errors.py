"""What a status of n8n means. The status comes from HTTP; the body only lends n8n's own sentence."""

import json
import re
from dataclasses import dataclass

from chie.errors import ChieError
from chie.logging import redact
from chie.n8n.errors import (
    ApiError,
    ApiErrorContext,
    NotFoundError,
    NotFoundErrorContext,
    RefusedKeysError,
    named,
)

LONGEST_SENTENCE = 500

_HINTS = {
    400: "Mend what it names, then call again.",
    401: "N8N_API_KEY is not valid there: make a new key in n8n under Settings → n8n API.",
    403: "This key may not do it: it lacks the scope, or this n8n the licence.",
    405: "This version of n8n does not have that function.",
    409: "It stands against the state that n8n has: read it again and decide anew.",
    413: "It is larger than n8n accepts (16 MB unless N8N_PAYLOAD_SIZE_MAX says otherwise).",
    415: "Something between us and n8n took the body away: check the proxy.",
    429: "n8n or a proxy before it wants fewer calls: wait a little, then try again.",
}
_LATER = "n8n or a proxy before it is in trouble: try again, and look at n8n's log if it goes on."

_NAMED_KEYS = re.compile(r"^request/body(?P<where>\S*) Unrecognized key\(s\) in object: (?P<keys>.*)", re.DOTALL)
_UNNAMED_KEYS = re.compile(r"^request/body(?P<where>\S*) must NOT have additional properties")
_UNKNOWN_QUERY = re.compile(r"^Unknown query parameter '(?P<key>\w+)'")
_QUOTED = re.compile(r"'([^']*)'")


@dataclass(frozen=True)
class Call:
    """One request, and what it is for, so that its failure can be told."""

    method: str
    path: str
    operation: str
    resource_type: str | None = None
    resource_id: str | None = None

    @property
    def reads(self) -> bool:
        return self.method == "GET"


def failure(call: Call, status: int, text: str) -> ChieError:
    sentence = _sentence(text)
    if status == 404 and call.resource_type and call.resource_id:
        return _missing(call, sentence)
    context = ApiErrorContext(
        operation=call.operation,
        resource_type=call.resource_type,
        resource_id=call.resource_id,
        status_code=status,
        error_details=sentence,
    )
    told = f": {sentence.rstrip('.')}" if sentence else " without a reason"
    message = f"Failed to {call.operation}: n8n answered {status}{told}. {_hint(status)}".strip()
    if refused := _refused(sentence):
        where, keys = refused
        return RefusedKeysError(message, context, where=where, keys=keys)
    return ApiError(message, status, context)


def not_the_api(call: Call, status: int) -> ApiError:
    """The editor answers every path it does not know with its own page, and with status 200."""
    context = ApiErrorContext(operation=call.operation, status_code=status, error_details="not JSON")
    return ApiError(
        f"Failed to {call.operation}: the answer was a web page, not n8n's API. Set N8N_URL to n8n's own address, "
        "without the path of a page; and look whether a login page of a proxy is in between.",
        status,
        context,
    )


def _missing(call: Call, sentence: str | None) -> NotFoundError:
    kind, identifier = str(call.resource_type), str(call.resource_id)
    where = {"Workflow": "list_workflows", "Execution": "list_executions"}.get(kind)
    next_step = f" {where} shows the ids that exist and that this key may see." if where else ""
    said = f" n8n says: {sentence.rstrip('.')}." if sentence and sentence.lower() != "not found" else ""
    return NotFoundError(
        f"{named(kind, identifier)} not found.{said}{next_step}",
        NotFoundErrorContext(operation=call.operation, resource_type=kind, resource_id=identifier),
    )


def _hint(status: int) -> str:
    if status >= 500:
        return _LATER
    if 300 <= status < 400:
        return "It sent us elsewhere: set N8N_URL to the final address, https and host included."
    return _HINTS.get(status, "")


def _sentence(text: str) -> str | None:
    """n8n's message, on one line; a web page has none."""
    try:
        body = json.loads(text)
    except ValueError:
        return None
    message = body.get("message") if isinstance(body, dict) else None
    if not isinstance(message, str) or not message.strip():
        return None
    line = redact(" ".join(message.split()))
    return line if len(line) <= LONGEST_SENTENCE else f"{line[:LONGEST_SENTENCE]}…"


def _refused(sentence: str | None) -> tuple[str, list[str]] | None:
    """n8n has no code for it, so this is the one place that reads its words."""
    if sentence is None:
        return None
    if found := _NAMED_KEYS.match(sentence):
        return _part(found["where"]), _QUOTED.findall(found["keys"])
    if found := _UNNAMED_KEYS.match(sentence):
        return _part(found["where"]), []
    if found := _UNKNOWN_QUERY.match(sentence):
        return "query", [found["key"]]
    return None


def _part(pointer: str) -> str:
    head = pointer.strip("/").split("/")[0]
    return head if head in ("settings", "nodes") else "body"
