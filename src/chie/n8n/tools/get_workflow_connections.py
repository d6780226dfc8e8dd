"""`get_workflow_connections`."""

from chie.n8n.arguments import RawArguments, WorkflowId
from chie.n8n.mermaid import draw
from chie.n8n.models import Json, Workflow
from chie.n8n.tool import RawTool, ToolResponse
from chie.n8n.workflow_summary import graph

GRAPH_VIEW = "ui://n8n/workflow.html"


class GetWorkflowConnectionsArguments(RawArguments):
    id: WorkflowId


class GetWorkflowConnectionsTool(RawTool[GetWorkflowConnectionsArguments]):
    name = "get_workflow_connections"
    description = "Read the graph of a workflow: inputs and outputs of each node, and a Mermaid flowchart."
    arguments = GetWorkflowConnectionsArguments
    view = GRAPH_VIEW

    async def execute_core(self, args: GetWorkflowConnectionsArguments) -> Workflow:
        return await self.context.client.get_workflow(args.id)

    def format_response(self, data: Workflow, *, raw: bool) -> Json:
        shown: Json = {"id": data["id"], "name": data["name"], "graph": graph(data)}
        if raw:
            shown["rawConnections"] = data.get("connections")
        return shown | {"mermaid": draw(data)}

    def respond(self, result: object, *, whole: bool) -> ToolResponse:
        """The flowchart is a content block of its own, as clients that render Mermaid expect."""
        rest = dict(result) if isinstance(result, dict) else {}
        flowchart = rest.pop("mermaid", "")
        response = super().respond(rest, whole=whole)
        if whole or len(flowchart) <= self.context.max_chars:
            response["content"].append({"type": "text", "text": f"```mermaid\n{flowchart}\n```"})
        return response
