"""The filter language of Vector Search 2.0 as documented; an invalid filter is rejected."""

from collections.abc import Callable, Mapping
from typing import Any

Data = Mapping[str, Any]

MAX_DEPTH = 2  # levels of $and and $or

SCALARS = (str, float, bool)
ORDERED: dict[str, Callable[[float, float], bool]] = {
    "$gt": lambda had, asked: had > asked,
    "$gte": lambda had, asked: had >= asked,
    "$lt": lambda had, asked: had < asked,
    "$lte": lambda had, asked: had <= asked,
}


class BadFilterError(Exception):
    pass


def matcher(filter_: Data, schema: Mapping[str, Any]) -> Callable[[Data], bool]:
    if not filter_:
        return lambda _: True
    return _condition(filter_, schema, 0)


def _condition(filter_: Data, schema: Mapping[str, Any], depth: int) -> Callable[[Data], bool]:
    if len(filter_) != 1:
        raise BadFilterError("a condition has exactly one field or operator")
    ((name, value),) = filter_.items()
    if name in ("$and", "$or"):
        if depth >= MAX_DEPTH:
            raise BadFilterError("filter expressions cannot be nested deeper than two levels")
        parts = [_condition(part, schema, depth + 1) for part in value]
        join = all if name == "$and" else any
        return lambda data: join(part(data) for part in parts)
    if name.startswith("$") or name not in schema:
        raise BadFilterError(f"unknown field {name}")
    if not isinstance(value, Mapping) or len(value) != 1:
        raise BadFilterError(f"{name} needs exactly one operator")
    ((operator, asked),) = value.items()
    return _comparison(name, operator, asked, schema[name])


def _comparison(name: str, operator: str, asked: Any, declared: Data) -> Callable[[Data], bool]:
    if operator in ("$eq", "$ne"):
        _expect(isinstance(asked, SCALARS) and declared["type"] != "array", name, operator)
        return lambda data: name in data and (data[name] == asked) is (operator == "$eq")
    if operator in ORDERED:
        _expect(isinstance(asked, float) and declared["type"] == "number", name, operator)
        return lambda data: name in data and ORDERED[operator](data[name], asked)
    if operator in ("$in", "$nin"):
        texts = isinstance(asked, list) and all(isinstance(one, str) for one in asked)
        _expect(texts and declared["type"] == "string", name, operator)
        return lambda data: name in data and (data[name] in asked) is (operator == "$in")
    if operator == "$all":
        _expect(isinstance(asked, list) and declared["type"] == "array", name, operator)
        return lambda data: set(asked) <= set(data.get(name, []))
    raise BadFilterError(f"unknown operator {operator}")


def _expect(fits: bool, name: str, operator: str) -> None:
    if not fits:
        raise BadFilterError(f"{operator} does not fit {name}")
