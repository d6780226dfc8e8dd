"""`rehearse_change`."""

from typing import Annotated, Any

from pydantic import AliasChoices, BeforeValidator, Field, WithJsonSchema

from chie.mcp_kit.approval import CallPreview, shown_name
from chie.messages.catalogue import Message
from chie.n8n.arguments import Arguments, ExecutionId, WorkflowId, parse_json
from chie.n8n.change_preview import named_preview
from chie.n8n.models import Json
from chie.n8n.patch import Operation, read_operations
from chie.n8n.rehearsal.report import shown
from chie.n8n.tool import CHANGE_EACH_TIME, BaseTool

_PATCH: dict[str, Any] = {
    "type": "array",
    "items": {"type": "object"},
    "description": "Operations as in patch_workflow.",
}


class RehearseChangeArguments(Arguments):
    id: WorkflowId
    patch: Annotated[
        list[Operation], BeforeValidator(read_operations), Field(min_length=1, max_length=100), WithJsonSchema(_PATCH)
    ]
    execution: ExecutionId | None = Field(default=None, description="Default: the last one that failed.")
    run_for_real: Annotated[list[str], BeforeValidator(parse_json)] = Field(
        default_factory=list,
        max_length=100,
        validation_alias=AliasChoices("run_for_real", "runForReal"),
        serialization_alias="run_for_real",
        description="Nodes that may run with all their effects. Ask the user first.",
    )


class RehearseChangeTool(BaseTool[RehearseChangeArguments]):
    name = "rehearse_change"
    description = (
        "Prove a change before saving it: run it on a temporary copy with the data of the execution that failed. "
        "Triggers, HTTP requests and nodes with credentials are replaced by what came in then. "
        "Says fixed, still_failing or different, and names nodes that would run for real. Saves and publishes nothing."
    )
    annotations = CHANGE_EACH_TIME
    arguments = RehearseChangeArguments
    destructive_arguments = ("run_for_real",)  # without it, only nodes that compute run
    needs_token = True

    async def preview(self, args: RehearseChangeArguments) -> CallPreview:
        real = [shown_name(node) for node in args.run_for_real]
        notes = [Message("n8n.preview_runs_for_real", nodes=real)] if real else []
        return await named_preview(self.context.client, args.id, "n8n.preview_rehearse", notes=notes)

    async def execute(self, args: RehearseChangeArguments) -> Json:
        rehearsal = self.context.rehearsal
        return shown(await rehearsal.rehearse(args.id, args.patch, args.execution, args.run_for_real))
