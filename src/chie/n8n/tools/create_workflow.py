"""`create_workflow`."""

from pydantic import Field

from chie.mcp_kit.approval import CallPreview, shown_name
from chie.messages.catalogue import Message
from chie.n8n.arguments import Connections, JsonObject, Nodes, RawArguments, Settings, Tags, WorkflowName
from chie.n8n.models import Json
from chie.n8n.saving import Report
from chie.n8n.tool import CHANGE_EACH_TIME, RawTool
from chie.n8n.validation import reject_truncated
from chie.n8n.workflow_summary import report


class CreateWorkflowArguments(RawArguments):
    name: WorkflowName
    nodes: Nodes
    connections: Connections
    settings: Settings | None = None
    pin_data: JsonObject | None = Field(default=None, description="Test data by node name.")
    active: bool | None = Field(default=None, description="true: publish it, which requires a trigger.")
    tags: Tags | None = None


class CreateWorkflowTool(RawTool[CreateWorkflowArguments]):
    name = "create_workflow"
    description = (
        "Create a workflow. It is validated first; missing tags are created; it stays unpublished unless active is "
        "true."
    )
    annotations = CHANGE_EACH_TIME
    destructive_arguments = ("active",)  # a published workflow runs
    arguments = CreateWorkflowArguments

    async def execute_core(self, args: CreateWorkflowArguments) -> Report:
        fields = {
            "name": args.name,
            "nodes": args.nodes,
            "connections": args.connections,
            "settings": args.settings or {},
            "pinData": args.pin_data,
        }
        reject_truncated({**fields, "tags": args.tags})
        return await self.context.saver.create(fields, active=args.active, tag_list=args.tags)

    async def preview(self, args: CreateWorkflowArguments) -> CallPreview:
        summary = Message("n8n.preview_create", name=shown_name(args.name), count=len(args.nodes))
        return CallPreview(summary, "add", [Message("n8n.preview_publishes")] if args.active else [])

    def format_response(self, data: Report, *, raw: bool) -> Json:
        return report(data, raw=raw)
