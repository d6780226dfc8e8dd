"""The graph of a workflow: its connections, which nodes start it, and a Mermaid flowchart of it."""

import re
from collections.abc import Iterator

from chie.n8n.models import Json, Node, Workflow

NOT_EXECUTED = frozenset({"n8n-nodes-base.stickyNote"})
MAX_QUOTED_LENGTH = 60
MAX_QUOTED_NAMES = 60

_SPECIAL = re.compile(r'["#<>&`\\\n\r\[\]{}|;]')


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


def flowchart(workflow: Workflow) -> str:
    """In the language of Mermaid, which many clients render."""
    nodes = [node for node in workflow.get("nodes") or [] if node.get("type") not in NOT_EXECUTED]
    keys = {node["name"]: f"n{number}" for number, node in enumerate(nodes)}
    lines = ["flowchart LR"]
    lines += [f"  {keys[node['name']]}{_shape(node)}" for node in nodes]
    for source, kind, output, target in each_connection(workflow.get("connections") or {}):
        if source in keys and target["node"] in keys:
            lines.append(f"  {keys[source]} {_arrow(kind, output)} {keys[target['node']]}")
    return "\n".join(lines)


def _shape(node: Json) -> str:
    label = _label(node["name"])
    text = f'(["{label}"])' if is_trigger(node) else f'["{label}"]'
    return f"{text}:::off" if node.get("disabled") else text


def _arrow(kind: str, output: int) -> str:
    if kind != "main":
        return f"-.{_label(kind)}.->"
    return f"--{output}-->" if output else "-->"


def _label(text: str) -> str:
    """The text with Mermaid's special characters escaped."""
    return _SPECIAL.sub(lambda found: f"#{ord(found.group())};", text)
