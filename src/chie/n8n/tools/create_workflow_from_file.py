"""`create_workflow_from_file`."""

from chie.messages.catalogue import Message
from chie.n8n.arguments import FilePath, RawArguments
from chie.n8n.models import WRITABLE, Json
from chie.n8n.saving import Report
from chie.n8n.tool import ADD, RawTool
from chie.n8n.validation import reject_truncated
from chie.n8n.workflow_summary import report


class CreateWorkflowFromFileArguments(RawArguments):
    file_path: FilePath


class CreateWorkflowFromFileTool(RawTool[CreateWorkflowFromFileArguments]):
    name = "create_workflow_from_file"
    description = "Create a workflow from a JSON file, e.g. an n8n export. It stays unpublished and untagged."
    annotations = ADD
    arguments = CreateWorkflowFromFileArguments

    async def execute_core(self, args: CreateWorkflowFromFileArguments) -> Report:
        content = await self.context.folders.read(args.file_path)
        fields = {key: value for key, value in content.items() if key in WRITABLE}
        reject_truncated(fields)
        result = await self.context.saver.create(fields, active=None, tag_list=None)
        if unused := sorted(set(content) - set(WRITABLE)):
            result.notes.append(Message("n8n.file_keys_unused", keys=unused))
        return result

    def format_response(self, data: Report, *, raw: bool) -> Json:
        return report(data, raw=raw)
