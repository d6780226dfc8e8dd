"""Schemas of tools as clients get them: complete without references, and short, because every model reads them."""

from collections.abc import Mapping
from typing import Any

NULL = {"type": "null"}


def short_arguments(schema: dict[str, Any]) -> dict[str, Any]:
    """Without references, and without the nulls of optional arguments: a null counts as an absent argument anyway."""
    schema = inlined(schema)
    properties = {name: without_null(argument) for name, argument in schema.get("properties", {}).items()}
    return {**schema, "properties": properties}


def without_null(schema: dict[str, Any]) -> dict[str, Any]:
    """`anyOf` of one type and null as that type alone, which is also absent by default."""
    choices = [choice for choice in schema.get("anyOf", ()) if choice != NULL]
    if len(choices) != 1:
        return schema
    rest = {key: value for key, value in schema.items() if key != "anyOf" and (key, value) != ("default", None)}
    return {**choices[0], **rest}


def inlined(schema: dict[str, Any]) -> dict[str, Any]:
    """With each `$ref` replaced by its definition, as some clients need. FastMCP would load requests to do the same."""
    whole: dict[str, Any] = _inline(schema, schema["$defs"]) if "$defs" in schema else schema
    return whole


def _inline(schema: Any, definitions: Mapping[str, Any]) -> Any:  # noqa: ANN401
    """Keywords beside a `$ref` take precedence. A definition must not contain itself."""
    if isinstance(schema, list):
        return [_inline(item, definitions) for item in schema]
    if not isinstance(schema, dict):
        return schema
    own = {key: _inline(value, definitions) for key, value in schema.items() if key not in ("$ref", "$defs")}
    if "$ref" not in schema:
        return own
    return {**_inline(definitions[schema["$ref"].removeprefix("#/$defs/")], definitions), **own}
