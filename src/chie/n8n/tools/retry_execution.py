"""`retry_execution`."""

from pydantic import Field

from chie.mcp_kit.approval import CallPreview, shown_name
from chie.messages.catalogue import Message
from chie.n8n import execution_summary
from chie.n8n.arguments import Arguments, ExecutionId
from chie.n8n.change_preview import read_workflow
from chie.n8n.models import Json
from chie.n8n.tool import CHANGE_EACH_TIME, BaseTool
from chie.n8n.workflow_changes import read_changes


class RetryExecutionArguments(Arguments):
    id: ExecutionId
    load_workflow: bool = Field(
        default=True, description="true: use the current workflow; false: the version that failed."
    )


class RetryExecutionTool(BaseTool[RetryExecutionArguments]):
    name = "retry_execution"
    description = (
        "Retry a failed execution from the failed node, with its side effects, such as sending messages. Says "
        "whether the workflow was changed since."
    )
    annotations = CHANGE_EACH_TIME
    arguments = RetryExecutionArguments

    async def preview(self, args: RetryExecutionArguments) -> CallPreview:
        failed = await self.context.client.get_execution(args.id, include_data=False)
        workflow_id = str(failed.get("workflowId"))
        stored = await read_workflow(self.context.client, workflow_id)
        name = shown_name(stored.get("name") if stored else workflow_id)
        summary = Message("n8n.preview_retry", id=shown_name(args.id), name=name)
        moment = failed.get("startedAt")
        return CallPreview(summary, "change", [Message("n8n.preview_retry_note")], moment=moment)

    async def execute(self, args: RetryExecutionArguments) -> Json:
        failed = await self.context.client.get_execution(args.id, include_data=True)
        changes = await read_changes(self.context.client, failed)
        retried = await self.context.client.retry_execution(args.id, load_workflow=args.load_workflow)
        return {"retryOf": args.id, **execution_summary.row(retried), **changes, **_note(changes, args)}


def _note(changes: Json, args: RetryExecutionArguments) -> Json:
    if "workflowChanged" not in changes:
        return {}
    if not changes["workflowChanged"]:
        return {"note": str(Message("n8n.retried_unchanged"))}
    code = "n8n.retried_with_changes" if args.load_workflow else "n8n.retried_without_changes"
    return {"note": str(Message(code))}
