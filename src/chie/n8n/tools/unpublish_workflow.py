"""`unpublish_workflow`."""

from chie.mcp_kit.approval import CallPreview
from chie.messages.catalogue import Message
from chie.n8n.arguments import Arguments, WorkflowId
from chie.n8n.change_preview import named_preview
from chie.n8n.models import Json
from chie.n8n.tool import CHANGE, BaseTool
from chie.n8n.workflow_summary import report


class UnpublishWorkflowArguments(Arguments):
    id: WorkflowId


class UnpublishWorkflowTool(BaseTool[UnpublishWorkflowArguments]):
    name = "unpublish_workflow"
    description = "Unpublish a workflow: its triggers and webhooks stop. The workflow itself is unchanged."
    annotations = CHANGE
    arguments = UnpublishWorkflowArguments

    async def preview(self, args: UnpublishWorkflowArguments) -> CallPreview:
        consequence = [Message("n8n.preview_unpublishes")]
        return await named_preview(self.context.client, args.id, "n8n.preview_unpublish", notes=consequence)

    async def execute(self, args: UnpublishWorkflowArguments) -> Json:
        return report(await self.context.saver.publish(args.id, active=False), raw=False)
