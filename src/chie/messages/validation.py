"""Messages for Pydantic's validation errors, shared by the MCP and the HTTP edge.

They name fields and limits of the schema, never the value that was sent.
"""

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

from chie.errors import ValidationError
from chie.messages.catalogue import Message

if TYPE_CHECKING:
    from pydantic import ValidationError as PydanticError
    from pydantic_core import ErrorDetails

_TYPES = {
    "string": "argument.not_string",
    "int": "argument.not_integer",
    "float": "argument.not_number",
    "bool": "argument.not_boolean",
    "list": "argument.not_list",
    "dict": "argument.not_object",
    "model": "argument.not_object",
    "dataclass": "argument.not_object",
}
# Pydantic's type of error: our code, its parameter, and the key of Pydantic's context that has its value.
_LIMITS = {
    "greater_than_equal": ("argument.too_small", "limit", "ge"),
    "greater_than": ("argument.not_greater", "limit", "gt"),
    "less_than_equal": ("argument.too_large", "limit", "le"),
    "less_than": ("argument.not_less", "limit", "lt"),
    "string_too_short": ("argument.too_short", "limit", "min_length"),
    "too_short": ("argument.too_short", "limit", "min_length"),
    "string_too_long": ("argument.too_long", "limit", "max_length"),
    "too_long": ("argument.too_long", "limit", "max_length"),
    "string_pattern_mismatch": ("argument.wrong_form", "pattern", "pattern"),
    "literal_error": ("argument.not_one_of", "expected", "expected"),
    "enum": ("argument.not_one_of", "expected", "expected"),
}
_UNION_BRANCHES = frozenset({*_TYPES, "str"})


def invalid_arguments(error: "PydanticError") -> ValidationError:
    problems = distinct(map(describe, argument_errors(error)))
    return ValidationError(problems[0] if len(problems) == 1 else Message("argument.several", problems=problems))


def argument_errors(error: "PydanticError") -> "list[ErrorDetails]":
    return error.errors(include_url=False, include_input=True)


def distinct(messages: Iterable[Message]) -> list[Message]:
    """Without repetitions, which unions cause, in order."""
    return list({str(message): message for message in messages}.values())


def describe(detail: "ErrorDetails") -> Message:
    kind, name = detail["type"], _field(detail["loc"])
    if kind.startswith(("unexpected", "extra_forbidden")):
        return Message("argument.unknown")
    if kind.startswith("missing") or (detail["input"] is None and len(detail["loc"]) == 1):
        return Message("argument.required", name=name)
    if kind == "string_unicode":
        return Message("argument.lone_surrogate", name=name)
    if kind in _LIMITS:
        return _limit(kind, name, detail.get("ctx", {}))
    return Message(_TYPES.get(kind.split("_", maxsplit=1)[0], "argument.wrong_type"), name=name)


def _limit(kind: str, name: str | Message, context: dict[str, Any]) -> Message:
    code, param, key = _LIMITS[kind]
    value = context[key]
    return Message(code, name=name, **{param: value if isinstance(value, int | float) else str(value)})


def _field(location: tuple[int | str, ...]) -> str | Message:
    """`tags.0` becomes `tags[0]`; the branches of a union, which the caller never wrote, are left out."""
    if not location:
        return Message("argument.unnamed")
    head, *rest = location
    return str(head) + "".join(f"[{part}]" if isinstance(part, int) else f".{part}" for part in rest if _is_named(part))


def _is_named(part: int | str) -> bool:
    return isinstance(part, int) or (part.isidentifier() and part[0].islower() and part not in _UNION_BRANCHES)
