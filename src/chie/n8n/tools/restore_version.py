"""`restore_version`."""

from pydantic import Field

from chie.mcp_kit.approval import CallPreview
from chie.n8n.arguments import RawArguments, WorkflowId
from chie.n8n.backups import backup_time
from chie.n8n.change_preview import change_preview
from chie.n8n.models import Json
from chie.n8n.saving import RESTORE, Report
from chie.n8n.tool import CHANGE, RawTool
from chie.n8n.workflow_summary import report


class RestoreVersionArguments(RawArguments):
    id: WorkflowId
    version: str = Field(min_length=1, max_length=200, description="From list_versions.")


class RestoreVersionTool(RawTool[RestoreVersionArguments]):
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

    def format_response(self, data: Report, *, raw: bool) -> Json:
        return report(data, raw=raw)
