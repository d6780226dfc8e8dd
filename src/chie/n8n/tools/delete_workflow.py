"""`delete_workflow`."""

from chie.mcp_kit.approval import CallPreview
from chie.messages.catalogue import Message
from chie.n8n.arguments import Arguments, WorkflowId
from chie.n8n.change_preview import named_preview
from chie.n8n.models import Json
from chie.n8n.tool import CHANGE, BaseTool


class DeleteWorkflowArguments(Arguments):
    id: WorkflowId


class DeleteWorkflowTool(BaseTool[DeleteWorkflowArguments]):
    name = "delete_workflow"
    description = (
        "Delete a workflow and its executions. A backup is written first; the executions are lost. Ask the user "
        "first unless they named it."
    )
    annotations = CHANGE
    arguments = DeleteWorkflowArguments

    async def preview(self, args: DeleteWorkflowArguments) -> CallPreview:
        lost = [Message("n8n.preview_deletion_note")]
        return await named_preview(self.context.client, args.id, "n8n.preview_delete", danger="delete", notes=lost)

    async def execute(self, args: DeleteWorkflowArguments) -> Json:
        done = await self.context.deleter.delete(args.id)
        return {
            "id": args.id,
            "name": done.workflow["name"],
            "deleted": True,
            "steps": [str(step) for step in done.steps],
        }
