"""`list_backups`."""

from itertools import islice

from starlette.concurrency import run_in_threadpool

from chie.n8n.arguments import Arguments, Limit, WorkflowId
from chie.n8n.models import Json
from chie.n8n.tool import BaseTool


class ListBackupsArguments(Arguments):
    id: WorkflowId | None = None
    limit: Limit = 20


class ListBackupsTool(BaseTool[ListBackupsArguments]):
    name = "list_backups"
    description = (
        "List the backups that were written before workflows were changed or deleted here, newest first. "
        "restore_workflow takes one back."
    )
    arguments = ListBackupsArguments

    async def execute(self, args: ListBackupsArguments) -> Json:
        found = await run_in_threadpool(lambda: list(islice(self.context.backups.list(args.id), args.limit + 1)))
        rows = [backup.shown() for backup in found[: args.limit]]
        return {"count": len(rows), "backups": rows, "hasMore": len(found) > args.limit}
