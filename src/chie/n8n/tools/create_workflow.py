"""`create_workflow`."""

from pydantic import Field

from chie.n8n.arguments import Connections, JsonObject, Nodes, RawArguments, Settings, Tags, WorkflowName
from chie.n8n.models import Json
from chie.n8n.saving import Report
from chie.n8n.structure import refuse_cut
from chie.n8n.summaries import report
from chie.n8n.tool import ADD, RawTool


class CreateWorkflowArguments(RawArguments):
    name: WorkflowName
    nodes: Nodes
    connections: Connections
    settings: Settings | None = None
    pin_data: JsonObject | None = Field(default=None, description="Test data by node name.")
    active: bool | None = Field(default=None, description="true: publish it, which needs a trigger.")
    tags: Tags | None = None


class CreateWorkflowTool(RawTool[CreateWorkflowArguments]):
    name = "create_workflow"
    description = (
        "Create a workflow. Its structure is checked first; tags are made if they do not exist; it stays unpublished "
        "unless active is true. The answer says step by step what was done."
    )
    annotations = ADD
    arguments = CreateWorkflowArguments

    async def execute_core(self, args: CreateWorkflowArguments) -> Report:
        fields = {
            "name": args.name,
            "nodes": args.nodes,
            "connections": args.connections,
            "settings": args.settings or {},
            "pinData": args.pin_data,
        }
        refuse_cut({**fields, "tags": args.tags})
        return await self.context.saver.create(fields, active=args.active, tag_list=args.tags)

    def format_response(self, data: Report, *, raw: bool) -> Json:
        return report(data, raw=raw)
