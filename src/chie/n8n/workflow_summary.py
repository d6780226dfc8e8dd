"""Summaries of workflows: what an assistant needs to decide on the next step."""

from typing import Any

from chie.n8n.graph import each_connection
from chie.n8n.models import Json, Node, Workflow, has_draft, tag_names
from chie.n8n.saving import Report

_PREFIXES = ("n8n-nodes-base.", "@n8n/n8n-nodes-")


def short_type(kind: str) -> str:
    """`httpRequest`, `langchain.agent`; types of other packages are unchanged."""
    for prefix in _PREFIXES:
        if kind.startswith(prefix):
            return kind.removeprefix(prefix)
    return kind


def row(workflow: Workflow) -> Json:
    """The workflow as a row of a list."""
    shown: Json = {"id": workflow["id"], "name": workflow["name"], "active": bool(workflow.get("active"))}
    if tags := tag_names(workflow):
        shown["tags"] = tags
    if workflow.get("isArchived"):
        shown["archived"] = True
    return shown


def head(workflow: Workflow) -> Json:
    shown = row(workflow) | {"nodeCount": len(workflow.get("nodes") or [])}
    for key in ("versionId", "updatedAt"):
        if workflow.get(key):
            shown[key] = workflow[key]
    if has_draft(workflow):
        shown["unpublishedChanges"] = True
    return shown


def overview(workflow: Workflow) -> Json:
    """The workflow with the names and types of its nodes."""
    nodes: list[Node] = workflow.get("nodes") or []
    shown = head(workflow) | {"nodes": {node["name"]: short_type(node["type"]) for node in nodes}}
    if disabled := [node["name"] for node in nodes if node.get("disabled")]:
        shown["disabled"] = disabled
    if workflow.get("description"):
        shown["description"] = workflow["description"]
    return shown


def graph(workflow: Workflow) -> list[Json]:
    """Each node with the sources of its input and the targets of its output."""
    inputs: dict[str, list[str]] = {}
    outputs: dict[str, list[str]] = {}
    for source, kind, output, target in each_connection(workflow.get("connections") or {}):
        outputs.setdefault(source, []).append(_end(target["node"], kind, output))
        inputs.setdefault(target["node"], []).append(_end(source, kind, int(target.get("index", 0))))
    return [_vertex(node, inputs, outputs) for node in workflow.get("nodes") or []]


def report(result: Report, *, raw: bool) -> Json:
    rest: Json = {"steps": [str(step) for step in result.steps]}
    if result.changed:
        rest["changed"] = result.changed
    if result.notes:
        rest["notes"] = [str(note) for note in result.notes]
    return {"workflow": result.workflow, **rest} if raw else head(result.workflow) | rest


def _vertex(node: Node, inputs: dict[str, list[str]], outputs: dict[str, list[str]]) -> Json:
    shown: dict[str, Any] = {"node": node["name"], "id": node.get("id"), "type": short_type(node["type"])}
    shown["inputs"] = inputs.get(node["name"], [])
    shown["outputs"] = outputs.get(node["name"], [])
    return shown


def _end(name: str, kind: str, number: int) -> str:
    """`B`, `B [1]` for a port other than the first, `B (ai_tool)` for a type other than main."""
    kind = "" if kind == "main" else f" ({kind})"
    return f"{name}{kind}{f' [{number}]' if number else ''}"
