"""Errors for arguments that do not match a tool's schema. The text names every problem, the context the first one."""

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any, get_args

from pydantic import ValidationError as PydanticError

from chie.messages.catalogue import Message
from chie.messages.validation import argument_errors, describe, distinct
from chie.n8n.arguments import Arguments, RequiredText
from chie.n8n.errors import ValidationError, ValidationErrorContext

if TYPE_CHECKING:
    from pydantic.fields import FieldInfo
    from pydantic_core import ErrorDetails

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
