"""The types that tools' arguments are made of. Clients that send objects as JSON text are understood."""

import json
from typing import Annotated, Any

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, WithJsonSchema
from pydantic.alias_generators import to_camel
from pydantic.json_schema import GenerateJsonSchema
from pydantic_core import PydanticCustomError


class Arguments(BaseModel):
    """Names on the wire are n8n's own, in camelCase; an unknown one is refused rather than passed over."""

    model_config = ConfigDict(
        alias_generator=to_camel, populate_by_name=True, extra="forbid", coerce_numbers_to_str=True
    )


class Untitled(GenerateJsonSchema):
    """Titles only repeat the names, and every client reads all schemas at every start."""

    def field_title_should_be_set(self, schema: Any) -> bool:  # noqa: ANN401, ARG002
        return False


class RawArguments(Arguments):
    raw: bool = Field(default=False, description="true: everything that n8n has, instead of the summary.")


def parse_json(value: object) -> object:
    """Some clients write arrays and objects as strings; what is not JSON goes on as it is, and is refused."""
    if not isinstance(value, str):
        return value
    try:
        return json.loads(value)
    except ValueError:
        return value


def _not_blank(value: object) -> object:
    if isinstance(value, str) and not value.strip():
        raise PydanticCustomError("missing", "blank")
    return value


def _identifier(value: object) -> object:
    value = _not_blank(value)
    return value.strip() if isinstance(value, str) else value


def _tags(value: object) -> object:
    """Names, or n8n's own objects as `get_workflow` with raw shows them, or one line with commas."""
    value = parse_json(value)
    if isinstance(value, str):
        value = [part.strip() for part in value.split(",") if part.strip()]
    if isinstance(value, list):
        return [tag.get("name", tag) if isinstance(tag, dict) else tag for tag in value]
    return value


_NODE_SCHEMA: dict[str, Any] = {
    "type": "object",
    "properties": {
        "id": {"type": "string", "description": "Kept from the stored node; made for a new one."},
        "name": {"type": "string", "description": "Unique; connections refer to it."},
        "type": {"type": "string", "description": "Such as n8n-nodes-base.httpRequest."},
        "typeVersion": {"type": "number"},
        "position": {"type": "array", "items": {"type": "number"}, "description": "[x, y]"},
        "parameters": {"type": "object"},
        "credentials": {"type": "object", "description": '{"typeName": {"id": "…", "name": "…"}}'},
    },
    "required": ["name"],
    "additionalProperties": True,
}
_CONNECTIONS_SCHEMA: dict[str, Any] = {
    "type": "object",
    "description": 'By node name: {"A": {"main": [[{"node": "B", "type": "main", "index": 0}]]}}. '
    "One inner list for each output; null for an output without connections.",
}

_WORKFLOW_ID = "A workflow's id, as list_workflows shows it."
_EXECUTION_ID = "An execution's id, as list_executions shows it."

WorkflowId = Annotated[
    str, Field(description=_WORKFLOW_ID, pattern=r"^[A-Za-z0-9_-]{1,64}$"), BeforeValidator(_identifier)
]
ExecutionId = Annotated[str, Field(description=_EXECUTION_ID, pattern=r"^[0-9]{1,20}$"), BeforeValidator(_identifier)]
WorkflowName = Annotated[str, Field(min_length=1, max_length=128), BeforeValidator(_not_blank)]
NodeName = Annotated[str, Field(description="A node's name or id."), BeforeValidator(_not_blank)]
Nodes = Annotated[
    list[dict[str, Any]], BeforeValidator(parse_json), WithJsonSchema({"type": "array", "items": _NODE_SCHEMA})
]
Connections = Annotated[dict[str, Any], BeforeValidator(parse_json), WithJsonSchema(_CONNECTIONS_SCHEMA)]
Settings = Annotated[
    dict[str, Any],
    BeforeValidator(parse_json),
    WithJsonSchema({"type": "object", "description": 'Such as {"timezone": "Asia/Tokyo", "errorWorkflow": "…"}.'}),
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
    WithJsonSchema({"type": "array", "items": {"type": "string"}, "description": "Names of tags."}),
]
Limit = Annotated[int, Field(ge=1, le=250, description="How many at the most.")]
PageCursor = Annotated[str, Field(description="nextCursor of the page before; its filters come with it.")]
FilePath = Annotated[
    str,
    BeforeValidator(_not_blank),
    Field(
        description="A JSON file, in one of the folders that the operator allows; relative to where the server runs."
    ),
]
VersionId = Annotated[
    str,
    Field(description="What get_workflow showed. The change is refused if somebody changed the workflow since."),
]
