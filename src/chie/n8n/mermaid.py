"""The graph of a workflow as a Mermaid flowchart, which many clients render."""

import re

from chie.n8n.graph import NOT_EXECUTED, each_connection, is_trigger
from chie.n8n.models import Json, Workflow

_SPECIAL = re.compile(r'["#<>&`\\\n\r\[\]{}|;]')


def draw(workflow: Workflow) -> str:
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
