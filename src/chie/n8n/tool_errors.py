"""The errors of a tool call itself: arguments that do not match the schema, and exceptions that are bugs."""

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any, get_args

from pydantic import ValidationError as PydanticError

from chie.errors import ServiceError
from chie.logging import redact, request_id
from chie.messages.catalogue import Message
from chie.messages.validation import argument_errors, describe, distinct
from chie.n8n.arguments import Arguments, RequiredText
from chie.n8n.errors import ValidationError, ValidationErrorContext

if TYPE_CHECKING:
    from pydantic.fields import FieldInfo
    from pydantic_core import ErrorDetails

MAX_TEXT = 500
MAX_SCANNED = 10_000
MIN_HIDDEN = 3  # shorter arguments occur in every text
REQUIRED = "argument.required"
_EXPECTED = {
    "argument.not_boolean": "boolean",
    "argument.not_integer": "integer",
    "argument.not_list": "array",
    "argument.not_number": "number",
    "argument.not_object": "object",
    "argument.not_string": "string",
}
_RECEIVED = ((bool, "boolean"), (int, "integer"), (float, "number"), (str, "string"), (list, "array"), (dict, "object"))


def invalid(error: PydanticError, arguments: type[Arguments]) -> ValidationError:
    """The text names every problem, the context the first one."""
    details = argument_errors(error)
    problems = distinct(_described(detail, arguments) for detail in details)
    reason = problems[0] if len(problems) == 1 else Message("argument.several", problems=problems)
    return ValidationError(reason, _context(details[0]))


def _described(detail: "ErrorDetails", arguments: type[Arguments]) -> Message:
    message = describe(detail)
    if message.code != REQUIRED or len(detail["loc"]) != 1:
        return message
    own = _required_text(arguments, str(detail["loc"][0]))
    return Message(own) if own else message


def _required_text(arguments: type[Arguments], name: str) -> str | None:
    for key, field in arguments.model_fields.items():
        if name in (key, field.alias):
            return next((mark.code for mark in _marks(field) if isinstance(mark, RequiredText)), None)
    return None


def _marks(field: "FieldInfo") -> Iterator[Any]:
    """The annotations of the field's type, also of a type that may be omitted."""
    yield from field.metadata
    for part in get_args(field.annotation):
        yield from getattr(part, "__metadata__", ())


def _context(detail: "ErrorDetails") -> ValidationErrorContext:
    """The types are those of JSON Schema; never the value."""
    message = describe(detail)
    expected = _EXPECTED.get(message.code)
    return ValidationErrorContext(
        field=str(message.params.get("name", "arguments")),
        expected_type=expected,
        received_type=_received(detail["input"]) if expected else None,
        constraint=message.code.removeprefix("argument."),
    )


def _received(value: object) -> str:
    return next((name for kind, name in _RECEIVED if isinstance(value, kind)), "null")


def unexpected(tool: str, error: Exception, arguments: Mapping[str, Any]) -> ServiceError:
    """Its type and text, because an assistant cannot read the log; without secrets, values of arguments and stack."""
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
