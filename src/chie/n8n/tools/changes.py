"""The tools that write workflows, from arguments, operations or files."""

from functools import partial
from typing import Annotated, Any

from pydantic import BeforeValidator, ConfigDict, Field, WithJsonSchema
from pydantic.alias_generators import to_camel

from chie.mcp_kit.approval import CallPreview, shown_name
from chie.messages.catalogue import Message
from chie.n8n.arguments import (
    Connections,
    FilePath,
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
from chie.n8n.merge import Change, exact_settings
from chie.n8n.models import READ_ONLY, WRITABLE, Json, Workflow
from chie.n8n.patch import Operation, apply_all, read_operations
from chie.n8n.saving import Report
from chie.n8n.tool import ADD, CHANGE, CHANGE_EACH_TIME, SavingTool
from chie.n8n.validation import MAX_REPORTED, reject_truncated

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


class CreateWorkflowArguments(RawArguments):
    name: WorkflowName
    nodes: Nodes
    connections: Connections
    settings: Settings | None = None
    pin_data: JsonObject | None = Field(default=None, description="Test data by node name.")
    active: bool | None = Field(default=None, description="true: publish it, which requires a trigger.")
    tags: Tags | None = None


class CreateWorkflowTool(SavingTool[CreateWorkflowArguments]):
    name = "create_workflow"
    description = (
        "Create a workflow. It is validated first; missing tags are created; it stays unpublished unless active is "
        "true."
    )
    annotations = CHANGE_EACH_TIME
    destructive_arguments = ("active",)  # a published workflow runs
    arguments = CreateWorkflowArguments

    async def execute_core(self, args: CreateWorkflowArguments) -> Report:
        fields = {
            "name": args.name,
            "nodes": args.nodes,
            "connections": args.connections,
            "settings": args.settings or {},
            "pinData": args.pin_data,
        }
        reject_truncated({**fields, "tags": args.tags})
        return await self.context.saver.create(fields, active=args.active, tag_list=args.tags)

    async def preview(self, args: CreateWorkflowArguments) -> CallPreview:
        summary = Message("n8n.preview_create", name=shown_name(args.name), count=len(args.nodes))
        return CallPreview(summary, "add", [Message("n8n.preview_publishes")] if args.active else [])


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


class UpdateWorkflowTool(SavingTool[UpdateWorkflowArguments]):
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


class PatchWorkflowTool(SavingTool[PatchWorkflowArguments]):
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


def _change(stored: Workflow, args: PatchWorkflowArguments) -> Change:
    patched = apply_all(stored, args.operations)
    fields = {key: patched[key] for key in WRITABLE if key in patched and patched[key] != stored.get(key)}
    if "settings" in fields:  # the complete new settings
        fields["settings"] = exact_settings(stored, fields["settings"] or {})
    return Change(fields, keep="nothing")


class CreateWorkflowFromFileArguments(RawArguments):
    file_path: FilePath


class CreateWorkflowFromFileTool(SavingTool[CreateWorkflowFromFileArguments]):
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


class ReplaceWorkflowFromFileArguments(RawArguments):
    id: WorkflowId
    file_path: FilePath
    version_id: VersionId | None = None


class ReplaceWorkflowFromFileTool(SavingTool[ReplaceWorkflowFromFileArguments]):
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


def _fields(content: Workflow) -> Json:
    fields = {key: content[key] for key in WRITABLE if content.get(key) is not None}
    reject_truncated(fields)
    return fields


def _replacement(now: Workflow, fields: Json) -> Change:
    """A file without settings leaves them unchanged."""
    settings = {"settings": exact_settings(now, fields["settings"])} if "settings" in fields else {}
    return Change({**fields, **settings}, keep="bindings")
