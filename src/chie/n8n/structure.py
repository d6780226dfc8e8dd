"""Whether nodes and connections make a workflow. What surely breaks is an error; what looks odd is a warning."""

import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

from chie.n8n.budget import MARK
from chie.n8n.errors import ValidationError, ValidationErrorContext
from chie.n8n.models import Json, Node

SHOWN = 10
NOT_RUN = frozenset({"n8n-nodes-base.stickyNote"})

_REFERENCE = re.compile(r"""\$\(\s*(?P<quote>['"`])(?P<name>(?:\\.|(?!(?P=quote))[^\\\n])+)(?P=quote)\s*\)""")


@dataclass
class Findings:
    errors: list[str] = field(default_factory=list)
    warnings: list[str] = field(default_factory=list)

    def refuse(self) -> None:
        """Raise if there are errors, with all of them in one message."""
        if not self.errors:
            return
        shown = self.errors[:SHOWN]
        more = f"; and {len(self.errors) - SHOWN} more" if len(self.errors) > SHOWN else ""
        raise ValidationError(
            f"The workflow would not work, and nothing was changed: {'; '.join(shown)}{more}.",
            ValidationErrorContext(field="nodes, connections", constraint="structure"),
        )


def check(nodes: Any, connections: Any) -> Findings:  # noqa: ANN401
    found = Findings()
    found.errors += _node_faults(nodes)
    if found.errors:
        return found
    names = {node["name"]: node for node in nodes}
    found.errors += _connection_faults(connections, names)
    if not found.errors:
        found.warnings += _oddities(nodes, connections)
    return found


def targets(connections: Json) -> Iterator[tuple[str, str, int, Json]]:
    """Every connection: from which node, of which type, at which output, to what. Null slots are normal."""
    for source, kinds in connections.items():
        for kind, slots in (kinds or {}).items():
            for output, slot in enumerate(slots or []):
                for target in slot or []:
                    if target:
                        yield source, kind, output, target


def texts(value: Any) -> Iterator[str]:  # noqa: ANN401
    match value:
        case str():
            yield value
        case list():
            for item in value:
                yield from texts(item)
        case dict():
            for item in value.values():
                yield from texts(item)


def named(name: str) -> str:
    return f"'{name}'" if len(name) <= 60 else f"'{name[:60]}…'"


def _node_faults(nodes: Any) -> list[str]:  # noqa: ANN401
    if not isinstance(nodes, list) or not all(isinstance(node, dict) for node in nodes):
        return ["nodes must be a list of objects"]
    faults = [fault for number, node in enumerate(nodes) for fault in _faults_of(number, node)]
    for key in ("name", "id"):
        counts = Counter(node[key] for node in nodes if isinstance(node.get(key), str))
        faults += [f"{count} nodes have the {key} {named(value)}" for value, count in counts.items() if count > 1]
    return faults


def _faults_of(number: int, node: Node) -> Iterator[str]:
    place = f"nodes[{number}]"
    for key in ("name", "type"):
        if not isinstance(node.get(key), str) or not node[key].strip():
            yield f"{place}.{key} must be a text"
    version = node.get("typeVersion")
    if isinstance(version, bool) or not isinstance(version, int | float | None):
        yield f"{place}.typeVersion must be a number"
    if not _is_point(node.get("position")):
        yield f"{place}.position must be two numbers, [x, y]"
    for key in ("parameters", "credentials"):
        if not isinstance(node.get(key, {}), dict):
            yield f"{place}.{key} must be an object"
    if any(MARK in text for text in texts(node)):
        yield f"{place} holds a text that an answer had cut short: read the node whole with get_workflow and nodeName"


def _is_point(position: object) -> bool:
    return (
        isinstance(position, list)
        and len(position) == 2
        and all(isinstance(number, int | float) and not isinstance(number, bool) for number in position)
    )


def _connection_faults(connections: Any, names: dict[str, Node]) -> list[str]:  # noqa: ANN401
    if not isinstance(connections, dict):
        return ["connections must be an object"]
    ids = {node.get("id"): name for name, node in names.items()}
    faults = [fault for source in connections for fault in _shape_faults(source, connections[source])]
    if faults:
        return faults
    used = [(source, "from") for source in connections]
    used += [(target["node"], "to") for _, _, _, target in targets(connections)]
    for name, side in dict.fromkeys(used):
        if name in names:
            continue
        hint = f": that is the id of {named(ids[name])}, and connections go by name" if name in ids else ""
        faults.append(f"a connection goes {side} {named(name)}, and no node has this name{hint}")
    return faults


def _shape_faults(source: str, kinds: Any) -> Iterator[str]:  # noqa: ANN401
    place = f"connections of {named(source)}"
    if not isinstance(kinds, dict):
        yield f'{place} must be an object such as {{"main": [[…]]}}'
        return
    for kind, slots in kinds.items():
        if not isinstance(slots, list | None):
            yield f"{place}, {named(kind)}, must be a list with one list for each output"
            continue
        for slot in slots or []:
            if not isinstance(slot, list | None):
                yield f"{place}, {named(kind)}: each output must be a list of targets, or null"
            elif not all(target is None or _is_target(target) for target in slot or []):
                yield f'{place}, {named(kind)}: each target must be {{"node": …, "type": …, "index": 0}}'


def _is_target(target: object) -> bool:
    if not isinstance(target, dict) or not isinstance(target.get("node"), str):
        return False
    index = target.get("index", 0)
    return isinstance(target.get("type", ""), str) and isinstance(index, int) and not isinstance(index, bool)


def _oddities(nodes: list[Node], connections: Json) -> Iterator[str]:
    running = [node for node in nodes if node["type"] not in NOT_RUN]
    if running and not any(is_trigger(node) for node in running):
        yield "no node is a trigger, so it cannot be published"
    linked = set(connections) | {target["node"] for _, _, _, target in targets(connections)}
    for node in running:
        if len(running) > 1 and node["name"] not in linked:
            yield f"{named(node['name'])} is not connected to anything"
    names = {node["name"] for node in nodes}
    for node in running:
        for name in sorted(_references(node) - names):
            yield f"{named(node['name'])} refers to {named(name)} in an expression, and no node has this name"


def is_trigger(node: Node) -> bool:
    """By its type's name, as n8n's own list of types is not in the public API."""
    kind = node["type"].rsplit(".", 1)[-1].lower()
    return "trigger" in kind or kind in ("webhook", "start", "cron", "interval", "emailreadimap")


def _references(node: Node) -> set[str]:
    found = (match["name"] for text in texts(node.get("parameters")) for match in _REFERENCE.finditer(text))
    return {re.sub(r"\\(.)", r"\1", name) for name in found}
