"""`restore_workflow`."""

from pydantic import Field

from chie.mcp_kit.approval import CallPreview, shown_name
from chie.messages.catalogue import Message
from chie.n8n.arguments import RawArguments
from chie.n8n.backup_diff import restore_change
from chie.n8n.backups import backup_time
from chie.n8n.change_preview import change_preview
from chie.n8n.errors import NotFoundError
from chie.n8n.models import WRITABLE, Json, Workflow, tag_names
from chie.n8n.saving import Report
from chie.n8n.tool import CHANGE_EACH_TIME, RawTool
from chie.n8n.workflow_summary import report


class RestoreWorkflowArguments(RawArguments):
    backup: str = Field(description="From list_backups.")


class RestoreWorkflowTool(RawTool[RestoreWorkflowArguments]):
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

    def format_response(self, data: Report, *, raw: bool) -> Json:
        return report(data, raw=raw)

    async def _recreate(self, old: Workflow) -> Report:
        fields = {key: old[key] for key in WRITABLE if old.get(key) is not None}
        result = await self.context.saver.create(fields, active=None, tag_list=tag_names(old))
        result.notes.append(Message("n8n.workflow_recreated"))
        return result
