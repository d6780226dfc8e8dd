"""A few operations on a workflow, all or none: what they do not name stays as it is."""

from collections.abc import Iterator, Sequence
from copy import deepcopy
from typing import Annotated, Any, Literal

from pydantic import Field, TypeAdapter
from pydantic import ValidationError as PydanticError

from chie.messages.validation import argument_errors, describe
from chie.n8n import json_path as paths
from chie.n8n.arguments import Arguments, JsonObject, NodeName, parse_json
from chie.n8n.budget import is_cut
from chie.n8n.errors import ValidationError, ValidationErrorContext
from chie.n8n.merge import completed
from chie.n8n.models import WRITABLE, Json, Node, Workflow
from chie.n8n.rename import rename
from chie.n8n.structure import named, shape_faults

SETTABLE = tuple(key for key in WRITABLE if key != "nodes")
OBJECTS = ("settings", "pinData")
Port = Annotated[int, Field(ge=0, le=1000)]


class AddNode(Arguments):
    op: Literal["addNode"]
    node: JsonObject

    def apply(self, workflow: Workflow) -> None:
        _refuse_cut(self.node)
        name = self.node.get("name")
        if not isinstance(name, str) or not name.strip():
            raise _refused("node.name must be a text, by which connections and later operations find it")
        workflow["nodes"].append(completed(deepcopy(self.node)))


class RemoveNode(Arguments):
    op: Literal["removeNode"]
    name: NodeName

    def apply(self, workflow: Workflow) -> None:
        node = find(workflow, self.name)
        workflow["nodes"].remove(node)
        workflow["connections"] = _cut_loose(workflow["connections"], node["name"])
        if node["name"] in (workflow.get("pinData") or {}):
            del workflow["pinData"][node["name"]]


class UpdateNode(Arguments):
    op: Literal["updateNode"]
    name: NodeName
    changes: JsonObject = Field(description="Merged into the node, objects within objects; null takes a key away.")

    def apply(self, workflow: Workflow) -> None:
        node = find(workflow, self.name)
        if self.changes.get("name", node["name"]) != node["name"]:
            raise _refused("updateNode does not rename: use renameNode, so that connections and expressions follow")
        _refuse_cut(paths.merge_patch({}, self.changes))  # a null may take away what was cut
        patched = paths.merge_patch(node, self.changes)
        node.clear()
        node.update(patched)


class RenameNode(Arguments):
    op: Literal["renameNode"]
    name: NodeName
    new_name: NodeName

    def apply(self, workflow: Workflow) -> None:
        node = find(workflow, self.name)
        if self.new_name != node["name"] and any(other["name"] == self.new_name for other in workflow["nodes"]):
            raise _refused(f"a node has the name {named(self.new_name)} already")
        rename(workflow, node["name"], self.new_name)


class _Connection(Arguments):
    source: NodeName = Field(alias="from")
    target: NodeName = Field(alias="to")
    type: str = Field(default="main", description="main, or ai_tool, ai_languageModel and so on.")
    output: Port = Field(default=0, description="Which output of `from`, such as 1 for an If node's false.")
    input: Port = Field(default=0, description="Which input of `to`.")

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
            raise _refused("there is no such connection; get_workflow_connections shows those that exist")
        slots[self.output] = [other for other in slot if other != end]


class SetField(Arguments):
    op: Literal["setField"]
    path: str = Field(description="parameters.url, settings.timezone, parameters.rules[0].value, or /a/b as a pointer.")
    value: Any = Field(description="What to put there, null included.")
    node: NodeName | None = Field(default=None, description="The node that the path is in; without it, the workflow.")

    def apply(self, workflow: Workflow) -> None:
        _refuse_cut(self.value)
        steps = paths.parse(self.path)
        if self.node is None and steps[0] not in SETTABLE:
            raise _refused(f"path must begin with one of {', '.join(SETTABLE)}; for a field of a node, name it in node")
        if self.node is not None and steps == ["name"]:
            raise _refused("setField does not rename a node: use renameNode")
        paths.put(workflow if self.node is None else find(workflow, self.node), steps, deepcopy(self.value))
        if self.node is None and (faults := list(_field_faults(str(steps[0]), workflow))):
            raise _refused("; ".join(faults))


OPERATIONS = ("addNode", "removeNode", "updateNode", "renameNode", "connect", "disconnect", "setField")
Operation = Annotated[
    AddNode | RemoveNode | UpdateNode | RenameNode | Connect | Disconnect | SetField, Field(discriminator="op")
]


_OPERATION: TypeAdapter[Operation] = TypeAdapter(Operation)


def read_operations(value: object) -> object:
    """From what the caller sent, JSON text included; a fault is told with the operation's number."""
    value = parse_json(value)
    return [_read(number, parse_json(item)) for number, item in enumerate(value)] if isinstance(value, list) else value


def _read(number: int, item: object) -> Operation:
    try:
        return _OPERATION.validate_python(item)
    except PydanticError as error:
        kinds = {detail["type"] for detail in argument_errors(error)}
        if kinds & {"union_tag_invalid", "union_tag_not_found", "model_attributes_type"}:
            raise _refused(f"operations[{number}].op must be one of {', '.join(OPERATIONS)}") from error
        faults = [str(describe({**detail, "loc": detail["loc"][1:]})) for detail in argument_errors(error)]
        raise _refused(f"operations[{number}]: {'; '.join(dict.fromkeys(faults))}") from error


def apply_all(workflow: Workflow, operations: Sequence[Operation]) -> Workflow:
    """The workflow after the operations; the one given is left alone. The first that cannot be done refuses all."""
    result = deepcopy(workflow)
    for number, operation in enumerate(operations):
        try:
            operation.apply(result)
        except ValidationError as error:
            raise ValidationError(
                f"operations[{number}] ({operation.op}): {error.message} Nothing was changed.", error.context
            ) from error
    return result


def find(workflow: Workflow, name: str) -> Node:
    """By name first, then by id."""
    nodes: list[Node] = workflow["nodes"]
    for key in ("name", "id"):
        for node in nodes:
            if node.get(key) == name:
                return node
    raise _refused(
        f"no node has this name or id; the names are {', '.join(named(node['name']) for node in nodes[:60])}"
    )


def _field_faults(key: str, workflow: Workflow) -> Iterator[str]:
    """Of the workflow's own fields, as the operations after this one build on them."""
    if key == "connections":
        yield from shape_faults(workflow[key])
    elif key == "name" and not isinstance(workflow[key], str):
        yield "name must be a text"
    elif key in OBJECTS and not isinstance(workflow[key], dict | None):
        yield f"{key} must be an object, or null"


def _cut_loose(connections: Json, name: str) -> Json:
    def kept(slots: Any) -> Any:  # noqa: ANN401
        return slots and [slot and [end for end in slot if not end or end.get("node") != name] for slot in slots]

    return {
        source: {kind: kept(slots) for kind, slots in (kinds or {}).items()}
        for source, kinds in connections.items()
        if source != name
    }


def _refuse_cut(value: object) -> None:
    if is_cut(value):
        raise _refused(
            "it holds a part that an answer had cut short; read it whole with get_workflow and nodeName, "
            "or name only what shall change"
        )


def _refused(reason: str) -> ValidationError:
    return ValidationError(f"{reason}.", ValidationErrorContext(field="operations"))
