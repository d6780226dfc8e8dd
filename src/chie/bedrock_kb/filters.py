"""Validation of metadata filters before they are sent."""

from collections.abc import Iterator
from typing import Any

from chie.bedrock_kb.errors import ValidationError

Filter = dict[str, Any]

GROUPS = ("andAll", "orAll")
LISTS = ("in", "notIn")
COMPARISONS = (
    "equals",
    "notEquals",
    "greaterThan",
    "greaterThanOrEquals",
    "lessThan",
    "lessThanOrEquals",
    "startsWith",
    "stringContains",
    "listContains",
)
OPERATORS = (*COMPARISONS, *LISTS, *GROUPS)

MAX_KEY_LENGTH = 100
MAX_FILTER_DEPTH = 10


def check_filter(where: Filter, depth: int = 1) -> None:
    """Raise a ValidationError that names the wrong operator, but no key and no value."""
    if depth > MAX_FILTER_DEPTH:
        raise ValidationError("bedrock_kb.filter_too_deep", limit=MAX_FILTER_DEPTH)
    if len(where) != 1 or next(iter(where)) not in OPERATORS:
        raise ValidationError("bedrock_kb.filter_operator_invalid", operators=OPERATORS)
    [(operator, operand)] = where.items()
    if operator in GROUPS:
        _check_group(operator, operand, depth)
    else:
        _check_comparison(operator, operand)


def _check_group(operator: str, members: object, depth: int) -> None:
    if not isinstance(members, list) or len(members) < 2 or not all(isinstance(member, dict) for member in members):
        raise ValidationError("bedrock_kb.filter_group_invalid", operator=operator)
    for member in members:
        check_filter(member, depth + 1)


def _check_comparison(operator: str, operand: object) -> None:
    if not isinstance(operand, dict) or set(operand) != {"key", "value"}:
        raise ValidationError("bedrock_kb.filter_operand_invalid", operator=operator)
    key, value = operand["key"], operand["value"]
    if not isinstance(key, str) or not 1 <= len(key) <= MAX_KEY_LENGTH:
        raise ValidationError("bedrock_kb.filter_key_invalid", operator=operator, limit=MAX_KEY_LENGTH)
    if operator in LISTS and not (isinstance(value, list) and value):
        raise ValidationError("bedrock_kb.filter_value_not_list", operator=operator)
    if operator not in LISTS and not isinstance(value, str | int | float):
        raise ValidationError("bedrock_kb.filter_value_invalid", operator=operator)


def strings_in(value: object) -> Iterator[str]:
    """Every string value of a checked filter, keys of metadata included."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict):
        for member in value.values():
            yield from strings_in(member)
    elif isinstance(value, list):
        for member in value:
            yield from strings_in(member)
