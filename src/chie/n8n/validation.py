"""Validates nodes and connections. An error is certain to break the workflow; a warning may be intended."""

from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from chie.messages.catalogue import Message
from chie.n8n.errors import ValidationError, ValidationErrorContext
from chie.n8n.graph import NOT_EXECUTED, each_connection, is_trigger, quoted
from chie.n8n.models import Json, Node
from chie.n8n.node_references import referenced_nodes
from chie.n8n.truncation import is_truncated

MAX_REPORTED = 10


@dataclass
class Issues:
    """`errors` are of the structure, `parameters` are errors in the parameters of nodes."""

    errors: list[Message] = field(default_factory=list)
    warnings: list[Message] = field(default_factory=list)
    parameters: list[Message] = field(default_factory=list)

    def raise_errors(self) -> None:
        """Raise if there are errors, with all of them in one message."""
        if not self.errors and not self.parameters:
            return
        rest = len(self.errors) - MAX_REPORTED
        field_, constraint = ("nodes, connections", "structure") if self.errors else ("nodes", "parameters")
        raise ValidationError(
            "n8n.workflow_invalid",
            ValidationErrorContext(field=field_, constraint=constraint),
            issues=[*self.errors[:MAX_REPORTED], *self.parameters],
            more=Message("n8n.more_issues", count=rest) if rest > 0 else "",
        )


def validate(nodes: Any, connections: Any) -> Issues:  # noqa: ANN401
    found = Issues()
    found.errors += _node_errors(nodes)
    if found.errors:
        return found
    nodes_by_name = {node["name"]: node for node in nodes}
    found.errors += _connection_errors(connections, nodes_by_name)
    if not found.errors:
        found.warnings += _warnings(nodes, connections)
    return found


def reject_truncated(given: Mapping[str, Any], stored: Mapping[str, Any] | None = None) -> None:
    """Values that are equal to the stored ones are accepted: nothing is lost by storing them."""
    truncated = [key for key, value in given.items() if is_truncated(value) and value != (stored or {}).get(key)]
    if truncated:
        context = ValidationErrorContext(field=", ".join(truncated), constraint="whole")
        raise ValidationError("n8n.arguments_truncated", context, arguments=truncated)


def connection_shape_errors(connections: Any) -> list[Message]:  # noqa: ANN401
    """Errors of the JSON structure; whether the connected nodes exist is not checked."""
    if not isinstance(connections, dict):
        return [Message("n8n.field_not_object", field="connections")]
    return [error for source in connections for error in _source_errors(source, connections[source])]


def _node_errors(nodes: Any) -> list[Message]:  # noqa: ANN401
    if not isinstance(nodes, list) or not all(isinstance(node, dict) for node in nodes):
        return [Message("n8n.nodes_not_list")]
    errors = [error for index, node in enumerate(nodes) for error in _errors_of_node(f"nodes[{index}]", node)]
    for key in ("name", "id"):
        counts = Counter(node[key] for node in nodes if isinstance(node.get(key), str))
        errors += [
            Message("n8n.node_key_duplicated", count=count, key=key, value=quoted(value))
            for value, count in counts.items()
            if count > 1
        ]
    return errors


def _errors_of_node(path: str, node: Node) -> Iterator[Message]:
    for key in ("name", "type"):
        if not isinstance(node.get(key), str) or not node[key].strip():
            yield Message("n8n.field_not_string", field=f"{path}.{key}")
    version = node.get("typeVersion")
    if isinstance(version, bool) or not isinstance(version, int | float | None):
        yield Message("n8n.field_not_number", field=f"{path}.typeVersion")
    if not _is_position(node.get("position")):
        yield Message("n8n.field_not_position", field=f"{path}.position")
    for key in ("parameters", "credentials"):
        if not isinstance(node.get(key, {}), dict):
            yield Message("n8n.field_not_object", field=f"{path}.{key}")
    if is_truncated(node):
        yield Message("n8n.node_truncated", field=path)


def _is_position(position: object) -> bool:
    return (
        isinstance(position, list)
        and len(position) == 2
        and all(isinstance(number, int | float) and not isinstance(number, bool) for number in position)
    )


def _connection_errors(connections: Any, nodes_by_name: dict[str, Node]) -> list[Message]:  # noqa: ANN401
    if errors := connection_shape_errors(connections):
        return errors
    names_by_id = {node["id"]: name for name, node in nodes_by_name.items() if isinstance(node.get("id"), str)}
    used = [(source, "n8n.connection_source_unknown") for source in connections]
    used += [(target["node"], "n8n.connection_target_unknown") for _, _, _, target in each_connection(connections)]
    return [
        Message(code, node=quoted(name), hint=_id_hint(names_by_id.get(name)))
        for name, code in dict.fromkeys(used)
        if name not in nodes_by_name
    ]


def _id_hint(name: str | None) -> Message | str:
    return "" if name is None else Message("n8n.connection_by_id", node=quoted(name))


def _source_errors(source: str, types: Any) -> Iterator[Message]:  # noqa: ANN401
    node = quoted(source)
    if not isinstance(types, dict):
        yield Message("n8n.connections_of_node_not_object", node=node)
        return
    for kind, outputs in types.items():
        if not isinstance(outputs, list | None):
            yield Message("n8n.connection_outputs_not_list", node=node, type=quoted(kind))
            continue
        for targets in outputs or []:
            if not isinstance(targets, list | None):
                yield Message("n8n.connection_output_not_list", node=node, type=quoted(kind))
            elif not all(target is None or _is_target(target) for target in targets or []):
                yield Message("n8n.connection_target_invalid", node=node, type=quoted(kind))


def _is_target(target: object) -> bool:
    if not isinstance(target, dict) or not isinstance(target.get("node"), str):
        return False
    index = target.get("index", 0)
    return isinstance(target.get("type", ""), str) and isinstance(index, int) and not isinstance(index, bool)


def _warnings(nodes: list[Node], connections: Json) -> Iterator[Message]:
    executed = [node for node in nodes if node["type"] not in NOT_EXECUTED]
    if executed and not any(is_trigger(node) for node in executed):
        yield Message("n8n.trigger_missing")
    connected = set(connections) | {target["node"] for _, _, _, target in each_connection(connections)}
    for node in executed:
        if len(executed) > 1 and node["name"] not in connected:
            yield Message("n8n.node_unconnected", node=quoted(node["name"]))
    names = {node["name"] for node in nodes}
    for node in executed:
        for name in sorted(_references(node) - names):
            yield Message("n8n.reference_unknown", node=quoted(node["name"]), reference=quoted(name))


def _references(node: Node) -> set[str]:
    return {name for text in _texts(node.get("parameters")) for name in referenced_nodes(text)}


def _texts(value: Any) -> Iterator[str]:  # noqa: ANN401
    match value:
        case str():
            yield value
        case list():
            for item in value:
                yield from _texts(item)
        case dict():
            for item in value.values():
                yield from _texts(item)
