"""`unpublish_workflow`."""

from chie.n8n.arguments import Arguments, WorkflowId
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

    async def execute(self, args: UnpublishWorkflowArguments) -> Json:
        return report(await self.context.saver.publish(args.id, active=False), raw=False)
