"""`restore_workflow`."""

from pydantic import Field

from chie.n8n.arguments import RawArguments
from chie.n8n.comparison import restoration
from chie.n8n.errors import NotFoundError
from chie.n8n.models import WRITABLE, Json, Workflow, tag_names
from chie.n8n.saving import Report
from chie.n8n.summaries import report
from chie.n8n.tool import CHANGE, RawTool


class RestoreWorkflowArguments(RawArguments):
    backup: str = Field(description="A backup's name, as list_backups shows it.")


class RestoreWorkflowTool(RawTool[RestoreWorkflowArguments]):
    name = "restore_workflow"
    description = (
        "Bring a workflow back to what a backup holds: name, nodes, connections, settings and tags. Its state now is "
        "backed up first. One that was deleted is created again, under a new id and unpublished."
    )
    annotations = CHANGE.model_copy(update={"idempotent_hint": False})  # twice makes two of one that was deleted
    arguments = RestoreWorkflowArguments

    async def execute_core(self, args: RestoreWorkflowArguments) -> Report:
        old = self.context.backups.read(args.backup)
        try:
            await self.context.client.get_workflow(str(old["id"]))
        except NotFoundError:
            return await self._make_again(old)
        return await self.context.saver.change(str(old["id"]), lambda now: restoration(now, old), reason="restore")

    def format_response(self, data: Report, *, raw: bool) -> Json:
        return report(data, raw=raw)

    async def _make_again(self, old: Workflow) -> Report:
        fields = {key: old[key] for key in WRITABLE if old.get(key) is not None}
        result = await self.context.saver.create(fields, active=None, tag_list=tag_names(old))
        result.notes.append("the workflow did not exist any more: this is a new one with a new id, not published")
        return result
