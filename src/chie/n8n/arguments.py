"""The types of the tools' arguments. Objects and arrays may also be sent as JSON text."""

import json
from dataclasses import dataclass
from typing import Annotated, Any

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, WithJsonSchema
from pydantic.alias_generators import to_camel
from pydantic.json_schema import GenerateJsonSchema
from pydantic_core import PydanticCustomError

from chie.mcp_kit.schemas import without_null

OMITTED_KEYS = frozenset({"pattern", "minLength", "maxLength", "additionalProperties", "exclusiveMinimum"})


class Arguments(BaseModel):
    """Names on the wire are in camelCase, as in n8n's API; unknown ones are rejected."""

    model_config = ConfigDict(
        alias_generator=to_camel, populate_by_name=True, extra="forbid", coerce_numbers_to_str=True
    )


@dataclass(frozen=True)
class RequiredText:
    """Marks a type of argument that has a message of its own for a missing value."""

    code: str


class Untitled(GenerateJsonSchema):
    """Omits titles, which only repeat the names: every client loads all schemas at every start."""

    def field_title_should_be_set(self, schema: Any) -> bool:  # noqa: ANN401, ARG002
        return False


def compact(schema: Any) -> Any:  # noqa: ANN401
    """The schema without what only this server needs: nulls of optional arguments, patterns and lengths.

    Every client loads all schemas at every start, and the server validates all of it anyway.
    """
    match schema:
        case list():
            return [compact(part) for part in schema]
        case dict():
            return _compact_object(schema)
    return schema


def _compact_object(schema: dict[str, Any]) -> dict[str, Any]:
    return {key: compact(value) for key, value in without_null(schema).items() if not _is_omitted(key, value)}


def _is_omitted(key: str, value: object) -> bool:
    """Properties of these names are objects."""
    return (key in OMITTED_KEYS and isinstance(value, str | int)) or (key in ("default", "description") and not value)


class RawArguments(Arguments):
    raw: bool = False


def parse_json(value: object) -> object:
    """Some clients send arrays and objects as JSON text. Other strings are returned unchanged, to fail validation."""
    if not isinstance(value, str):
        return value
    try:
        return json.loads(value)
    except (ValueError, RecursionError):
        return value


def _not_blank(value: object) -> object:
    if isinstance(value, str) and not value.strip():
        raise PydanticCustomError("missing", "blank")
    return value


def _identifier(value: object) -> object:
    value = _not_blank(value)
    return value.strip() if isinstance(value, str) else value


def _tags(value: object) -> object:
    """Accepts names, n8n's tag objects as `get_workflow` with raw returns them, or a comma-separated string."""
    value = parse_json(value)
    if isinstance(value, str):
        value = [part.strip() for part in value.split(",") if part.strip()]
    if isinstance(value, list):
        return [tag.get("name", tag) if isinstance(tag, dict) else tag for tag in value]
    return value


_NODES = (
    "n8n's nodes: name (unique), type (e.g. n8n-nodes-base.httpRequest), typeVersion, position [x, y], parameters, "
    'credentials {"typeName": {"id", "name"}}; the id of a stored one is kept.'
)
_CONNECTIONS = (
    'By node name: {"A": {"main": [[{"node": "B", "type": "main", "index": 0}]]}}. One inner list per output; '
    "null for an output without connections."
)


WorkflowId = Annotated[
    str,
    Field(pattern=r"^[A-Za-z0-9_-]{1,64}$"),
    BeforeValidator(_identifier),
    RequiredText("n8n.workflow_id_required"),
]
ExecutionId = Annotated[
    str,
    Field(pattern=r"^[0-9]{1,20}$"),
    BeforeValidator(_identifier),
    RequiredText("n8n.execution_id_required"),
]
WorkflowName = Annotated[str, Field(min_length=1, max_length=128), BeforeValidator(_not_blank)]
NodeName = Annotated[str, BeforeValidator(_not_blank)]
Nodes = Annotated[
    list[dict[str, Any]],
    BeforeValidator(parse_json),
    WithJsonSchema({"type": "array", "items": {"type": "object"}, "description": _NODES}),
]
Connections = Annotated[
    dict[str, Any], BeforeValidator(parse_json), WithJsonSchema({"type": "object", "description": _CONNECTIONS})
]
Settings = Annotated[
    dict[str, Any],
    BeforeValidator(parse_json),
    WithJsonSchema({"type": "object", "description": 'E.g. {"timezone": "Asia/Tokyo"}.'}),
]
JsonObject = Annotated[dict[str, Any], BeforeValidator(parse_json), WithJsonSchema({"type": "object"})]
JsonObjects = Annotated[
    list[dict[str, Any]],
    BeforeValidator(parse_json),
    WithJsonSchema({"type": "array", "items": {"type": "object"}}),
]
Tags = Annotated[
    list[str],
    BeforeValidator(_tags),
    WithJsonSchema({"type": "array", "items": {"type": "string"}}),
]
Limit = Annotated[int, Field(ge=1, le=250)]
PageCursor = str
FilePath = Annotated[
    str,
    BeforeValidator(_not_blank),
    Field(description="JSON file in an allowed folder."),
]
VersionId = Annotated[
    str,
    Field(description="From get_workflow: rejects the change if the workflow was changed since."),
]
