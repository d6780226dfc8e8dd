"""`replace_workflow_from_file`."""

from chie.n8n.arguments import FilePath, RawArguments, VersionId, WorkflowId
from chie.n8n.merge import Change, settings_alone
from chie.n8n.models import WRITABLE, Json, Workflow
from chie.n8n.saving import Report
from chie.n8n.structure import refuse_cut
from chie.n8n.summaries import report
from chie.n8n.tool import CHANGE, RawTool


class ReplaceWorkflowFromFileArguments(RawArguments):
    id: WorkflowId
    file_path: FilePath
    version_id: VersionId | None = None


class ReplaceWorkflowFromFileTool(RawTool[ReplaceWorkflowFromFileArguments]):
    name = "replace_workflow_from_file"
    description = (
        "Replace a workflow's name, nodes, connections and settings with those of a JSON file. A backup is written "
        "first. Tags and publication stay as they are; nodes of the same id or name keep their credentials and "
        "webhook address where the file has none. A published workflow goes live with it at once."
    )
    annotations = CHANGE
    arguments = ReplaceWorkflowFromFileArguments

    async def execute_core(self, args: ReplaceWorkflowFromFileArguments) -> Report:
        content = self.context.folders.read(args.file_path)
        fields = {key: content[key] for key in WRITABLE if content.get(key) is not None}
        refuse_cut(fields)
        result = await self.context.saver.change(
            args.id, lambda now: _replacement(now, fields), reason="replace", version_id=args.version_id
        )
        if unused := sorted(set(content) - set(WRITABLE)):
            result.notes.append(f"not used from the file: {', '.join(unused)}")
        return result

    def format_response(self, data: Report, *, raw: bool) -> Json:
        return report(data, raw=raw)


def _replacement(now: Workflow, fields: Json) -> Change:
    """A file without settings says nothing about them."""
    settings = {"settings": settings_alone(now, fields["settings"])} if "settings" in fields else {}
    return Change({**fields, **settings}, keep="bindings")
