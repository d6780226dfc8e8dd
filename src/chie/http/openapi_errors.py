"""The error responses of routes, for the OpenAPI document."""

from typing import Any

_ERROR = {
    "type": "object",
    "properties": {
        "detail": {"type": "string", "description": "The English text."},
        "code": {"type": "string", "description": "The stable code, such as `knowledge.note_not_found`."},
        "params": {"type": "object", "description": "The values in the text, by name."},
    },
    "required": ["detail"],
}

_DESCRIPTIONS = {
    400: "A parameter is missing or wrong.",
    401: "The token is missing or not valid.",
    403: "You are not allowed to do this, or not from this origin.",
    404: "Not found.",
    409: "Conflicts with the current state.",
    413: "The body is too large.",
    429: "Too many requests, or a limit is reached. `Retry-After` has the seconds to wait.",
    500: "Chie, a model or a tool failed.",
}


def errors(*statuses: int) -> dict[int | str, dict[str, Any]]:
    """The `responses` of a route. Errors are JSON, whatever media type the route itself returns."""
    content = {"application/json": {"schema": _ERROR}}
    return {status: {"description": _DESCRIPTIONS[status], "content": content} for status in (400, *statuses, 500)}
