"""HTTP routes for the web page: workflows, their graphs, executions and backups."""

import asyncio
from typing import Annotated, Any
from urllib.parse import quote

from fastapi import APIRouter, Query
from pydantic import BaseModel, Field

from chie.access.audit import record
from chie.errors import ForbiddenError
from chie.http.openapi_errors import errors
from chie.http.routing import Router
from chie.messages.catalogue import Message
from chie.n8n import execution_summary, workflow_summary
from chie.n8n.api_errors import CallerErrorRoute
from chie.n8n.arguments import ExecutionId, WorkflowId
from chie.n8n.backup_diff import Difference, compare
from chie.n8n.backups import Backup
from chie.n8n.errors import NotFoundError
from chie.n8n.graph import NOT_EXECUTED, each_connection, is_trigger
from chie.n8n.models import Json, Workflow
from chie.n8n.paging import Listing, read_page
from chie.n8n.rehearsal.api import declare_rehearsals
from chie.n8n.saving import Report
from chie.n8n.tool import ToolContext
from chie.n8n.tools.changes import PatchWorkflowArguments, PatchWorkflowTool
from chie.n8n.tools.versions import RestoreWorkflowArguments, RestoreWorkflowTool

RECENT_EXECUTIONS = "250"  # searched for the last execution of each workflow
MAX_BACKUPS = 100
MAX_RESPONSE_SIZE = 1_000_000  # characters; a page may read more than a model

Limit = Annotated[int, Query(ge=1, le=250)]
Cursor = Annotated[str | None, Query(description="`next_cursor` of the previous page.")]


class WorkflowRow(BaseModel):
    id: str
    name: str
    active: bool
    archived: bool = False
    tags: list[str] = []
    updated_at: str | None = None
    url: str
    last: Json | None = None


class WorkflowPage(BaseModel):
    workflows: list[WorkflowRow]
    next_cursor: str | None
    n8n: str
    read_only: bool
    rehearsals: bool  # whether changes can be tried: `N8N_MCP_TOKEN` is set


class GraphNode(BaseModel):
    name: str
    type: str
    x: float
    y: float
    trigger: bool
    disabled: bool
    notes: str | None = None
    parameters: Json = {}


class GraphLink(BaseModel):
    source: str
    target: str
    kind: str
    output: int
    input: int


class Graph(BaseModel):
    workflow: WorkflowRow
    description: str | None
    draft: bool
    nodes: list[GraphNode]
    links: list[GraphLink]


class ExecutionPage(BaseModel):
    executions: list[Json]
    next_cursor: str | None


class BackupList(BaseModel):
    backups: list[Backup]


class Comparison(BaseModel):
    same: bool
    exists: bool
    difference: Difference


class ChangeRequest(BaseModel):
    patch: list[Json] = Field(min_length=1, max_length=100, description="Operations as in `patch_workflow`.")
    version_id: str | None = Field(default=None, description="Rejects the change if the workflow was changed since.")


class Changed(BaseModel):
    """`steps` and `notes` are texts; their codes and parameters are in lists of the same length."""

    workflow_id: str
    steps: list[str]
    steps_code: list[str]
    steps_params: list[dict[str, Any]]
    notes: list[str]
    notes_code: list[str]
    notes_params: list[dict[str, Any]]

    @classmethod
    def of(cls, report: Report) -> "Changed":
        return cls(
            workflow_id=str(report.workflow["id"]), **_coded("steps", report.steps), **_coded("notes", report.notes)
        )


def create_api(context: ToolContext, *, read_only: bool) -> APIRouter:
    router = Router(route_class=CallerErrorRoute)
    _declare_workflows(router, context, read_only=read_only)
    _declare_changes(router, context, read_only=read_only)
    _declare_executions(router, context)
    _declare_backups(router, context, read_only=read_only)
    declare_rehearsals(router, context.rehearsal, read_only=read_only)
    return router


def _declare_workflows(router: APIRouter, context: ToolContext, *, read_only: bool) -> None:
    client = context.client

    @router.get("/workflows", responses=errors(409))
    async def list_workflows(limit: Limit = 100, cursor: Cursor = None, name: str | None = None) -> WorkflowPage:
        """Every workflow with its state and its last execution, if that was recent."""
        found, last = await asyncio.gather(_workflows(context, limit, cursor, name), _last_executions(context))
        rows = [_row(client.base, workflow, last.get(str(workflow["id"]))) for workflow in found.rows]
        return WorkflowPage(
            workflows=rows,
            next_cursor=found.next_cursor,
            n8n=client.base,
            read_only=read_only,
            rehearsals=context.rehearsal.available,
        )

    @router.get("/workflows/{workflow_id}", responses=errors(404, 409))
    async def draw_workflow(workflow_id: WorkflowId) -> Graph:
        """The nodes with their positions in n8n's editor, and the connections."""
        return _graph(client.base, await client.get_workflow(workflow_id))


def _declare_changes(router: APIRouter, context: ToolContext, *, read_only: bool) -> None:
    @router.patch("/workflows/{workflow_id}", responses=errors(400, 403, 404, 409))
    async def change_workflow(workflow_id: WorkflowId, body: ChangeRequest) -> Changed:
        """Save a change, like patch_workflow: backed up, validated, saved and read back."""
        if read_only:
            raise ForbiddenError("n8n.read_only")
        given = {"id": workflow_id, "operations": body.patch, "versionId": body.version_id}
        report = await PatchWorkflowTool(context).execute_core(PatchWorkflowArguments.model_validate(given))
        record("n8n.patch_workflow", workflow_id)
        return Changed.of(report)


def _declare_executions(router: APIRouter, context: ToolContext) -> None:
    @router.get("/workflows/{workflow_id}/executions", responses=errors(404, 409))
    async def list_executions(workflow_id: WorkflowId, limit: Limit = 20, cursor: Cursor = None) -> ExecutionPage:
        """Newest first."""
        found = await read_page(
            context.client.list_executions,
            execution_summary.row,
            filters={"workflowId": workflow_id},
            limit=limit,
            cursor=cursor,
            max_size=MAX_RESPONSE_SIZE,
        )
        return ExecutionPage(executions=found.rows, next_cursor=found.next_cursor)

    @router.get("/executions/{execution_id}", responses=errors(404, 409))
    async def show_execution(execution_id: ExecutionId) -> dict[str, Any]:
        """The nodes that ran, and the failed node with its error."""
        execution = await context.client.get_execution(execution_id, include_data=True)
        note = execution_summary.missing_data_note(execution)
        coded = {"note_code": note.code, "note_params": note.json_params()} if note else {}
        return execution_summary.summary(execution) | coded


def _declare_backups(router: APIRouter, context: ToolContext, *, read_only: bool) -> None:
    @router.get("/workflows/{workflow_id}/backups", responses=errors())
    def list_backups(workflow_id: WorkflowId) -> BackupList:
        """The backups from before each change by Chie, newest first."""
        kept = context.backups.list(workflow_id)
        return BackupList(backups=[backup for backup, _ in zip(kept, range(MAX_BACKUPS), strict=False)])

    @router.get("/backups/{workflow_id}/{file}", responses=errors(404, 409))
    async def compare_backup(workflow_id: WorkflowId, file: str) -> Comparison:
        """The changes that a restore of this backup would make."""
        old = await asyncio.to_thread(context.backups.read, f"{workflow_id}/{file}")
        try:
            now = await context.client.get_workflow(str(old["id"]))
        except NotFoundError:
            return Comparison(same=False, exists=False, difference=compare({"name": old.get("name")}, old))
        difference = compare(now, old)
        return Comparison(same=difference.is_none, exists=True, difference=difference)

    @router.post("/backups/{workflow_id}/{file}/restore", responses=errors(403, 404, 409))
    async def restore_backup(workflow_id: WorkflowId, file: str) -> Changed:
        """Restore the workflow, like restore_workflow: the current state is backed up first."""
        if read_only:
            raise ForbiddenError("n8n.read_only")
        arguments = RestoreWorkflowArguments(backup=f"{workflow_id}/{file}")
        report = await RestoreWorkflowTool(context).execute_core(arguments)
        record("n8n.restore_workflow", arguments.backup)
        return Changed.of(report)


async def _workflows(context: ToolContext, limit: int, cursor: str | None, name: str | None) -> Listing:
    async def fetch(query: Any) -> Any:  # noqa: ANN401
        return await context.client.list_workflows({**query, "excludePinnedData": "true"})

    filters = {"name": name} if name else {}
    return await read_page(
        fetch, lambda row: row, filters=filters, limit=limit, cursor=cursor, max_size=100 * MAX_RESPONSE_SIZE
    )


async def _last_executions(context: ToolContext) -> dict[str, Json]:
    """The last execution by workflow id. n8n lists running ones only with that status as a filter."""
    pages = await asyncio.gather(
        context.client.list_executions({"limit": RECENT_EXECUTIONS, "status": "running"}),
        context.client.list_executions({"limit": RECENT_EXECUTIONS}),
    )
    last: dict[str, Json] = {}
    for execution in (execution for page in pages for execution in page.rows):
        last.setdefault(str(execution.get("workflowId")), execution_summary.row(execution))
    return last


def _row(base: str, workflow: Workflow, last: Json | None = None) -> WorkflowRow:
    shown = workflow_summary.row(workflow)
    return WorkflowRow(
        id=str(shown["id"]),
        name=shown["name"],
        active=shown["active"],
        archived=shown.get("archived", False),
        tags=shown.get("tags", []),
        updated_at=workflow.get("updatedAt"),
        url=f"{base}/workflow/{quote(str(shown['id']), safe='')}",
        last=last,
    )


def _graph(base: str, workflow: Workflow) -> Graph:
    nodes = [node for node in workflow.get("nodes") or [] if node.get("type") not in NOT_EXECUTED]
    names = {node["name"] for node in nodes}
    links = [
        GraphLink(source=source, target=target["node"], kind=kind, output=output, input=int(target.get("index") or 0))
        for source, kind, output, target in each_connection(workflow.get("connections") or {})
        if source in names and target["node"] in names
    ]
    return Graph(
        workflow=_row(base, workflow),
        description=workflow.get("description"),
        draft=bool(workflow_summary.head(workflow).get("unpublishedChanges")),
        nodes=[_node(node) for node in nodes],
        links=links,
    )


def _node(node: Json) -> GraphNode:
    x, y = (node.get("position") or [0, 0])[:2]
    return GraphNode(
        name=node["name"],
        type=workflow_summary.short_type(node["type"]),
        x=x,
        y=y,
        trigger=is_trigger(node),
        disabled=bool(node.get("disabled")),
        notes=node.get("notes"),
        parameters=node.get("parameters") or {},
    )


def _coded(name: str, messages: list[Message]) -> dict[str, Any]:
    return {
        name: [str(message) for message in messages],
        f"{name}_code": [message.code for message in messages],
        f"{name}_params": [message.json_params() for message in messages],
    }
