"""`get_workflow`."""

from dataclasses import dataclass

from pydantic import Field

from chie.messages.catalogue import Message
from chie.n8n.arguments import NodeName, RawArguments, WorkflowId
from chie.n8n.errors import NotFoundError
from chie.n8n.graph import quoted_names
from chie.n8n.models import Json, Workflow
from chie.n8n.tool import RawTool
from chie.n8n.workflow_summary import graph, overview


class GetWorkflowArguments(RawArguments):
    id: WorkflowId
    node_name: NodeName | None = Field(default=None, description="Name or id.")


@dataclass(frozen=True)
class Requested:
    workflow: Workflow
    node: str | None


class GetWorkflowTool(RawTool[GetWorkflowArguments]):
    name = "get_workflow"
    description = (
        "Read one workflow: state, tags, nodes by name and type. nodeName returns one node with its parameters; "
        "raw=true everything, which update_workflow accepts."
    )
    arguments = GetWorkflowArguments
    truncation_advice = Message("n8n.truncation_advice_workflow")

    async def execute_core(self, args: GetWorkflowArguments) -> Requested:
        return Requested(await self.context.client.get_workflow(args.id), args.node_name)

    def format_response(self, data: Requested, *, raw: bool) -> Json:
        if data.node is not None:
            return _one_node(data.workflow, data.node)
        return data.workflow if raw else overview(data.workflow)


def _one_node(workflow: Workflow, name: str) -> Json:
    nodes = workflow.get("nodes") or []
    for node, vertex in zip(nodes, graph(workflow), strict=True):
        if name in (node.get("name"), node.get("id")):
            links = {"inputs": vertex["inputs"], "outputs": vertex["outputs"]}
            return {"workflowId": workflow["id"], "versionId": workflow.get("versionId"), "node": node, **links}
    raise NotFoundError("n8n.node_not_found", nodes=quoted_names(nodes))
