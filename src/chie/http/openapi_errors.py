"""For OpenAPI: how every HTTP edge of the house says that something failed."""

from typing import Any

_DETAIL = {"type": "object", "properties": {"detail": {"type": "string"}}, "required": ["detail"]}

_MEANING = {
    400: "A parameter is missing or wrong.",
    401: "Who are you? A token is missing, or opens nothing.",
    403: "You may not do this, or not from there.",
    404: "No such thing.",
    409: "Not now: the state of things forbids it.",
    413: "The body is too large.",
    429: "Too often. Retry-After says how long to wait.",
    500: "Chie, a model or a tool failed.",
}


def errors(*statuses: int) -> dict[int | str, dict[str, Any]]:
    """Which errors a route answers with. They are JSON, whatever the route's own answer is."""
    content = {"application/json": {"schema": _DETAIL}}
    return {status: {"description": _MEANING[status], "content": content} for status in (400, *statuses, 500)}
