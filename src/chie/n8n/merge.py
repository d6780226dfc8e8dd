"""What shall be stored: the workflow as it is, with only what was given changed."""

from collections.abc import Iterable, Mapping
from copy import deepcopy
from dataclasses import dataclass, field
from typing import Any, Literal
from uuid import uuid4

from chie.n8n.models import NODE_NOISE, OPTIONAL, REQUIRED, Json, Node, Workflow

# Nodes that listen at an address of their own; without a webhookId old versions of n8n never register it.
LISTENING = frozenset(
    {
        "n8n-nodes-base.webhook",
        "n8n-nodes-base.formTrigger",
        "n8n-nodes-base.form",
        "n8n-nodes-base.wait",
        "@n8n/n8n-nodes-langchain.chatTrigger",
        "@n8n/n8n-nodes-langchain.mcpTrigger",
    }
)

# A node in a file may come without what only this n8n knows; the rest of it is what the file says.
BINDINGS = ("credentials", "webhookId")

# n8n merges settings and takes these as "no longer set"; the others can only be changed.
UNSET = "DEFAULT"
RESETS = {"timezone": UNSET, "errorWorkflow": UNSET, "executionTimeout": -1}

SAID = 8


@dataclass(frozen=True)
class Change:
    """What the caller gave, and how much of a stored node is kept where the given one leaves it out."""

    fields: Mapping[str, Any] = field(default_factory=dict)
    active: bool | None = None
    tags: list[str] | None = None
    keep: Literal["all", "bindings", "nothing"] = "all"


@dataclass(frozen=True)
class Merged:
    body: Json
    changed: list[str]
    notes: list[str]


def merge(stored: Workflow, change: Change) -> Merged:
    notes: list[str] = []
    wanted: Json = {key: deepcopy(stored.get(key)) for key in REQUIRED}
    wanted["nodes"] = [_clean(node) for node in stored.get("nodes") or []]
    wanted["settings"] = _settings(stored.get("settings") or {}, change.fields.get("settings"))
    for key in ("name", "connections"):
        if key in change.fields:
            wanted[key] = deepcopy(change.fields[key])
    if "nodes" in change.fields:
        wanted["nodes"] = _nodes(stored, change, notes)
    changed = [key for key in REQUIRED if _differs(stored, wanted, key)]
    fields = {**change.fields, **_pins(stored, wanted["nodes"], change.fields, notes)}
    for key in OPTIONAL:
        if key in fields and fields[key] != stored.get(key):
            wanted[key] = deepcopy(fields[key])
            changed.append(key)
    _regroup(stored, wanted, notes)
    return Merged(wanted, changed, notes)


def settings_alone(stored: Workflow, given: Json) -> Json:
    """The given settings and no others: those that are stored beside them are named as null, which takes them away."""
    return {**dict.fromkeys(stored.get("settings") or {}), **given}


def chosen(settings: Json) -> Json:
    """Without those that say that nothing is set."""
    return {key: value for key, value in settings.items() if value not in (None, UNSET, RESETS.get(key))}


def new_body(fields: Mapping[str, Any]) -> Json:
    """The body of a workflow that does not exist yet."""
    body = {key: deepcopy(fields[key]) for key in (*REQUIRED, *OPTIONAL) if fields.get(key) is not None}
    body["settings"] = chosen(body.get("settings", {}))
    body["nodes"] = [completed(_clean(node)) for node in body.get("nodes", [])]
    return body


def completed(node: Node) -> Node:
    """With what n8n expects and a caller may leave out."""
    node.setdefault("id", str(uuid4()))
    node.setdefault("typeVersion", 1)
    node.setdefault("parameters", {})
    kind = node.get("type")
    if isinstance(kind, str) and kind in LISTENING:
        node.setdefault("webhookId", str(uuid4()))
    return node


def _nodes(stored: Workflow, change: Change, notes: list[str]) -> list[Node]:
    given: list[Node] = change.fields["nodes"]
    matches = _match(stored.get("nodes") or [], given)
    kept = [_kept(node, old, change.keep) if old else [] for node, old in zip(given, matches, strict=True)]
    if said := [f"'{node.get('name')}' ({', '.join(keys)})" for node, keys in zip(given, kept, strict=True) if keys]:
        more = f" and {len(said) - SAID} more" if len(said) > SAID else ""
        notes.append(f"kept as stored, because the nodes left it out: {', '.join(said[:SAID])}{more}")
    return [
        _node(node, old, keys) if old else completed(_clean(node))
        for node, old, keys in zip(given, matches, kept, strict=True)
    ]


def _match(stored: list[Node], given: list[Node]) -> list[Node | None]:
    """Each given node's stored self: by id, or else by a name that no other given node's id has claimed."""
    by_id = {node["id"]: node for node in stored if "id" in node}
    found = [by_id.get(node["id"]) if isinstance(node.get("id"), str) else None for node in given]
    claimed = {id(old) for old in found if old is not None}
    by_name = {node["name"]: node for node in stored if "name" in node and id(node) not in claimed}
    return [
        old or (by_name.get(node["name"]) if isinstance(node.get("name"), str) else None)
        for node, old in zip(given, found, strict=True)
    ]


def _node(given: Node, old: Node, kept: list[str]) -> Node:
    """A key given as null is taken away; one that is left out is kept."""
    new = _clean({**given, **{key: old[key] for key in kept}})
    return {key: value for key, value in new.items() if value is not None or (key in old and old[key] is None)}


def _kept(given: Node, old: Node, keep: str) -> list[str]:
    keys: Iterable[str] = {"all": old, "bindings": BINDINGS, "nothing": ()}[keep]
    if given.get("type", old.get("type")) != old.get("type"):  # another kind of node: its settings mean nothing here
        keys = {"id", "name", "position"} & set(keys)
    return sorted(key for key in keys if key in old and key not in given and key not in NODE_NOISE)


def _clean(node: Node) -> Node:
    return {key: deepcopy(value) for key, value in node.items() if key not in NODE_NOISE}


def _settings(stored: Json, given: Json | None) -> Json:
    """Stored and given together, as new versions of n8n do it themselves. `DEFAULT` is shown, but taken for some keys
    alone: given, it is as good as null."""
    kept = {key: value for key, value in stored.items() if value != UNSET}
    for key, value in (given or {}).items():
        if value not in (None, UNSET):
            kept[key] = deepcopy(value)
        elif key in RESETS and key in kept:
            kept[key] = RESETS[key]
        else:
            kept.pop(key, None)
    return kept


def _differs(stored: Workflow, wanted: Json, key: str) -> bool:
    before = stored.get(key)
    if key == "settings":
        before = _settings(before or {}, None)
    if key == "nodes":
        before = [_clean(node) for node in before or []]
    return bool(wanted[key] != before)


def _pins(stored: Workflow, nodes: list[Node], given: Mapping[str, Any], notes: list[str]) -> Json:
    """Pinned data goes with its node, and follows it to a new name: a later node of the old one must not get it."""
    before = stored.get("pinData") or {}
    pins = given.get("pinData", before) or {}
    if not isinstance(pins, dict):
        return {}
    gone = _gone(stored.get("nodes") or [], nodes)
    left = {name: data for name, data in pins.items() if name not in gone}
    for name, now in gone.items():
        if isinstance(now, str) and name in pins:
            left.setdefault(now, pins[name])
    if lost := [f"'{name}'" for name, now in gone.items() if now is None and (name in pins or name in before)]:
        notes.append(f"pinned data went with the nodes that were removed: {', '.join(lost)}")
    return {"pinData": left} if left != pins else {}


def _gone(before: list[Node], after: list[Node]) -> dict[str, str | None]:
    """The names that no node has any more, each with the new name if its node is still there by its id."""
    names = [node.get("name") for node in after]
    named = {node["id"]: node["name"] for node in after if isinstance(node.get("id"), str) and "name" in node}
    gone = [node for node in before if "name" in node and node["name"] not in names]
    return {node["name"]: named.get(node.get("id")) for node in gone}


def _regroup(stored: Workflow, wanted: Json, notes: list[str]) -> None:
    """n8n fills in groups that are left out and then refuses them if they name a node that is gone."""
    groups = stored.get("nodeGroups")
    if not groups or "nodeGroups" in wanted:
        return
    ids = [node.get("id") for node in wanted["nodes"]]
    left = [{**group, "nodeIds": [i for i in group["nodeIds"] if i in ids]} for group in groups]
    left = [group for group in left if group["nodeIds"]]
    if left != groups:
        wanted["nodeGroups"] = left
        notes.append("groups on the canvas lost the nodes that were removed")
