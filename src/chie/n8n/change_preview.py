"""What a change would do to a workflow, in words and field by field, compared with what n8n has now."""

import asyncio
from collections.abc import Callable, Iterator, Sequence
from functools import reduce
from typing import Any

from chie.errors import ChieError
from chie.mcp_kit.approval import CallPreview, Danger, FieldChange, shown_name, shown_value
from chie.messages.catalogue import Message
from chie.n8n.backup_diff import Difference, compare
from chie.n8n.client import N8nApiClient
from chie.n8n.merge import Change, merge
from chie.n8n.models import Node, Workflow, tag_names

READ_SECONDS = 4.0
LAYOUT = "position"  # has no effect

_NODES = {
    "added": ("n8n.preview_node_added", "n8n.preview_nodes_added"),
    "removed": ("n8n.preview_node_removed", "n8n.preview_nodes_removed"),
    "changed": ("n8n.preview_node_changed", "n8n.preview_nodes_changed"),
}


async def read_workflow(client: N8nApiClient, workflow_id: str) -> Workflow | None:
    """None if n8n is slow, down or has no such workflow: the question to the user must not wait for it."""
    try:
        async with asyncio.timeout(READ_SECONDS):
            return await client.get_workflow(workflow_id)
    except (TimeoutError, ChieError):
        return None


async def named_preview(
    client: N8nApiClient,
    workflow_id: str,
    code: str,
    *,
    danger: Danger = "change",
    notes: Sequence[Message] = (),
) -> CallPreview:
    """`code` is of a sentence that takes the name of the workflow."""
    stored = await read_workflow(client, workflow_id)
    if stored is None:
        return CallPreview(Message(code, name=shown_name(workflow_id)), danger, [*notes, Message("n8n.preview_unread")])
    live = [Message("n8n.preview_was_live")] if danger == "delete" and stored.get("active") else []
    return CallPreview(Message(code, name=shown_name(stored.get("name"))), danger, [*notes, *live])


async def change_preview(
    client: N8nApiClient,
    workflow_id: str,
    choose: Callable[[Workflow], Change],
    *,
    code: str = "n8n.preview_change",
    moment: str | None = None,
) -> CallPreview:
    """`code` is of a sentence that takes the name, and `what` changes."""
    stored = await read_workflow(client, workflow_id)
    if stored is None:
        summary = Message(code, name=shown_name(workflow_id), what=Message("n8n.preview_what_unknown"))
        return CallPreview(summary, "change", [Message("n8n.preview_unread")], moment=moment)
    name = shown_name(stored.get("name"))
    try:
        change = choose(stored)
        after = _after(stored, change)
        difference = compare(stored, after)
    except ChieError as error:  # the change is invalid, and the call will fail
        summary = Message(code, name=name, what=Message("n8n.preview_what_unknown"))
        return CallPreview(summary, "change", [Message("n8n.preview_will_fail", reason=error.reason)], moment=moment)
    summary = Message(code, name=name, what=_what(difference))
    changes = list(_changes(difference, stored, after))
    return CallPreview(summary, "change", _consequences(stored, change, difference), changes, moment)


def _after(stored: Workflow, change: Change) -> Workflow:
    tags = {} if change.tags is None else {"tags": [{"name": tag} for tag in change.tags]}
    return {**stored, **merge(stored, change).body, **tags}


def _consequences(stored: Workflow, change: Change, difference: Difference) -> list[Message]:
    if change.active is True and not stored.get("active"):
        return [Message("n8n.preview_publishes")]
    if change.active is False and stored.get("active"):
        return [Message("n8n.preview_unpublishes")]
    return [Message("n8n.preview_live")] if stored.get("active") and not difference.is_none else []


def _what(difference: Difference) -> Message:
    found = list(_kinds(difference))
    return reduce(_and, found) if found else Message("n8n.preview_nothing")


def _and(first: Message, second: Message) -> Message:
    return Message("n8n.preview_and", first=first, second=second)


def _kinds(difference: Difference) -> Iterator[Message]:
    nodes = {"changed": list(difference.changed), "added": difference.added, "removed": difference.removed}
    for kind, names in nodes.items():
        one, many = _NODES[kind]
        if len(names) == 1:
            yield Message(one, name=shown_name(names[0]))
        elif names:
            yield Message(many, count=len(names))
    if difference.name:
        yield Message("n8n.preview_renamed", name=shown_name(difference.name[1]))
    if difference.connections_added or difference.connections_removed:
        yield Message("n8n.preview_connections_changed")
    if difference.settings:
        yield Message("n8n.preview_settings_changed")
    if difference.tags_added or difference.tags_removed:
        yield Message("n8n.preview_tags_changed")
    if difference.others:
        yield Message("n8n.preview_others_changed", keys=difference.others)


def _changes(difference: Difference, before: Workflow, after: Workflow) -> Iterator[FieldChange]:
    old, new = _by_name(before), _by_name(after)
    for name in difference.changed:
        for path, value, other in _leaves(old[name], new[name]):
            label = Message("n8n.preview_node_field", name=shown_name(name), field=path)
            yield FieldChange(label, shown_value(value), shown_value(other))
    for name in difference.added:
        yield FieldChange(Message("n8n.preview_node", name=shown_name(name)), None, _node_text(new[name]))
    for name in difference.removed:
        yield FieldChange(Message("n8n.preview_node", name=shown_name(name)), _node_text(old[name]), None)
    yield from _lists("n8n.preview_connections", difference.connections_removed, difference.connections_added)
    yield from _lists("n8n.preview_tags", *_tags(difference, before, after))
    for key in difference.settings:
        values = ((workflow.get("settings") or {}).get(key) for workflow in (before, after))
        yield FieldChange(Message("n8n.preview_setting", key=key), *map(shown_value, values))
    for key in difference.others:
        values = (workflow.get(key) for workflow in (before, after))
        yield FieldChange(Message("n8n.preview_field", key=key), *map(shown_value, values))


def _tags(difference: Difference, before: Workflow, after: Workflow) -> tuple[list[str], list[str]]:
    changed = difference.tags_added or difference.tags_removed
    return (tag_names(before), tag_names(after)) if changed else ([], [])


def _lists(code: str, before: list[str], after: list[str]) -> Iterator[FieldChange]:
    if before or after:
        yield FieldChange(Message(code), "\n".join(before) or None, "\n".join(after) or None)


def _by_name(workflow: Workflow) -> dict[str, Node]:
    return {node["name"]: node for node in workflow.get("nodes") or [] if "name" in node}


def _node_text(node: Node) -> str | None:
    return shown_value({key: node[key] for key in ("type", "parameters", "credentials") if node.get(key)})


def _leaves(before: Any, after: Any, path: str = "") -> Iterator[tuple[str, Any, Any]]:  # noqa: ANN401 - JSON
    """The innermost values that differ. Lists of different lengths are one value."""
    if before == after or path == LAYOUT:
        return
    if isinstance(before, dict) and isinstance(after, dict):
        for key in dict.fromkeys([*before, *after]):
            yield from _leaves(before.get(key), after.get(key), f"{path}.{key}" if path else str(key))
    elif isinstance(before, list) and isinstance(after, list) and len(before) == len(after):
        for index, (one, other) in enumerate(zip(before, after, strict=True)):
            yield from _leaves(one, other, f"{path}[{index}]")
    else:
        yield path, before, after
