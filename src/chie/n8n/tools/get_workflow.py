"""`get_workflow`."""

from dataclasses import dataclass

from pydantic import Field

from chie.n8n.arguments import NodeName, RawArguments, WorkflowId
from chie.n8n.errors import NotFoundError
from chie.n8n.models import Json, Workflow
from chie.n8n.structure import named
from chie.n8n.summaries import graph, overview, whole
from chie.n8n.tool import RawTool


class GetWorkflowArguments(RawArguments):
    id: WorkflowId
    node_name: NodeName | None = Field(default=None, description="Only this node, whole: a name or an id.")


@dataclass(frozen=True)
class Found:
    workflow: Workflow
    node: str | None


class GetWorkflowTool(RawTool[GetWorkflowArguments]):
    name = "get_workflow"
    description = (
        "Read one workflow: state, tags and its nodes by name and kind. nodeName gives one node with all its "
        "parameters. raw=true gives everything, and may be changed and passed to update_workflow as it is."
    )
    arguments = GetWorkflowArguments
    when_cut = (
        "This is not the whole workflow: do not save it. Read single nodes with nodeName, and change it with "
        "patch_workflow, which needs no whole copy."
    )

    async def execute_core(self, args: GetWorkflowArguments) -> Found:
        return Found(await self.context.client.get_workflow(args.id), args.node_name)

    def format_response(self, data: Found, *, raw: bool) -> Json:
        if data.node is not None:
            return _one_node(data.workflow, data.node)
        return whole(data.workflow) if raw else overview(data.workflow)


def _one_node(workflow: Workflow, name: str) -> Json:
    nodes = workflow.get("nodes") or []
    for node, vertex in zip(nodes, graph(workflow), strict=True):
        if name in (node.get("name"), node.get("id")):
            links = {"inputs": vertex["inputs"], "outputs": vertex["outputs"]}
            return {"workflowId": workflow["id"], "versionId": workflow.get("versionId"), "node": node, **links}
    names = ", ".join(named(node["name"]) for node in nodes[:60])
    raise NotFoundError(f"No node of this workflow has this name or id. The names are {names}.")
