"""The types of the tools' arguments. Objects and arrays may also be sent as JSON text."""

import json
from dataclasses import dataclass
from typing import Annotated, Any

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, WithJsonSchema
from pydantic.alias_generators import to_camel
from pydantic.json_schema import GenerateJsonSchema
from pydantic_core import PydanticCustomError


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


class RawArguments(Arguments):
    raw: bool = Field(default=False, description="true: complete data instead of the summary.")


def parse_json(value: object) -> object:
    """Some clients send arrays and objects as JSON text. Other strings are returned unchanged, to fail validation."""
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
    """Accepts names, n8n's tag objects as `get_workflow` with raw returns them, or a comma-separated string."""
    value = parse_json(value)
    if isinstance(value, str):
        value = [part.strip() for part in value.split(",") if part.strip()]
    if isinstance(value, list):
        return [tag.get("name", tag) if isinstance(tag, dict) else tag for tag in value]
    return value


_NODE_SCHEMA: dict[str, Any] = {
    "type": "object",
    "properties": {
        "id": {"type": "string", "description": "Kept for a stored node; generated for a new one."},
        "name": {"type": "string", "description": "Unique; used by connections."},
        "type": {"type": "string", "description": "E.g. n8n-nodes-base.httpRequest."},
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
    "One inner list per output; null for an output without connections.",
}

_WORKFLOW_ID = "Workflow id, from list_workflows."
_EXECUTION_ID = "Execution id, from list_executions."

WorkflowId = Annotated[
    str,
    Field(description=_WORKFLOW_ID, pattern=r"^[A-Za-z0-9_-]{1,64}$"),
    BeforeValidator(_identifier),
    RequiredText("n8n.workflow_id_required"),
]
ExecutionId = Annotated[
    str,
    Field(description=_EXECUTION_ID, pattern=r"^[0-9]{1,20}$"),
    BeforeValidator(_identifier),
    RequiredText("n8n.execution_id_required"),
]
WorkflowName = Annotated[str, Field(min_length=1, max_length=128), BeforeValidator(_not_blank)]
NodeName = Annotated[str, Field(description="A node's name or id."), BeforeValidator(_not_blank)]
Nodes = Annotated[
    list[dict[str, Any]], BeforeValidator(parse_json), WithJsonSchema({"type": "array", "items": _NODE_SCHEMA})
]
Connections = Annotated[dict[str, Any], BeforeValidator(parse_json), WithJsonSchema(_CONNECTIONS_SCHEMA)]
Settings = Annotated[
    dict[str, Any],
    BeforeValidator(parse_json),
    WithJsonSchema({"type": "object", "description": 'E.g. {"timezone": "Asia/Tokyo", "errorWorkflow": "…"}.'}),
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
    WithJsonSchema({"type": "array", "items": {"type": "string"}, "description": "Tag names."}),
]
Limit = Annotated[int, Field(ge=1, le=250, description="Maximum number of rows.")]
PageCursor = Annotated[str, Field(description="nextCursor of the previous page; includes its filters.")]
FilePath = Annotated[
    str,
    BeforeValidator(_not_blank),
    Field(description="Path of a JSON file in an allowed folder; relative to the server's working directory."),
]
VersionId = Annotated[
    str,
    Field(description="versionId from get_workflow. The change is rejected if the workflow was changed since."),
]
