"""`get_workflow_connections`."""

from chie.n8n.arguments import RawArguments, WorkflowId
from chie.n8n.mermaid import draw
from chie.n8n.models import Json, Workflow
from chie.n8n.summaries import graph
from chie.n8n.tool import RawTool, ToolResponse

GRAPH_VIEW = "ui://n8n/workflow.html"


class GetWorkflowConnectionsArguments(RawArguments):
    id: WorkflowId


class GetWorkflowConnectionsTool(RawTool[GetWorkflowConnectionsArguments]):
    name = "get_workflow_connections"
    description = (
        "The graph of one workflow: for each node where its input comes from and where its output goes, and the "
        "same as a Mermaid flowchart. raw=true adds the connections as n8n stores them."
    )
    arguments = GetWorkflowConnectionsArguments
    view = GRAPH_VIEW

    async def execute_core(self, args: GetWorkflowConnectionsArguments) -> Workflow:
        return await self.context.client.get_workflow(args.id)

    def format_response(self, data: Workflow, *, raw: bool) -> Json:
        shown: Json = {"id": data["id"], "name": data["name"], "graph": graph(data)}
        if raw:
            shown["rawConnections"] = data.get("connections")
        return shown | {"mermaid": draw(data)}

    def respond(self, result: object) -> ToolResponse:
        """The picture is a block of its own, as clients that draw it expect."""
        rest = dict(result) if isinstance(result, dict) else {}
        picture = rest.pop("mermaid", "")
        response = super().respond(rest)
        if len(picture) <= self.context.max_chars:
            response["content"].append({"type": "text", "text": f"```mermaid\n{picture}\n```"})
        return response
