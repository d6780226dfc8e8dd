"""A metadata filter: the API's union of operators, checked before it is sent."""

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

LONGEST_KEY = 100
DEEPEST = 10


def check_filter(where: Filter, depth: int = 1) -> None:
    """ValidationError tells which operator is wrong; it repeats no key and no value."""
    if depth > DEEPEST:
        raise ValidationError(f"filter is nested too deeply: at most {DEEPEST} levels. Flatten andAll and orAll.")
    if len(where) != 1 or next(iter(where)) not in OPERATORS:
        raise ValidationError(
            f"filter must be an object with exactly one operator: {', '.join(OPERATORS)}. "
            "Join several with andAll or orAll."
        )
    [(operator, operand)] = where.items()
    if operator in GROUPS:
        _check_group(operator, operand, depth)
    else:
        _check_comparison(operator, operand)


def _check_group(operator: str, members: object, depth: int) -> None:
    if not isinstance(members, list) or len(members) < 2 or not all(isinstance(member, dict) for member in members):
        raise ValidationError(f"filter: {operator} takes a list of two filters or more")
    for member in members:
        check_filter(member, depth + 1)


def _check_comparison(operator: str, operand: object) -> None:
    if not isinstance(operand, dict) or set(operand) != {"key", "value"}:
        raise ValidationError(f'filter: {operator} takes an object such as {{"key": "team", "value": …}}')
    key, value = operand["key"], operand["value"]
    if not isinstance(key, str) or not 1 <= len(key) <= LONGEST_KEY:
        raise ValidationError(f"filter: the key of {operator} must be a name of 1 to {LONGEST_KEY} characters")
    if operator in LISTS and not (isinstance(value, list) and value):
        raise ValidationError(f"filter: the value of {operator} must be a list")
    if operator not in LISTS and not isinstance(value, str | int | float):
        raise ValidationError(f"filter: the value of {operator} must be a string, a number, true or false")


def strings_in(value: object) -> Iterator[str]:
    """The texts of a checked filter; operators and the words `key` and `value` are ours, not the caller's."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict):
        for member in value.values():
            yield from strings_in(member)
    elif isinstance(value, list):
        for member in value:
            yield from strings_in(member)
