"""Merges a change into the stored workflow; everything that was not given stays as it is."""

from collections.abc import Iterable, Mapping
from copy import deepcopy
from dataclasses import dataclass, field
from typing import Any, Literal
from uuid import uuid4

from chie.messages.catalogue import Message
from chie.n8n.models import INTERNAL_NODE_KEYS, OPTIONAL, REQUIRED, Json, Node, Workflow

# Nodes with a webhook of their own; without a webhookId old versions of n8n never register it.
WEBHOOK_TYPES = frozenset(
    {
        "n8n-nodes-base.webhook",
        "n8n-nodes-base.formTrigger",
        "n8n-nodes-base.form",
        "n8n-nodes-base.wait",
        "@n8n/n8n-nodes-langchain.chatTrigger",
        "@n8n/n8n-nodes-langchain.mcpTrigger",
    }
)

# Kept for nodes of a file that lack them: only this n8n instance knows these values.
BINDINGS = ("credentials", "webhookId")

# n8n merges settings and unsets these on the given values; others can only be changed.
UNSET = "DEFAULT"
RESET_VALUES = {"timezone": UNSET, "errorWorkflow": UNSET, "executionTimeout": -1}

MAX_NAMED_NODES = 8


@dataclass(frozen=True)
class Change:
    """The given fields, and which keys of a stored node are kept if the given node omits them."""

    fields: Mapping[str, Any] = field(default_factory=dict)
    active: bool | None = None
    tags: list[str] | None = None
    keep: Literal["all", "bindings", "nothing"] = "all"


@dataclass(frozen=True)
class Merged:
    body: Json
    changed: list[str]
    notes: list[Message]


def merge(stored: Workflow, change: Change) -> Merged:
    notes: list[Message] = []
    result: Json = {key: deepcopy(stored.get(key)) for key in REQUIRED}
    result["nodes"] = [_clean(node) for node in stored.get("nodes") or []]
    result["settings"] = _settings(stored.get("settings") or {}, change.fields.get("settings"))
    for key in ("name", "connections"):
        if key in change.fields:
            result[key] = deepcopy(change.fields[key])
    if "nodes" in change.fields:
        result["nodes"] = _nodes(stored, change, notes)
    changed = [key for key in REQUIRED if _differs(stored, result, key)]
    fields = {**change.fields, **_pins(stored, result["nodes"], change.fields, notes)}
    for key in OPTIONAL:
        if key in fields and fields[key] != stored.get(key):
            result[key] = deepcopy(fields[key])
            changed.append(key)
    _regroup(stored, result, notes)
    return Merged(result, changed, notes)


def exact_settings(stored: Workflow, given: Json) -> Json:
    """The given settings and no others: all other stored settings are set to null, which removes them."""
    return {**dict.fromkeys(stored.get("settings") or {}), **given}


def explicit_settings(settings: Json) -> Json:
    """The settings without those that mean "not set"."""
    return {key: value for key, value in settings.items() if value not in (None, UNSET, RESET_VALUES.get(key))}


def new_body(fields: Mapping[str, Any]) -> Json:
    """The body of a new workflow."""
    body = {key: deepcopy(fields[key]) for key in (*REQUIRED, *OPTIONAL) if fields.get(key) is not None}
    body["settings"] = explicit_settings(body.get("settings", {}))
    body["nodes"] = [completed(_clean(node)) for node in body.get("nodes", [])]
    return body


def completed(node: Node) -> Node:
    """The node with defaults for the keys that n8n requires and callers may omit; changed in place."""
    node.setdefault("id", str(uuid4()))
    node.setdefault("typeVersion", 1)
    node.setdefault("parameters", {})
    kind = node.get("type")
    if isinstance(kind, str) and kind in WEBHOOK_TYPES:
        node.setdefault("webhookId", str(uuid4()))
    return node


def _nodes(stored: Workflow, change: Change, notes: list[Message]) -> list[Node]:
    given: list[Node] = change.fields["nodes"]
    matches = _match(stored.get("nodes") or [], given)
    kept = [_kept(node, old, change.keep) if old else [] for node, old in zip(given, matches, strict=True)]
    named = [f"'{node.get('name')}' ({', '.join(keys)})" for node, keys in zip(given, kept, strict=True) if keys]
    if named:
        notes.append(_kept_note(named))
    return [
        _node(node, old, keys) if old else completed(_clean(node))
        for node, old, keys in zip(given, matches, kept, strict=True)
    ]


def _kept_note(nodes: list[str]) -> Message:
    rest = len(nodes) - MAX_NAMED_NODES
    more = Message("n8n.more_nodes", count=rest) if rest > 0 else ""
    return Message("n8n.node_keys_kept", nodes=nodes[:MAX_NAMED_NODES], more=more)


def _match(stored: list[Node], given: list[Node]) -> list[Node | None]:
    """The stored node of each given one: by id, else by a name that no id of another given node has matched."""
    by_id = {node["id"]: node for node in stored if "id" in node}
    found = [by_id.get(node["id"]) if isinstance(node.get("id"), str) else None for node in given]
    claimed = {id(old) for old in found if old is not None}
    by_name = {node["name"]: node for node in stored if "name" in node and id(node) not in claimed}
    return [
        old or (by_name.get(node["name"]) if isinstance(node.get("name"), str) else None)
        for node, old in zip(given, found, strict=True)
    ]


def _node(given: Node, old: Node, kept: list[str]) -> Node:
    """A key given as null is removed; an omitted one is kept."""
    new = _clean({**given, **{key: old[key] for key in kept}})
    return {key: value for key, value in new.items() if value is not None or (key in old and old[key] is None)}


def _kept(given: Node, old: Node, keep: str) -> list[str]:
    keys: Iterable[str] = {"all": old, "bindings": BINDINGS, "nothing": ()}[keep]
    if given.get("type", old.get("type")) != old.get("type"):  # the parameters of another node type do not apply
        keys = {"id", "name", "position"} & set(keys)
    return sorted(key for key in keys if key in old and key not in given and key not in INTERNAL_NODE_KEYS)


def _clean(node: Node) -> Node:
    return {key: deepcopy(value) for key, value in node.items() if key not in INTERNAL_NODE_KEYS}


def _settings(stored: Json, given: Json | None) -> Json:
    """Stored and given settings merged, as new versions of n8n do.

    n8n returns `DEFAULT` for unset keys but accepts it only for some, so a given `DEFAULT` is treated as null.
    """
    kept = {key: value for key, value in stored.items() if value != UNSET}
    for key, value in (given or {}).items():
        if value not in (None, UNSET):
            kept[key] = deepcopy(value)
        elif key in RESET_VALUES and key in kept:
            kept[key] = RESET_VALUES[key]
        else:
            kept.pop(key, None)
    return kept


def _differs(stored: Workflow, result: Json, key: str) -> bool:
    before = stored.get(key)
    if key == "settings":
        before = _settings(before or {}, None)
    if key == "nodes":
        before = [_clean(node) for node in before or []]
    return bool(result[key] != before)


def _pins(stored: Workflow, nodes: list[Node], given: Mapping[str, Any], notes: list[Message]) -> Json:
    """Pinned data is removed and renamed with its node: a later node of the same name must not inherit it."""
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
        notes.append(Message("n8n.pinned_data_removed", nodes=lost))
    return {"pinData": left} if left != pins else {}


def _gone(before: list[Node], after: list[Node]) -> dict[str, str | None]:
    """The names that are no longer used, each with the new name of its node if that still exists by id."""
    names = [node.get("name") for node in after]
    named = {node["id"]: node["name"] for node in after if isinstance(node.get("id"), str) and "name" in node}
    gone = [node for node in before if "name" in node and node["name"] not in names]
    return {node["name"]: named.get(node.get("id")) for node in gone}


def _regroup(stored: Workflow, result: Json, notes: list[Message]) -> None:
    """n8n restores omitted groups and then rejects them if they contain a removed node."""
    groups = stored.get("nodeGroups")
    if not groups or "nodeGroups" in result:
        return
    ids = [node.get("id") for node in result["nodes"]]
    left = [{**group, "nodeIds": [i for i in group["nodeIds"] if i in ids]} for group in groups]
    left = [group for group in left if group["nodeIds"]]
    if left != groups:
        result["nodeGroups"] = left
        notes.append(Message("n8n.groups_changed"))
