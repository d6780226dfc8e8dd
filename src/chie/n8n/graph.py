"""The graph of a workflow: its connections, and which nodes start it."""

from collections.abc import Iterator

from chie.n8n.models import Json, Node

NOT_EXECUTED = frozenset({"n8n-nodes-base.stickyNote"})
MAX_QUOTED_LENGTH = 60
MAX_QUOTED_NAMES = 60


def each_connection(connections: Json) -> Iterator[tuple[str, str, int, Json]]:
    """Every connection as source, type, output and target. Empty outputs are null in n8n."""
    for source, types in connections.items():
        for kind, outputs in (types or {}).items():
            for output, targets in enumerate(outputs or []):
                for target in targets or []:
                    if target:
                        yield source, kind, output, target


def is_trigger(node: Node) -> bool:
    """Decided by the type's name, because n8n's public API does not list the types."""
    kind = node["type"].rsplit(".", 1)[-1].lower()
    return "trigger" in kind or kind in ("webhook", "start", "cron", "interval", "emailreadimap")


def quoted(name: str) -> str:
    return f"'{name}'" if len(name) <= MAX_QUOTED_LENGTH else f"'{name[:MAX_QUOTED_LENGTH]}…'"


def quoted_names(nodes: list[Node]) -> list[str]:
    return [quoted(node["name"]) for node in nodes[:MAX_QUOTED_NAMES]]
