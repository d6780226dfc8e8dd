"""What a restore would change: a workflow as it is now beside what a backup holds."""

from dataclasses import dataclass, field, replace
from typing import Any

from chie.n8n.merge import Change, chosen, merge, settings_alone
from chie.n8n.models import NODE_NOISE, WRITABLE, Json, Workflow, tag_names
from chie.n8n.structure import targets


@dataclass(frozen=True)
class Difference:
    """`added` comes back with the backup, `removed` is here now and would go; `others` are the fields that would
    change, too, of which nothing is told piece by piece."""

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


def restoration(now: Workflow, then: Workflow) -> Change:
    """Settings and pinned data that came after the backup go: n8n keeps what is not named."""
    fields = {key: then[key] for key in WRITABLE if then.get(key) is not None}
    after: Json = {"pinData": {}} if now.get("pinData") and not then.get("pinData") else {}
    settings = settings_alone(now, then.get("settings") or {})
    return Change({**fields, **after, "settings": settings}, tags=tag_names(then), keep="nothing")


def compare(now: Workflow, then: Workflow) -> Difference:
    """What a restore would really change, and of what people look at, each piece of it."""
    told = _pieces(now, then)
    pieces = {
        "name": told.name,
        "nodes": told.added or told.removed or told.changed,
        "connections": told.connections_added or told.connections_removed,
        "settings": told.settings,
    }
    changed = merge(now, restoration(now, then)).changed
    others = [key for key in changed if not pieces.get(key) and _value(now, key) != _value(then, key)]
    return replace(told, others=others)


def _pieces(now: Workflow, then: Workflow) -> Difference:
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
    return [_link(source, kind, output, target) for source, kind, output, target in found]


def _link(source: str, kind: str, output: int, target: Json) -> str:
    """`A → B`, with the number of an output or input that is not the first, and the kind if it is not main."""
    end = f"{target['node']}{_port(target.get('index'))}"
    return f"{source}{_port(output)} → {end}" + ("" if kind == "main" else f" ({kind})")


def _port(number: object) -> str:
    return f" [{number}]" if number else ""


def _unlike(one: Json, other: Json, noise: frozenset[str] = frozenset()) -> list[str]:
    keys = dict.fromkeys([*one, *other])
    return [key for key in keys if key not in noise and _value(one, key) != _value(other, key)]


def _value(fields: Json, key: str) -> Any:  # noqa: ANN401
    """Absent, null and empty mean the same to n8n."""
    return fields.get(key) or None
