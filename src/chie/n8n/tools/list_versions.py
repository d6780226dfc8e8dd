"""`list_versions`."""

from chie.n8n.arguments import Arguments, Limit, WorkflowId
from chie.n8n.models import Json
from chie.n8n.tool import BaseTool


class ListVersionsArguments(Arguments):
    id: WorkflowId
    limit: Limit = 20


class ListVersionsTool(BaseTool[ListVersionsArguments]):
    name = "list_versions"
    description = "List the versions of a workflow, newest first: n8n's own history and the backups written here."
    arguments = ListVersionsArguments

    async def execute(self, args: ListVersionsArguments) -> Json:
        found = await self.context.versions.list(args.id, args.limit)
        shown: Json = {"count": len(found.rows), "versions": found.rows}
        return {**shown, "note": str(found.note)} if found.note else shown
