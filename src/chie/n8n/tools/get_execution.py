"""`get_execution`."""

from dataclasses import dataclass

from pydantic import Field

from chie.n8n import executions
from chie.n8n.arguments import ExecutionId, NodeName, RawArguments
from chie.n8n.models import Execution, Json
from chie.n8n.tool import RawTool


class GetExecutionArguments(RawArguments):
    id: ExecutionId
    include_data: bool = Field(default=False, description="true: also the first items that every node put out.")
    node_name: NodeName | None = Field(default=None, description="Only this node's runs, with their items and error.")
    item_limit: int = Field(default=5, ge=0, le=1000, description="How many items of each output.")


@dataclass(frozen=True)
class Found:
    execution: Execution
    args: GetExecutionArguments


class GetExecutionTool(RawTool[GetExecutionArguments]):
    name = "get_execution"
    description = (
        "What happened in one execution: status, duration, the failing node with its message, and runs, items and "
        "time of each node. nodeName shows the items of one node; includeData the first items of all. raw=true "
        "gives everything that n8n stored, which may be very long."
    )
    arguments = GetExecutionArguments
    when_cut = "Give nodeName to see one node, and itemLimit for how many items."

    async def execute_core(self, args: GetExecutionArguments) -> Found:
        return Found(await self.context.client.get_execution(args.id, include_data=True), args)

    def format_response(self, data: Found, *, raw: bool) -> Json:
        execution, args = data.execution, data.args
        if raw:
            return execution
        if args.node_name is not None:
            node = executions.node_runs(execution, args.node_name, args.item_limit)
            return executions.row(execution) | node
        shown = executions.summary(execution)
        if args.include_data:
            shown["data"] = executions.items_of(execution, args.item_limit)
        return shown
