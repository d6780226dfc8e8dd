"""`delete_workflow`."""

from chie.n8n.arguments import Arguments, WorkflowId
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

    async def execute(self, args: DeleteWorkflowArguments) -> Json:
        done = await self.context.deleter.delete(args.id)
        return {
            "id": args.id,
            "name": done.workflow["name"],
            "deleted": True,
            "steps": [str(step) for step in done.steps],
        }
