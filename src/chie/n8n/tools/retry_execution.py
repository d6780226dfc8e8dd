"""`retry_execution`."""

from pydantic import Field

from chie.n8n import execution_summary
from chie.n8n.arguments import Arguments, ExecutionId
from chie.n8n.models import Json
from chie.n8n.tool import CHANGE_EACH_TIME, BaseTool


class RetryExecutionArguments(Arguments):
    id: ExecutionId
    load_workflow: bool = Field(
        default=True, description="true: use the current workflow; false: the version that failed."
    )


class RetryExecutionTool(BaseTool[RetryExecutionArguments]):
    name = "retry_execution"
    description = (
        "Retry a failed execution from the failed node. It has the side effects of the workflow, such as sending "
        "messages or writing data."
    )
    annotations = CHANGE_EACH_TIME
    arguments = RetryExecutionArguments

    async def execute(self, args: RetryExecutionArguments) -> Json:
        retried = await self.context.client.retry_execution(args.id, load_workflow=args.load_workflow)
        return {"retryOf": args.id, **execution_summary.row(retried)}
