"""`update_workflow`."""

from typing import Any

from pydantic import ConfigDict, Field
from pydantic.alias_generators import to_camel

from chie.mcp_kit.approval import CallPreview
from chie.messages.catalogue import Message
from chie.n8n.arguments import (
    Connections,
    JsonObject,
    JsonObjects,
    Nodes,
    RawArguments,
    Settings,
    Tags,
    VersionId,
    WorkflowId,
    WorkflowName,
)
from chie.n8n.change_preview import change_preview
from chie.n8n.errors import ValidationError, ValidationErrorContext
from chie.n8n.graph import MAX_QUOTED_LENGTH, quoted
from chie.n8n.merge import Change
from chie.n8n.models import READ_ONLY, WRITABLE, Json, Workflow
from chie.n8n.saving import Report
from chie.n8n.tool import CHANGE, RawTool
from chie.n8n.validation import MAX_REPORTED, reject_truncated
from chie.n8n.workflow_summary import report


class UpdateWorkflowArguments(RawArguments):
    """Accepts the result of get_workflow with raw; keys in it that only n8n sets are ignored."""

    model_config = ConfigDict(
        alias_generator=to_camel, populate_by_name=True, extra="allow", coerce_numbers_to_str=True
    )

    id: WorkflowId
    name: WorkflowName | None = None
    nodes: Nodes | None = Field(
        default=None,
        description="All nodes: an omitted node is removed. Omitted keys of a node are kept as stored; null removes "
        "a key.",
    )
    connections: Connections | None = Field(default=None, description="")
    settings: Settings | None = Field(default=None, description="Merged into the stored settings; null removes one.")
    static_data: JsonObject | None = None
    pin_data: JsonObject | None = Field(default=None, description="Test data by node name; {} removes all.")
    node_groups: JsonObjects | None = None
    description: str | None = None
    active: bool | None = Field(default=None, description="true publishes, false unpublishes.")
    tags: Tags | None = Field(default=None, description="Replaces all tags; [] removes them.")
    version_id: VersionId | None = None

    def fields(self) -> dict[str, Any]:
        given = self.model_dump(by_alias=True, include={"name", "nodes", "connections", "settings", "static_data",
                                                        "pin_data", "node_groups", "description"})  # fmt: skip
        return {key: value for key, value in given.items() if key in WRITABLE and value is not None}

    def reject_unknown(self, stored: Workflow) -> None:
        """Keys that are unknown here may be those of a newer n8n; if n8n does not have them either, reject them."""
        if unknown := sorted(set(self.model_extra or {}) - READ_ONLY - set(stored)):
            context = ValidationErrorContext(field=unknown[0][:MAX_QUOTED_LENGTH], constraint="known")
            names = [quoted(key) for key in unknown[:MAX_REPORTED]]
            raise ValidationError("n8n.arguments_unknown", context, arguments=names)

    def change(self, stored: Workflow) -> Change:
        self.reject_unknown(stored)
        fields = self.fields()
        reject_truncated({**fields, "tags": self.tags}, stored)
        return Change(fields, active=self.active, tags=self.tags)

    def ignored(self, stored: Workflow) -> list[str]:
        """Keys that only n8n sets and whose given value differs from the stored one."""
        return sorted(key for key, value in (self.model_extra or {}).items() if key in stored and stored[key] != value)


class UpdateWorkflowTool(RawTool[UpdateWorkflowArguments]):
    name = "update_workflow"
    description = (
        "Change a workflow: give only what changes. It is backed up, merged, validated, saved and read back. For a "
        "published workflow the change is live at once. For a few nodes use patch_workflow."
    )
    annotations = CHANGE
    arguments = UpdateWorkflowArguments

    async def execute_core(self, args: UpdateWorkflowArguments) -> Report:
        ignored: list[str] = []

        def choose(stored: Workflow) -> Change:
            change = args.change(stored)
            ignored.extend(args.ignored(stored))
            return change

        result = await self.context.saver.change(args.id, choose, reason="update", version_id=args.version_id)
        if ignored:
            result.notes.append(Message("n8n.keys_set_by_n8n", keys=ignored))
        return result

    async def preview(self, args: UpdateWorkflowArguments) -> CallPreview:
        return await change_preview(self.context.client, args.id, args.change)

    def format_response(self, data: Report, *, raw: bool) -> Json:
        return report(data, raw=raw)
