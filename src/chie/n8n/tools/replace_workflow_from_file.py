"""`replace_workflow_from_file`."""

from chie.mcp_kit.approval import CallPreview
from chie.messages.catalogue import Message
from chie.n8n.arguments import FilePath, RawArguments, VersionId, WorkflowId
from chie.n8n.change_preview import change_preview
from chie.n8n.merge import Change, exact_settings
from chie.n8n.models import WRITABLE, Json, Workflow
from chie.n8n.saving import Report
from chie.n8n.tool import CHANGE, RawTool
from chie.n8n.validation import reject_truncated
from chie.n8n.workflow_summary import report


class ReplaceWorkflowFromFileArguments(RawArguments):
    id: WorkflowId
    file_path: FilePath
    version_id: VersionId | None = None


class ReplaceWorkflowFromFileTool(RawTool[ReplaceWorkflowFromFileArguments]):
    name = "replace_workflow_from_file"
    description = (
        "Replace name, nodes, connections and settings of a workflow with those of a JSON file, after a backup. "
        "Nodes keep their credentials if the file has none. A published workflow is live at once."
    )
    annotations = CHANGE
    arguments = ReplaceWorkflowFromFileArguments

    async def execute_core(self, args: ReplaceWorkflowFromFileArguments) -> Report:
        content = await self.context.folders.read(args.file_path)
        fields = _fields(content)
        result = await self.context.saver.change(
            args.id, lambda now: _replacement(now, fields), reason="replace", version_id=args.version_id
        )
        if unused := sorted(set(content) - set(WRITABLE)):
            result.notes.append(Message("n8n.file_keys_unused", keys=unused))
        return result

    async def preview(self, args: ReplaceWorkflowFromFileArguments) -> CallPreview:
        fields = _fields(await self.context.folders.read(args.file_path))
        return await change_preview(self.context.client, args.id, lambda now: _replacement(now, fields))

    def format_response(self, data: Report, *, raw: bool) -> Json:
        return report(data, raw=raw)


def _fields(content: Workflow) -> Json:
    fields = {key: content[key] for key in WRITABLE if content.get(key) is not None}
    reject_truncated(fields)
    return fields


def _replacement(now: Workflow, fields: Json) -> Change:
    """A file without settings leaves them unchanged."""
    settings = {"settings": exact_settings(now, fields["settings"])} if "settings" in fields else {}
    return Change({**fields, **settings}, keep="bindings")
