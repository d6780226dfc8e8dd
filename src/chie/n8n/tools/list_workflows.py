"""`list_workflows`."""

from collections.abc import Mapping

from pydantic import Field

from chie.n8n.arguments import Limit, PageCursor, RawArguments, Tags
from chie.n8n.models import Json, Page
from chie.n8n.paging import RESERVED_SIZE, Listing, read_page
from chie.n8n.tool import RawTool
from chie.n8n.workflow_summary import row


class ListWorkflowsArguments(RawArguments):
    active: bool | None = Field(default=None, description="Only published, or only unpublished.")
    tags: Tags | None = Field(default=None, description="All of them.")
    name: str | None = Field(default=None, description="Part of the name.")
    project_id: str | None = Field(default=None)
    limit: Limit = 50
    offset: int = Field(default=0, ge=0)
    cursor: PageCursor | None = None

    def filters(self) -> dict[str, str]:
        given = {
            "active": None if self.active is None else str(self.active).lower(),
            "tags": ",".join(self.tags or []),
            "name": self.name,
            "projectId": self.project_id,
        }
        return {name: value for name, value in given.items() if value}


class ListWorkflowsTool(RawTool[ListWorkflowsArguments]):
    name = "list_workflows"
    description = (
        "List workflows: id, name, active, tags; sorted by id. While hasMore is true, call again with cursor = "
        "nextCursor."
    )
    arguments = ListWorkflowsArguments

    async def execute_core(self, args: ListWorkflowsArguments) -> Listing:
        async def fetch(query: Mapping[str, str]) -> Page:
            return await self.context.client.list_workflows(
                query if args.raw else {**query, "excludePinnedData": "true"}
            )

        return await read_page(
            fetch,
            (lambda workflow: workflow) if args.raw else row,
            filters=args.filters(),
            limit=args.limit,
            offset=args.offset,
            cursor=args.cursor,
            max_size=self.context.max_chars - RESERVED_SIZE,
        )

    def format_response(self, data: Listing, *, raw: bool) -> Json:  # noqa: ARG002 - used while reading
        return data.result("workflows")
