"""`patch_workflow`."""

from functools import partial
from typing import Annotated, Any

from pydantic import BeforeValidator, Field, WithJsonSchema

from chie.mcp_kit.approval import CallPreview
from chie.messages.catalogue import Message
from chie.n8n.arguments import RawArguments, VersionId, WorkflowId
from chie.n8n.change_preview import change_preview
from chie.n8n.merge import Change, exact_settings
from chie.n8n.models import WRITABLE, Json, Workflow
from chie.n8n.patch import Operation, apply_all, read_operations
from chie.n8n.saving import Report
from chie.n8n.tool import CHANGE, RawTool
from chie.n8n.workflow_summary import report

_TEXT, _NUMBER = {"type": "string"}, {"type": "integer"}
_OPERATIONS: dict[str, Any] = {
    "type": "array",
    "description": "addNode {node}; removeNode {name}; updateNode {name, changes}: merged, null removes a key; "
    "renameNode {name, newName}; connect, disconnect {from, to, type?, output?, input?}; setField {path, value, "
    "node?}: path is e.g. parameters.url, settings.timezone, parameters.rules[0].value or a JSON pointer.",
    "items": {
        "type": "object",
        "properties": {
            "op": {"enum": ["addNode", "removeNode", "updateNode", "renameNode", "connect", "disconnect", "setField"]},
            "name": _TEXT,
            "newName": _TEXT,
            "node": {"description": "The new node as an object, or the name of one."},
            "changes": {"type": "object"},
            "from": _TEXT,
            "to": _TEXT,
            "type": _TEXT,
            "output": _NUMBER,
            "input": _NUMBER,
            "path": _TEXT,
            "value": {},
        },
        "required": ["op"],
    },
}


class PatchWorkflowArguments(RawArguments):
    id: WorkflowId
    operations: Annotated[
        list[Operation],
        BeforeValidator(read_operations),
        Field(min_length=1, max_length=100),
        WithJsonSchema(_OPERATIONS),
    ]
    version_id: VersionId | None = None
    dry_run: bool = Field(default=False, description="true: only report what would change.")


class PatchWorkflowTool(RawTool[PatchWorkflowArguments]):
    name = "patch_workflow"
    description = (
        "Change parts of a workflow without sending all of it. All operations are applied or none; everything else "
        "stays as it is; a rename updates connections and expressions. Saved as by update_workflow."
    )
    annotations = CHANGE
    arguments = PatchWorkflowArguments

    async def execute_core(self, args: PatchWorkflowArguments) -> Report:
        saver, choose = self.context.saver, partial(_change, args=args)
        if not args.dry_run:
            return await saver.change(args.id, choose, reason="patch", version_id=args.version_id)
        result = await saver.dry_run(args.id, choose, version_id=args.version_id)
        result.steps.append(Message("n8n.step_dry_run"))
        return result

    async def preview(self, args: PatchWorkflowArguments) -> CallPreview:
        code = "n8n.preview_dry_run" if args.dry_run else "n8n.preview_change"
        return await change_preview(self.context.client, args.id, partial(_change, args=args), code=code)

    def format_response(self, data: Report, *, raw: bool) -> Json:
        return report(data, raw=raw)


def _change(stored: Workflow, args: PatchWorkflowArguments) -> Change:
    patched = apply_all(stored, args.operations)
    fields = {key: patched[key] for key in WRITABLE if key in patched and patched[key] != stored.get(key)}
    if "settings" in fields:  # the complete new settings
        fields["settings"] = exact_settings(stored, fields["settings"] or {})
    return Change(fields, keep="nothing")
