"""`list_executions`."""

from typing import Literal

from chie.n8n import execution_summary
from chie.n8n.arguments import Limit, PageCursor, RawArguments, WorkflowId
from chie.n8n.models import Json
from chie.n8n.paging import RESERVED_SIZE, Listing, read_page
from chie.n8n.tool import RawTool

Status = Literal["canceled", "crashed", "error", "new", "running", "success", "unknown", "waiting"]


class ListExecutionsArguments(RawArguments):
    workflow_id: WorkflowId | None = None
    status: Status | None = None
    project_id: str | None = None
    limit: Limit = 20
    cursor: PageCursor | None = None

    def filters(self) -> dict[str, str]:
        given = {"workflowId": self.workflow_id, "status": self.status, "projectId": self.project_id}
        return {name: value for name, value in given.items() if value}


class ListExecutionsTool(RawTool[ListExecutionsArguments]):
    name = "list_executions"
    description = (
        "List executions, newest first: id, workflow, status, start, duration. Running ones only with "
        "status=running. While hasMore is true, call again with cursor = nextCursor."
    )
    arguments = ListExecutionsArguments

    async def execute_core(self, args: ListExecutionsArguments) -> Listing:
        return await read_page(
            self.context.client.list_executions,
            (lambda execution: execution) if args.raw else execution_summary.row,
            filters=args.filters(),
            limit=args.limit,
            cursor=args.cursor,
            max_size=self.context.max_chars - RESERVED_SIZE,
        )

    def format_response(self, data: Listing, *, raw: bool) -> Json:  # noqa: ARG002 - used while reading
        return data.result("executions")
