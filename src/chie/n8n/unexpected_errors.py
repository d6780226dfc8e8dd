"""The error for an exception that is a bug: its type and text, because an assistant cannot read the log."""

from collections.abc import Iterator, Mapping
from typing import Any

from pydantic import ValidationError as PydanticError

from chie.errors import ServiceError
from chie.logging import redact, request_id

MAX_TEXT = 500
MAX_SCANNED = 10_000
MIN_HIDDEN = 3  # shorter arguments occur in every text


def unexpected(tool: str, error: Exception, arguments: Mapping[str, Any]) -> ServiceError:
    """One line without secrets, without the values of the arguments and without a stack."""
    kind = type(error).__name__
    text = redact(_without(" ".join(_text(error)[:MAX_SCANNED].split()), arguments))
    text = text[:MAX_TEXT] + "…" * (len(text) > MAX_TEXT)
    return ServiceError("n8n.tool_failed", tool=tool, error=f"{kind}: {text}" if text else kind, request=request_id())


def _text(error: Exception) -> str:
    """Pydantic's own text contains the value that was invalid. Empty if the exception cannot be formatted."""
    if isinstance(error, PydanticError):
        issues = error.errors(include_url=False, include_context=False, include_input=False)
        return "; ".join(f"{'.'.join(map(str, issue['loc']))}: {issue['msg']}" for issue in issues)
    try:
        return str(error).partition("Traceback (most recent call last)")[0]
    except Exception:  # noqa: BLE001 - the `__str__` of any library
        return ""


def _without(text: str, arguments: Mapping[str, Any]) -> str:
    values = {" ".join(value.split()) for value in _strings(arguments)}
    for value in sorted((value for value in values if len(value) >= MIN_HIDDEN), key=len, reverse=True):
        for form in (value, repr(value)[1:-1]):
            text = text.replace(form, "***")
    return text


def _strings(value: object) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, Mapping):
        for item in value.values():
            yield from _strings(item)
    elif isinstance(value, list):
        for item in value:
            yield from _strings(item)
