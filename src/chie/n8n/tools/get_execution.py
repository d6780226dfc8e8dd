"""`get_execution`."""

from dataclasses import dataclass

from pydantic import Field

from chie.messages.catalogue import Message
from chie.n8n import execution_summary
from chie.n8n.arguments import ExecutionId, NodeName, RawArguments
from chie.n8n.models import Execution, Json
from chie.n8n.tool import RawTool


class GetExecutionArguments(RawArguments):
    id: ExecutionId
    include_data: bool = False
    node_name: NodeName | None = None
    item_limit: int = Field(default=5, ge=0, le=1000, description="Per output.")


@dataclass(frozen=True)
class Requested:
    execution: Execution
    args: GetExecutionArguments


class GetExecutionTool(RawTool[GetExecutionArguments]):
    name = "get_execution"
    description = (
        "Read one execution: the failed node with its error, item and expressions; runs, items and time of each "
        "node. nodeName returns the items of one node, includeData the first items of all."
    )
    arguments = GetExecutionArguments
    truncation_advice = Message("n8n.truncation_advice_execution")

    async def execute_core(self, args: GetExecutionArguments) -> Requested:
        return Requested(await self.context.client.get_execution(args.id, include_data=True), args)

    def format_response(self, data: Requested, *, raw: bool) -> Json:
        execution, args = data.execution, data.args
        if raw:
            return execution
        if args.node_name is not None:
            node = execution_summary.node_runs(execution, args.node_name, args.item_limit)
            return execution_summary.row(execution) | node
        shown = execution_summary.summary(execution)
        if args.include_data:
            shown["data"] = execution_summary.items_of(execution, args.item_limit)
        return shown
