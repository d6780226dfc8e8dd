"""Whether a workflow was changed since one of its executions."""

from typing import Any

from chie.errors import ChieError
from chie.n8n.client import N8nApiClient
from chie.n8n.graph import each_connection
from chie.n8n.models import Execution, Json, Workflow

MAX_NAMED_NODES = 20


async def read_changes(client: N8nApiClient, execution: Execution) -> Json:
    """`workflowChanged`, with the nodes concerned; empty if n8n does not say which workflow ran, or has it no more."""
    then = execution.get("workflowData")
    if not isinstance(then, dict):
        return {}
    try:
        now = await client.get_workflow(str(execution.get("workflowId")))
    except ChieError:
        return {}
    return changes_since(execution, then, now)


def changes_since(execution: Execution, then: Workflow, now: Workflow) -> Json:
    """Decided by n8n's version id. Versions of n8n without one are compared by content."""
    version, nodes = execution.get("workflowVersionId"), _changed_nodes(then, now)
    changed = version != now.get("versionId") if version else bool(nodes) or _links(then) != _links(now)
    if not changed:
        return {"workflowChanged": False}
    return {"workflowChanged": True} | ({"changedNodes": nodes[:MAX_NAMED_NODES]} if nodes else {})


def _changed_nodes(then: Workflow, now: Workflow) -> list[str]:
    before, after = _nodes(then), _nodes(now)
    changed = [name for name, node in after.items() if name not in before or not _includes(before[name], node)]
    return [*changed, *(name for name in before if name not in after)]


def _includes(then: Any, now: Any) -> bool:  # noqa: ANN401
    """Whether everything set now was set then: executions have the defaults of all parameters in addition."""
    if isinstance(then, dict) and isinstance(now, dict):
        return all(key in then and _includes(then[key], value) for key, value in now.items())
    return bool(then == now)


def _nodes(workflow: Workflow) -> dict[str, Json]:
    """By name, without the position, which has no effect."""
    nodes = workflow.get("nodes") or []
    return {node["name"]: {key: node[key] for key in node if key != "position"} for node in nodes if "name" in node}


def _links(workflow: Workflow) -> list[Any]:
    return list(each_connection(workflow.get("connections") or {}))
