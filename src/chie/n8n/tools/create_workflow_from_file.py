"""`create_workflow_from_file`."""

from chie.n8n.arguments import FilePath, RawArguments
from chie.n8n.models import WRITABLE, Json
from chie.n8n.saving import Report
from chie.n8n.structure import refuse_cut
from chie.n8n.summaries import report
from chie.n8n.tool import ADD, RawTool


class CreateWorkflowFromFileArguments(RawArguments):
    file_path: FilePath


class CreateWorkflowFromFileTool(RawTool[CreateWorkflowFromFileArguments]):
    name = "create_workflow_from_file"
    description = (
        "Create a workflow from a JSON file, such as an export of n8n, without sending it through the conversation. "
        "It is left unpublished and without tags; the answer names what in the file was not used."
    )
    annotations = ADD
    arguments = CreateWorkflowFromFileArguments

    async def execute_core(self, args: CreateWorkflowFromFileArguments) -> Report:
        content = self.context.folders.read(args.file_path)
        fields = {key: value for key, value in content.items() if key in WRITABLE}
        refuse_cut(fields)
        result = await self.context.saver.create(fields, active=None, tag_list=None)
        if unused := sorted(set(content) - set(WRITABLE)):
            result.notes.append(f"not used from the file: {', '.join(unused)}")
        return result

    def format_response(self, data: Report, *, raw: bool) -> Json:
        return report(data, raw=raw)
