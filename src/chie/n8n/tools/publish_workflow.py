"""`publish_workflow`."""

from chie.mcp_kit.approval import CallPreview
from chie.messages.catalogue import Message
from chie.n8n.arguments import Arguments, WorkflowId
from chie.n8n.change_preview import named_preview
from chie.n8n.models import Json
from chie.n8n.tool import CHANGE, BaseTool
from chie.n8n.workflow_summary import report


class PublishWorkflowArguments(Arguments):
    id: WorkflowId


class PublishWorkflowTool(BaseTool[PublishWorkflowArguments]):
    name = "publish_workflow"
    description = (
        "Publish the stored version of a workflow: triggers and webhooks become active. It requires a trigger "
        "other than the manual one."
    )
    annotations = CHANGE
    arguments = PublishWorkflowArguments

    async def preview(self, args: PublishWorkflowArguments) -> CallPreview:
        consequence = [Message("n8n.preview_publishes")]
        return await named_preview(self.context.client, args.id, "n8n.preview_publish", notes=consequence)

    async def execute(self, args: PublishWorkflowArguments) -> Json:
        return report(await self.context.saver.publish(args.id, active=True), raw=False)
