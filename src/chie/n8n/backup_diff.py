"""The difference between a workflow and its backup: what a restore would change."""

from dataclasses import dataclass, field, replace
from typing import Any

from chie.n8n.graph import each_connection
from chie.n8n.merge import Change, exact_settings, explicit_settings, merge
from chie.n8n.models import INTERNAL_NODE_KEYS, WRITABLE, Json, Workflow, tag_names


@dataclass(frozen=True)
class Difference:
    """`added` would be restored, `removed` would be deleted; `others` are changed fields without further detail."""

    name: tuple[str, str] | None = None
    added: list[str] = field(default_factory=list)
    removed: list[str] = field(default_factory=list)
    changed: dict[str, list[str]] = field(default_factory=dict)
    connections_added: list[str] = field(default_factory=list)
    connections_removed: list[str] = field(default_factory=list)
    settings: list[str] = field(default_factory=list)
    tags_added: list[str] = field(default_factory=list)
    tags_removed: list[str] = field(default_factory=list)
    others: list[str] = field(default_factory=list)

    @property
    def is_none(self) -> bool:
        return self == Difference()


def restore_change(now: Workflow, then: Workflow) -> Change:
    """Settings and pinned data that are newer than the backup are removed explicitly: n8n keeps omitted ones."""
    fields = {key: then[key] for key in WRITABLE if then.get(key) is not None}
    after: Json = {"pinData": {}} if now.get("pinData") and not then.get("pinData") else {}
    settings = exact_settings(now, then.get("settings") or {})
    return Change({**fields, **after, "settings": settings}, tags=tag_names(then), keep="nothing")


def compare(now: Workflow, then: Workflow) -> Difference:
    """The changes that a restore would make, in detail for nodes, connections, settings and tags."""
    difference = _details(now, then)
    details = {
        "name": difference.name,
        "nodes": difference.added or difference.removed or difference.changed,
        "connections": difference.connections_added or difference.connections_removed,
        "settings": difference.settings,
    }
    changed = merge(now, restore_change(now, then)).changed
    others = [key for key in changed if not details.get(key) and _value(now, key) != _value(then, key)]
    return replace(difference, others=others)


def _details(now: Workflow, then: Workflow) -> Difference:
    """Nodes are identified by name, as in connections and expressions."""
    here, there = _nodes(now), _nodes(then)
    links, old_links = _links(now), _links(then)
    tags, old_tags = tag_names(now), tag_names(then)
    return Difference(
        name=None if now.get("name") == then.get("name") else (str(now.get("name")), str(then.get("name"))),
        added=[name for name in there if name not in here],
        removed=[name for name in here if name not in there],
        changed=_changed_nodes(here, there),
        connections_added=[link for link in old_links if link not in links],
        connections_removed=[link for link in links if link not in old_links],
        settings=_differing(_settings(now), _settings(then)),
        tags_added=[tag for tag in old_tags if tag not in tags],
        tags_removed=[tag for tag in tags if tag not in old_tags],
    )


def _changed_nodes(here: dict[str, Json], there: dict[str, Json]) -> dict[str, list[str]]:
    changed = {name: _differing(here[name], there[name], INTERNAL_NODE_KEYS) for name in here if name in there}
    return {name: keys for name, keys in changed.items() if keys}


def _settings(workflow: Workflow) -> Json:
    return explicit_settings(workflow.get("settings") or {})


def _nodes(workflow: Workflow) -> dict[str, Json]:
    return {node["name"]: node for node in workflow.get("nodes") or []}


def _links(workflow: Workflow) -> list[str]:
    found = each_connection(workflow.get("connections") or {})
    return [_link(source, kind, output, target) for source, kind, output, target in found]


def _link(source: str, kind: str, output: int, target: Json) -> str:
    """`A → B`, with the index of an output or input other than the first, and the type if it is not main."""
    end = f"{target['node']}{_port(target.get('index'))}"
    return f"{source}{_port(output)} → {end}" + ("" if kind == "main" else f" ({kind})")


def _port(number: object) -> str:
    return f" [{number}]" if number else ""


def _differing(one: Json, other: Json, ignored: frozenset[str] = frozenset()) -> list[str]:
    keys = dict.fromkeys([*one, *other])
    return [key for key in keys if key not in ignored and _value(one, key) != _value(other, key)]


def _value(fields: Json, key: str) -> Any:  # noqa: ANN401
    """n8n does not distinguish absent, null and empty."""
    return fields.get(key) or None
