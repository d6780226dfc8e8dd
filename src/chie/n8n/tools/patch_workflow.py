"""`patch_workflow`."""

from typing import Annotated

from pydantic import BeforeValidator, Field

from chie.n8n.arguments import RawArguments, VersionId, WorkflowId
from chie.n8n.merge import Change, merge
from chie.n8n.models import WRITABLE, Json, Workflow
from chie.n8n.patch import Operation, apply_all, read_operations
from chie.n8n.saving import Report
from chie.n8n.structure import check
from chie.n8n.summaries import report
from chie.n8n.tool import CHANGE, RawTool


class PatchWorkflowArguments(RawArguments):
    id: WorkflowId
    operations: Annotated[
        list[Operation],
        BeforeValidator(read_operations),
        Field(min_length=1, max_length=100, description="Done in order, all or none."),
    ]
    version_id: VersionId | None = None
    dry_run: bool = Field(default=False, description="true: only say what would change.")


class PatchWorkflowTool(RawTool[PatchWorkflowArguments]):
    name = "patch_workflow"
    description = (
        "Change parts of a workflow without sending all of it: addNode, removeNode, updateNode, renameNode "
        "(connections and expressions follow), connect, disconnect, setField. All or none are done; what they do not "
        "name stays as it is. Backup, check, save and report are those of update_workflow."
    )
    annotations = CHANGE
    arguments = PatchWorkflowArguments

    async def execute_core(self, args: PatchWorkflowArguments) -> Report:
        if args.dry_run:
            return await self._rehearse(args)
        return await self.context.saver.change(
            args.id, lambda stored: _change(stored, args), reason="patch", version_id=args.version_id
        )

    def format_response(self, data: Report, *, raw: bool) -> Json:
        return report(data, raw=raw)

    async def _rehearse(self, args: PatchWorkflowArguments) -> Report:
        stored = await self.context.client.get_workflow(args.id)
        merged = merge(stored, _change(stored, args))
        found = check(merged.body["nodes"], merged.body["connections"])
        found.refuse()
        preview = {**stored, **merged.body}
        return Report(preview, merged.changed, ["dry run: nothing was written"], [*merged.notes, *found.warnings])


def _change(stored: Workflow, args: PatchWorkflowArguments) -> Change:
    patched = apply_all(stored, args.operations)
    fields = {key: patched[key] for key in WRITABLE if key in patched and patched[key] != stored.get(key)}
    return Change(fields, keep="nothing")
