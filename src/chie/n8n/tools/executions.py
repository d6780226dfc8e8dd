"""The tools that read executions, retry them, and rehearse changes on their data."""

from dataclasses import dataclass
from typing import Annotated, Any, Literal

from pydantic import AliasChoices, BeforeValidator, Field, WithJsonSchema

from chie.errors import ChieError
from chie.mcp_kit.approval import CallPreview, shown_name
from chie.messages.catalogue import Message
from chie.n8n import execution_summary
from chie.n8n.arguments import Arguments, ExecutionId, Limit, NodeName, PageCursor, RawArguments, WorkflowId, parse_json
from chie.n8n.change_preview import named_preview, read_workflow
from chie.n8n.client import N8nApiClient
from chie.n8n.graph import each_connection
from chie.n8n.models import Execution, Json, Workflow
from chie.n8n.paging import RESERVED_SIZE, Listing, read_page
from chie.n8n.patch import Operation, read_operations
from chie.n8n.rehearsal.report import shown
from chie.n8n.tool import CHANGE_EACH_TIME, BaseTool, RawTool

Status = Literal["canceled", "crashed", "error", "new", "running", "success", "unknown", "waiting"]
MAX_NAMED_NODES = 20
_PATCH: dict[str, Any] = {
    "type": "array",
    "items": {"type": "object"},
    "description": "Operations as in patch_workflow.",
}


class ListExecutionsArguments(RawArguments):
    workflow_id: WorkflowId | None = None
    status: Status | None = None
    project_id: str | None = None
    limit: Limit = 20
    cursor: PageCursor | None = None

    def filters(self) -> dict[str, str]:
        given = {"workflowId": self.workflow_id, "status": self.status, "projectId": self.project_id}
        return {name: value for name, value in given.items() if value}


class ListExecutionsTool(RawTool[ListExecutionsArguments]):
    name = "list_executions"
    description = (
        "List executions, newest first: id, workflow, status, start, duration. Running ones only with "
        "status=running. While hasMore is true, call again with cursor = nextCursor."
    )
    arguments = ListExecutionsArguments

    async def execute_core(self, args: ListExecutionsArguments) -> Listing:
        return await read_page(
            self.context.client.list_executions,
            (lambda execution: execution) if args.raw else execution_summary.row,
            filters=args.filters(),
            limit=args.limit,
            cursor=args.cursor,
            max_size=self.context.max_chars - RESERVED_SIZE,
        )

    def format_response(self, data: Listing, *, raw: bool) -> Json:  # noqa: ARG002 - used while reading
        return data.result("executions")


class GetExecutionArguments(RawArguments):
    id: ExecutionId
    include_data: bool = False
    node_name: NodeName | None = None
    item_limit: int = Field(default=5, ge=0, le=1000, description="Per output.")


@dataclass(frozen=True)
class Requested:
    execution: Execution
    args: GetExecutionArguments


class GetExecutionTool(RawTool[GetExecutionArguments]):
    name = "get_execution"
    description = (
        "Read one execution: the failed node with its error, item and expressions; runs, items and time of each "
        "node. nodeName returns the items of one node, includeData the first items of all."
    )
    arguments = GetExecutionArguments
    truncation_advice = Message("n8n.truncation_advice_execution")

    async def execute_core(self, args: GetExecutionArguments) -> Requested:
        return Requested(await self.context.client.get_execution(args.id, include_data=True), args)

    def format_response(self, data: Requested, *, raw: bool) -> Json:
        execution, args = data.execution, data.args
        if raw:
            return execution
        if args.node_name is not None:
            node = execution_summary.node_runs(execution, args.node_name, args.item_limit)
            return execution_summary.row(execution) | node
        shown = execution_summary.summary(execution)
        if args.include_data:
            shown["data"] = execution_summary.items_of(execution, args.item_limit)
        return shown


class RetryExecutionArguments(Arguments):
    id: ExecutionId
    load_workflow: bool = Field(
        default=True, description="true: use the current workflow; false: the version that failed."
    )


class RetryExecutionTool(BaseTool[RetryExecutionArguments]):
    name = "retry_execution"
    description = (
        "Retry a failed execution from the failed node, with its side effects, such as sending messages. Says "
        "whether the workflow was changed since."
    )
    annotations = CHANGE_EACH_TIME
    arguments = RetryExecutionArguments

    async def preview(self, args: RetryExecutionArguments) -> CallPreview:
        failed = await self.context.client.get_execution(args.id, include_data=False)
        workflow_id = str(failed.get("workflowId"))
        stored = await read_workflow(self.context.client, workflow_id)
        name = shown_name(stored.get("name") if stored else workflow_id)
        summary = Message("n8n.preview_retry", id=shown_name(args.id), name=name)
        moment = failed.get("startedAt")
        return CallPreview(summary, "change", [Message("n8n.preview_retry_note")], moment=moment)

    async def execute(self, args: RetryExecutionArguments) -> Json:
        failed = await self.context.client.get_execution(args.id, include_data=True)
        changes = await _read_changes(self.context.client, failed)
        retried = await self.context.client.retry_execution(args.id, load_workflow=args.load_workflow)
        return {"retryOf": args.id, **execution_summary.row(retried), **changes, **_note(changes, args)}


def _note(changes: Json, args: RetryExecutionArguments) -> Json:
    if "workflowChanged" not in changes:
        return {}
    if not changes["workflowChanged"]:
        return {"note": str(Message("n8n.retried_unchanged"))}
    code = "n8n.retried_with_changes" if args.load_workflow else "n8n.retried_without_changes"
    return {"note": str(Message(code))}


async def _read_changes(client: N8nApiClient, execution: Execution) -> Json:
    """Whether the workflow was changed since the execution, as `workflowChanged`, with the nodes concerned.

    Empty if n8n does not say which workflow ran, or no longer has it.
    """
    then = execution.get("workflowData")
    if not isinstance(then, dict):
        return {}
    try:
        now = await client.get_workflow(str(execution.get("workflowId")))
    except ChieError:
        return {}
    return _changes_since(execution, then, now)


def _changes_since(execution: Execution, then: Workflow, now: Workflow) -> Json:
    """Decided by n8n's version id. Versions of n8n without one are compared by content."""
    version, nodes = execution.get("workflowVersionId"), _changed_nodes(then, now)
    changed = version != now.get("versionId") if version else bool(nodes) or _links(then) != _links(now)
    if not changed:
        return {"workflowChanged": False}
    return {"workflowChanged": True} | ({"changedNodes": nodes[:MAX_NAMED_NODES]} if nodes else {})


def _changed_nodes(then: Workflow, now: Workflow) -> list[str]:
    before, after = _nodes(then), _nodes(now)
    changed = [name for name, node in after.items() if name not in before or not _includes(before[name], node)]
    return [*changed, *(name for name in before if name not in after)]


def _includes(then: Any, now: Any) -> bool:  # noqa: ANN401
    """Whether everything set now was set then: executions have the defaults of all parameters in addition."""
    if isinstance(then, dict) and isinstance(now, dict):
        return all(key in then and _includes(then[key], value) for key, value in now.items())
    return bool(then == now)


def _nodes(workflow: Workflow) -> dict[str, Json]:
    """By name, without the position, which has no effect."""
    nodes = workflow.get("nodes") or []
    return {node["name"]: {key: node[key] for key in node if key != "position"} for node in nodes if "name" in node}


def _links(workflow: Workflow) -> list[Any]:
    return list(each_connection(workflow.get("connections") or {}))


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
