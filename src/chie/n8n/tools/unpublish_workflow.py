"""`unpublish_workflow`."""

from chie.n8n.arguments import Arguments, WorkflowId
from chie.n8n.models import Json
from chie.n8n.summaries import report
from chie.n8n.tool import CHANGE, BaseTool


class UnpublishWorkflowArguments(Arguments):
    id: WorkflowId


class UnpublishWorkflowTool(BaseTool[UnpublishWorkflowArguments]):
    name = "unpublish_workflow"
    description = "Take a workflow out of work: its triggers and webhooks stop. The workflow itself stays as it is."
    annotations = CHANGE
    arguments = UnpublishWorkflowArguments

    async def execute(self, args: UnpublishWorkflowArguments) -> Json:
        return report(await self.context.saver.publish(args.id, active=False), raw=False)
