"""Whether a workflow was changed since one of its executions."""

from chie.errors import ChieError
from chie.n8n.backup_diff import compare
from chie.n8n.client import N8nApiClient
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
    version = execution.get("workflowVersionId")
    if version is not None and version == now.get("versionId"):
        return {"workflowChanged": False}
    known = {key: value for key, value in now.items() if key in then}  # an execution has not all of a workflow
    difference = compare(then, known)
    if difference.is_none:
        return {"workflowChanged": False}
    nodes = [*difference.changed, *difference.added, *difference.removed][:MAX_NAMED_NODES]
    return {"workflowChanged": True} | ({"changedNodes": nodes} if nodes else {})
