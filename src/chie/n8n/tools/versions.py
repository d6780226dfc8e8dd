"""The tools for versions and backups of workflows."""

from dataclasses import asdict
from itertools import islice

from pydantic import Field
from starlette.concurrency import run_in_threadpool

from chie.mcp_kit.approval import CallPreview, shown_name
from chie.messages.catalogue import Message
from chie.n8n.arguments import Arguments, Limit, PageCursor, RawArguments, WorkflowId
from chie.n8n.backup_diff import restore_change
from chie.n8n.backups import Backup, backup_time
from chie.n8n.change_preview import change_preview
from chie.n8n.errors import NotFoundError
from chie.n8n.folder.comparison import changed_paths
from chie.n8n.models import WRITABLE, Json, Workflow, tag_names
from chie.n8n.saving import RESTORE, Report
from chie.n8n.tool import CHANGE, CHANGE_EACH_TIME, BaseTool, SavingTool
from chie.n8n.versions import CURRENT


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


class CompareVersionsArguments(Arguments):
    id: WorkflowId
    from_version: str = Field(alias="from", min_length=1, max_length=200, description="From list_versions.")
    to_version: str = Field(default=CURRENT, alias="to", min_length=1, max_length=200)


class CompareVersionsTool(BaseTool[CompareVersionsArguments]):
    name = "compare_versions"
    description = "Show what changed between two versions: nodes with the paths of their values, connections, settings."
    arguments = CompareVersionsArguments

    async def execute(self, args: CompareVersionsArguments) -> Json:
        difference, old, new = await self.context.versions.compare(args.id, args.from_version, args.to_version)
        found = {key: value for key, value in asdict(difference).items() if value}
        found |= {"changed": dict(changed_paths(old, new, difference))} if difference.changed else {}
        return {"from": args.from_version, "to": args.to_version, "same": difference.is_none, **found}


class RestoreVersionArguments(RawArguments):
    id: WorkflowId
    version: str = Field(min_length=1, max_length=200, description="From list_versions.")


class RestoreVersionTool(SavingTool[RestoreVersionArguments]):
    name = "restore_version"
    description = (
        "Restore a version, after a backup of the current state: nodes and connections; from a backup also name, "
        "settings and tags. A published workflow is live at once."
    )
    annotations = CHANGE
    arguments = RestoreVersionArguments

    async def execute_core(self, args: RestoreVersionArguments) -> Report:
        restoration = await self.context.versions.restoration(args.id, args.version)
        return await self.context.saver.change(args.id, restoration.change, reason=RESTORE)

    async def preview(self, args: RestoreVersionArguments) -> CallPreview:
        restoration = await self.context.versions.restoration(args.id, args.version)
        moment = backup_time(args.version) or restoration.version.get("createdAt")
        return await change_preview(
            self.context.client, args.id, restoration.change, code="n8n.preview_restore", moment=moment
        )


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


class RestoreWorkflowArguments(RawArguments):
    backup: str = Field(description="From list_backups.")


class RestoreWorkflowTool(SavingTool[RestoreWorkflowArguments]):
    name = "restore_workflow"
    description = (
        "Restore a workflow from a backup, after a backup of the current state. A deleted workflow is created "
        "again, with a new id and unpublished."
    )
    annotations = CHANGE_EACH_TIME  # a deleted workflow is created by every call
    arguments = RestoreWorkflowArguments

    async def execute_core(self, args: RestoreWorkflowArguments) -> Report:
        old = self.context.backups.read(args.backup)
        try:
            await self.context.client.get_workflow(str(old["id"]))
        except NotFoundError:
            return await self._recreate(old)
        return await self.context.saver.change(str(old["id"]), lambda now: restore_change(now, old), reason="restore")

    async def preview(self, args: RestoreWorkflowArguments) -> CallPreview:
        old, moment = self.context.backups.read(args.backup), backup_time(args.backup)
        try:
            await self.context.client.get_workflow(str(old["id"]))
        except NotFoundError:
            summary = Message("n8n.preview_recreate", name=shown_name(old.get("name")))
            return CallPreview(summary, "add", moment=moment)
        return await change_preview(
            self.context.client,
            str(old["id"]),
            lambda now: restore_change(now, old),
            code="n8n.preview_restore",
            moment=moment,
        )

    async def _recreate(self, old: Workflow) -> Report:
        fields = {key: old[key] for key in WRITABLE if old.get(key) is not None}
        result = await self.context.saver.create(fields, active=None, tag_list=tag_names(old))
        result.notes.append(Message("n8n.workflow_recreated"))
        return result
