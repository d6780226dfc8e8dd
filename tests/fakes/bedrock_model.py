"""Validates a request against the SDK's own model of the API.

Before sending, the SDK checks names, types, unions and minimums; the service also checks maximums, patterns and enums.
This module checks all of them.
"""

import re
from collections.abc import Callable, Iterator
from functools import cache
from typing import Any

import botocore.session
from botocore.model import OperationModel, Shape
from botocore.validate import ParamValidator


def request_errors(operation: str, params: dict[str, Any]) -> list[str]:
    shape: Any = _operation(operation).input_shape
    sdk = ParamValidator().validate(params, shape)
    return [sdk.generate_report()] if sdk.has_errors() else list(_errors(shape, params, operation))


@cache
def _operation(name: str) -> OperationModel:
    return botocore.session.get_session().get_service_model("bedrock-agent-runtime").operation_model(name)


def _errors(shape: Any, value: Any, path: str) -> Iterator[str]:
    yield from _LEAF.get(shape.type_name, _nothing)(shape, value, path)
    if shape.type_name == "structure" and not shape.is_document_type:
        for name, member in value.items():
            yield from _errors(shape.members[name], member, f"{path}.{name}")
    elif shape.type_name == "list":
        for index, member in enumerate(value):
            yield from _errors(shape.member, member, f"{path}[{index}]")


def _string(shape: Shape, value: str, path: str) -> Iterator[str]:
    rules = shape.metadata
    if len(value) > rules.get("max", len(value)):
        yield f"{path}: longer than {rules['max']}"
    if rules.get("enum") and value not in rules["enum"]:
        yield f"{path}: not in the enum"
    if "pattern" in rules and r"\P" not in rules["pattern"] and not re.search(rules["pattern"], value):
        yield f"{path}: does not match {rules['pattern']}"


def _number(shape: Shape, value: float, path: str) -> Iterator[str]:
    if value > shape.metadata.get("max", value):
        yield f"{path}: more than {shape.metadata['max']}"


def _list(shape: Shape, value: list[Any], path: str) -> Iterator[str]:
    if len(value) > shape.metadata.get("max", len(value)):
        yield f"{path}: longer than {shape.metadata['max']}"


def _nothing(_shape: Shape, _value: object, _path: str) -> Iterator[str]:
    return iter(())


_LEAF: dict[str, Callable[[Any, Any, str], Iterator[str]]] = {
    "string": _string,
    "integer": _number,
    "list": _list,
}
