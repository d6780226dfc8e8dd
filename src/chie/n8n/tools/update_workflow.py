"""`update_workflow`."""

from typing import Any

from pydantic import ConfigDict, Field
from pydantic.alias_generators import to_camel

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
from chie.n8n.errors import ValidationError, ValidationErrorContext
from chie.n8n.merge import Change
from chie.n8n.models import READ_ONLY, WRITABLE, Json, Workflow
from chie.n8n.saving import Report
from chie.n8n.structure import SHOWN, named, refuse_cut
from chie.n8n.summaries import report, whole
from chie.n8n.tool import CHANGE, RawTool


class UpdateWorkflowArguments(RawArguments):
    """Takes what get_workflow with raw gives as it is; n8n's own keys in it are for n8n to set."""

    model_config = ConfigDict(
        alias_generator=to_camel, populate_by_name=True, extra="allow", coerce_numbers_to_str=True
    )

    id: WorkflowId
    name: WorkflowName | None = None
    nodes: Nodes | None = Field(
        default=None,
        description="All nodes: one that is left out is removed. What a node leaves out is kept as stored; null "
        "takes it away.",
    )
    connections: Connections | None = None
    settings: Settings | None = Field(default=None, description="Merged into the stored ones; null takes one away.")
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

    def refuse_unknown(self, stored: Workflow) -> None:
        """A newer n8n has keys that we do not know yet; what it does not have, either, is a slip of the caller."""
        if unknown := sorted(set(self.model_extra or {}) - READ_ONLY - set(stored)):
            raise ValidationError(
                f"unknown argument: {', '.join(named(key) for key in unknown[:SHOWN])}. Nothing was changed: look at "
                "the tool's schema for the names it takes.",
                ValidationErrorContext(field=unknown[0][:60], constraint="known"),
            )

    def ignored(self, stored: Workflow) -> list[str]:
        """Keys that only n8n sets and that were given with another value than it has."""
        shown = whole(stored)
        return sorted(key for key, value in (self.model_extra or {}).items() if key in shown and shown[key] != value)


class UpdateWorkflowTool(RawTool[UpdateWorkflowArguments]):
    name = "update_workflow"
    description = (
        "Change a workflow: give only what shall change. It is read, backed up, merged, checked, saved, tagged and "
        "published as asked, and read back; the answer says what is stored. A published workflow goes live with the "
        "change at once. For a few nodes of a large workflow use patch_workflow."
    )
    annotations = CHANGE
    arguments = UpdateWorkflowArguments

    async def execute_core(self, args: UpdateWorkflowArguments) -> Report:
        ignored: list[str] = []

        def choose(stored: Workflow) -> Change:
            args.refuse_unknown(stored)
            fields = args.fields()
            refuse_cut({**fields, "tags": args.tags}, stored)
            ignored.extend(args.ignored(stored))
            return Change(fields, active=args.active, tags=args.tags)

        result = await self.context.saver.change(args.id, choose, reason="update", version_id=args.version_id)
        if ignored:
            result.notes.append(f"not changed, because only n8n sets it: {', '.join(ignored)}")
        return result

    def format_response(self, data: Report, *, raw: bool) -> Json:
        return report(data, raw=raw)
