"""`list_backups`."""

from itertools import islice

from starlette.concurrency import run_in_threadpool

from chie.n8n.arguments import Arguments, Limit, PageCursor, WorkflowId
from chie.n8n.backups import Backup
from chie.n8n.models import Json
from chie.n8n.tool import BaseTool


class ListBackupsArguments(Arguments):
    id: WorkflowId | None = None
    limit: Limit = 20
    cursor: PageCursor | None = None


class ListBackupsTool(BaseTool[ListBackupsArguments]):
    name = "list_backups"
    description = "List the backups written before changes and deletions here, newest first."
    arguments = ListBackupsArguments

    async def execute(self, args: ListBackupsArguments) -> Json:
        found = await run_in_threadpool(self._read, args)
        rows = [backup.as_json() for backup in found[: args.limit]]
        more = len(found) > args.limit
        return {
            "count": len(rows),
            "backups": rows,
            "nextCursor": rows[-1]["backup"] if more else None,
            "hasMore": more,
        }

    def _read(self, args: ListBackupsArguments) -> list[Backup]:
        """One more than the limit, to know whether there are more."""
        return list(islice(self.context.backups.list(args.id, after=args.cursor), args.limit + 1))
