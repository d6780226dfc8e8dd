"""`publish_workflow`."""

from chie.n8n.arguments import Arguments, WorkflowId
from chie.n8n.models import Json
from chie.n8n.summaries import report
from chie.n8n.tool import CHANGE, BaseTool


class PublishWorkflowArguments(Arguments):
    id: WorkflowId


class PublishWorkflowTool(BaseTool[PublishWorkflowArguments]):
    name = "publish_workflow"
    description = (
        "Make the stored version of a workflow the live one: its triggers and webhooks start to work, within about "
        "a second. It needs a trigger other than the manual one."
    )
    annotations = CHANGE
    arguments = PublishWorkflowArguments

    async def execute(self, args: PublishWorkflowArguments) -> Json:
        return report(await self.context.saver.publish(args.id, active=True), raw=False)
