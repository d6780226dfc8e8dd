"""What a restore would change: a workflow as it is now beside what a backup holds."""

from dataclasses import dataclass, field
from typing import Any

from chie.n8n.merge import chosen
from chie.n8n.models import NODE_NOISE, Json, Workflow, tag_names
from chie.n8n.structure import targets


@dataclass(frozen=True)
class Difference:
    """`added` comes back with the backup, `removed` is here now and would go."""

    name: tuple[str, str] | None = None
    added: list[str] = field(default_factory=list)
    removed: list[str] = field(default_factory=list)
    changed: dict[str, list[str]] = field(default_factory=dict)
    connections_added: list[str] = field(default_factory=list)
    connections_removed: list[str] = field(default_factory=list)
    settings: list[str] = field(default_factory=list)
    tags_added: list[str] = field(default_factory=list)
    tags_removed: list[str] = field(default_factory=list)

    @property
    def is_none(self) -> bool:
        return self == Difference()


def compare(now: Workflow, then: Workflow) -> Difference:
    """Nodes are told apart by their names, as connections and expressions do."""
    here, there = _nodes(now), _nodes(then)
    links, old_links = _links(now), _links(then)
    tags, old_tags = tag_names(now), tag_names(then)
    return Difference(
        name=None if now.get("name") == then.get("name") else (str(now.get("name")), str(then.get("name"))),
        added=[name for name in there if name not in here],
        removed=[name for name in here if name not in there],
        changed={
            name: keys for name in here if name in there and (keys := _unlike(here[name], there[name], NODE_NOISE))
        },
        connections_added=[link for link in old_links if link not in links],
        connections_removed=[link for link in links if link not in old_links],
        settings=_unlike(chosen(now.get("settings") or {}), chosen(then.get("settings") or {})),
        tags_added=[tag for tag in old_tags if tag not in tags],
        tags_removed=[tag for tag in tags if tag not in old_tags],
    )


def _nodes(workflow: Workflow) -> dict[str, Json]:
    return {node["name"]: node for node in workflow.get("nodes") or []}


def _links(workflow: Workflow) -> list[str]:
    found = targets(workflow.get("connections") or {})
    return [_link(source, kind, output, target["node"]) for source, kind, output, target in found]


def _link(source: str, kind: str, output: int, target: str) -> str:
    port = f" [{output}]" if output else ""
    return f"{source}{port} → {target}" + ("" if kind == "main" else f" ({kind})")


def _unlike(one: Json, other: Json, noise: frozenset[str] = frozenset()) -> list[str]:
    keys = dict.fromkeys([*one, *other])
    return [key for key in keys if key not in noise and _value(one, key) != _value(other, key)]


def _value(fields: Json, key: str) -> Any:  # noqa: ANN401
    """Absent, null and empty mean the same to n8n."""
    return fields.get(key) or None
