"""`retry_execution`."""

from pydantic import Field

from chie.n8n import executions
from chie.n8n.arguments import Arguments, ExecutionId
from chie.n8n.models import Json
from chie.n8n.tool import ADD, BaseTool


class RetryExecutionArguments(Arguments):
    id: ExecutionId
    load_workflow: bool = Field(
        default=True, description="true: with the workflow as it is now; false: as it was when it failed."
    )


class RetryExecutionTool(BaseTool[RetryExecutionArguments]):
    name = "retry_execution"
    description = (
        "Run a failed execution again, from the node that failed. This does what the workflow does: it may send "
        "messages or write data."
    )
    annotations = ADD
    arguments = RetryExecutionArguments

    async def execute(self, args: RetryExecutionArguments) -> Json:
        retried = await self.context.client.retry_execution(args.id, load_workflow=args.load_workflow)
        return {"retryOf": args.id, **executions.row(retried)}
