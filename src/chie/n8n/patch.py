"""The operations of patch_workflow. All are applied or none; everything else stays as it is."""

from collections.abc import Iterator, Sequence
from copy import deepcopy
from typing import Annotated, Any, Literal

from pydantic import Field, TypeAdapter
from pydantic import ValidationError as PydanticError

from chie.messages.catalogue import Message, Param
from chie.messages.validation import argument_errors, describe
from chie.n8n import json_path
from chie.n8n.arguments import Arguments, JsonObject, NodeName, parse_json
from chie.n8n.errors import ValidationError, ValidationErrorContext
from chie.n8n.graph import quoted, quoted_names
from chie.n8n.merge import completed
from chie.n8n.models import WRITABLE, Json, Node, Workflow
from chie.n8n.node_references import rename_node
from chie.n8n.truncation import is_truncated
from chie.n8n.validation import connection_shape_errors

SETTABLE_FIELDS = tuple(key for key in WRITABLE if key != "nodes")
OBJECT_FIELDS = ("settings", "pinData")
Port = Annotated[int, Field(ge=0, le=1000)]


class AddNode(Arguments):
    op: Literal["addNode"]
    node: JsonObject

    def apply(self, workflow: Workflow) -> None:
        _reject_truncated(self.node)
        name = self.node.get("name")
        if not isinstance(name, str) or not name.strip():
            raise _invalid("n8n.node_name_missing")
        workflow["nodes"].append(completed(deepcopy(self.node)))


class RemoveNode(Arguments):
    op: Literal["removeNode"]
    name: NodeName

    def apply(self, workflow: Workflow) -> None:
        node = find(workflow, self.name)
        workflow["nodes"].remove(node)
        workflow["connections"] = _without_node(workflow["connections"], node["name"])
        if node["name"] in (workflow.get("pinData") or {}):
            del workflow["pinData"][node["name"]]


class UpdateNode(Arguments):
    op: Literal["updateNode"]
    name: NodeName
    changes: JsonObject = Field(description="Merged into the node recursively; null removes a key.")

    def apply(self, workflow: Workflow) -> None:
        node = find(workflow, self.name)
        if self.changes.get("name", node["name"]) != node["name"]:
            raise _invalid("n8n.update_cannot_rename")
        _reject_truncated(json_path.merge_patch({}, self.changes))  # null may remove a truncated value
        patched = json_path.merge_patch(node, self.changes)
        node.clear()
        node.update(patched)


class RenameNode(Arguments):
    op: Literal["renameNode"]
    name: NodeName
    new_name: NodeName

    def apply(self, workflow: Workflow) -> None:
        node = find(workflow, self.name)
        if self.new_name != node["name"] and any(other["name"] == self.new_name for other in workflow["nodes"]):
            raise _invalid("n8n.node_name_taken", node=quoted(self.new_name))
        rename_node(workflow, node["name"], self.new_name)


class _Connection(Arguments):
    source: NodeName = Field(alias="from")
    target: NodeName = Field(alias="to")
    type: str = Field(default="main", description="main, ai_tool, ai_languageModel and so on.")
    output: Port = Field(default=0, description="Output index of `from`, e.g. 1 for the false branch of an If node.")
    input: Port = Field(default=0, description="Input index of `to`.")

    def ends(self, workflow: Workflow) -> tuple[str, Json]:
        target = find(workflow, self.target)["name"]
        return find(workflow, self.source)["name"], {"node": target, "type": self.type, "index": self.input}


class Connect(_Connection):
    op: Literal["connect"]

    def apply(self, workflow: Workflow) -> None:
        source, end = self.ends(workflow)
        kinds = workflow["connections"][source] = dict(workflow["connections"].get(source) or {})
        slots = kinds[self.type] = list(kinds.get(self.type) or [])
        slots += [[] for _ in range(self.output + 1 - len(slots))]
        slot = slots[self.output] = list(slots[self.output] or [])
        if end not in slot:
            slot.append(end)


class Disconnect(_Connection):
    op: Literal["disconnect"]

    def apply(self, workflow: Workflow) -> None:
        source, end = self.ends(workflow)
        slots = (workflow["connections"].get(source) or {}).get(self.type) or []
        slot = slots[self.output] if self.output < len(slots) else None
        if not slot or end not in slot:
            raise _invalid("n8n.connection_not_found")
        slots[self.output] = [other for other in slot if other != end]


class SetField(Arguments):
    op: Literal["setField"]
    path: str = Field(
        description="E.g. parameters.url, settings.timezone, parameters.rules[0].value; or a JSON pointer."
    )
    value: Any = Field(description="The new value, which may be null.")
    node: NodeName | None = Field(default=None, description="The node that contains the path; default: the workflow.")

    def apply(self, workflow: Workflow) -> None:
        _reject_truncated(self.value)
        steps = json_path.parse(self.path)
        if self.node is None and steps[0] not in SETTABLE_FIELDS:
            raise _invalid("n8n.path_not_settable", fields=SETTABLE_FIELDS)
        if self.node is not None and steps == ["name"]:
            raise _invalid("n8n.set_field_cannot_rename")
        json_path.put(workflow if self.node is None else find(workflow, self.node), steps, deepcopy(self.value))
        if self.node is None and (errors := list(_field_errors(str(steps[0]), workflow))):
            raise _invalid("n8n.fields_invalid", issues=errors)


OPERATIONS = ("addNode", "removeNode", "updateNode", "renameNode", "connect", "disconnect", "setField")
Operation = Annotated[
    AddNode | RemoveNode | UpdateNode | RenameNode | Connect | Disconnect | SetField, Field(discriminator="op")
]


_OPERATION: TypeAdapter[Operation] = TypeAdapter(Operation)


def read_operations(value: object) -> object:
    """The operations in the argument, which may be JSON text; errors contain the index of the operation."""
    value = parse_json(value)
    return [_read(index, parse_json(item)) for index, item in enumerate(value)] if isinstance(value, list) else value


def _read(index: int, item: object) -> Operation:
    try:
        return _OPERATION.validate_python(item)
    except PydanticError as error:
        kinds = {detail["type"] for detail in argument_errors(error)}
        if kinds & {"union_tag_invalid", "union_tag_not_found", "model_attributes_type"}:
            raise _invalid("n8n.operation_unknown", index=index, operations=OPERATIONS) from error
        issues = [describe({**detail, "loc": detail["loc"][1:]}) for detail in argument_errors(error)]
        raise _invalid("n8n.operation_invalid", index=index, issues=list(dict.fromkeys(issues))) from error


def apply_all(workflow: Workflow, operations: Sequence[Operation]) -> Workflow:
    """A changed copy of the workflow. The first operation that fails raises, and none is applied."""
    result = deepcopy(workflow)
    for index, operation in enumerate(operations):
        try:
            operation.apply(result)
        except ValidationError as error:
            message = Message("n8n.operation_failed", index=index, operation=operation.op, reason=error.reason)
            raise ValidationError(message, error.context) from error
    return result


def find(workflow: Workflow, name: str) -> Node:
    """The node with this name, or else with this id."""
    nodes: list[Node] = workflow["nodes"]
    for key in ("name", "id"):
        for node in nodes:
            if node.get(key) == name:
                return node
    raise _invalid("n8n.node_not_found", nodes=quoted_names(nodes))


def _field_errors(key: str, workflow: Workflow) -> Iterator[Message]:
    """Errors of a field of the workflow, on which later operations depend."""
    if key == "connections":
        yield from connection_shape_errors(workflow[key])
    elif key == "name" and not isinstance(workflow[key], str):
        yield Message("n8n.field_not_string", field=key)
    elif key in OBJECT_FIELDS and not isinstance(workflow[key], dict | None):
        yield Message("n8n.field_not_object_or_null", field=key)


def _without_node(connections: Json, name: str) -> Json:
    def kept(slots: Any) -> Any:  # noqa: ANN401
        return slots and [slot and [end for end in slot if not end or end.get("node") != name] for slot in slots]

    return {
        source: {kind: kept(slots) for kind, slots in (kinds or {}).items()}
        for source, kinds in connections.items()
        if source != name
    }


def _reject_truncated(value: object) -> None:
    if is_truncated(value):
        raise _invalid("n8n.value_truncated")


def _invalid(code: str, **params: Param) -> ValidationError:
    return ValidationError(code, ValidationErrorContext(field="operations"), **params)
