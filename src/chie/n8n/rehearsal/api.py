"""The HTTP route of rehearsals, for the web page."""

from typing import Any, Literal

from fastapi import APIRouter
from pydantic import BaseModel, Field

from chie.access.audit import record
from chie.errors import ForbiddenError
from chie.http.openapi_errors import errors
from chie.n8n.arguments import ExecutionId, WorkflowId
from chie.n8n.models import Json
from chie.n8n.patch import read_operations
from chie.n8n.rehearsal.comparison import Difference
from chie.n8n.rehearsal.rehearsal import Rehearsal, Result
from chie.n8n.rehearsal.report import MAX_DIFFERENCES, summary
from chie.n8n.workflow_summary import short_type


class RehearsalRequest(BaseModel):
    patch: list[Json] = Field(min_length=1, max_length=100, description="Operations as in `patch_workflow`.")
    execution: ExecutionId | None = None
    run_for_real: list[str] = Field(default=[], max_length=100)


class Rehearsed(BaseModel):
    """`summary` and `notes` are texts, with their codes and parameters beside them."""

    outcome: Literal["fixed", "still_failing", "newly_failing", "different", "same", "not_proven", "needs_permission"]
    summary: str
    summary_code: str
    summary_params: dict[str, Any]
    execution: str
    version_id: str | None
    would_run_for_real: dict[str, str]
    failed_before: Json | None
    fails_now: Json | None
    differences: list[Difference]
    ran_now: dict[str, int]
    pinned: list[str]
    ran_for_real: list[str]
    not_run: list[str]
    notes: list[str]
    notes_code: list[str]
    notes_params: list[dict[str, Any]]


def declare_rehearsals(router: APIRouter, rehearsal: Rehearsal, *, read_only: bool) -> None:
    @router.post("/workflows/{workflow_id}/rehearsals", responses=errors(400, 403, 404, 409))
    async def rehearse_change(workflow_id: WorkflowId, body: RehearsalRequest) -> Rehearsed:
        """Try a change on the data of an execution, like rehearse_change: nothing is saved or published."""
        if read_only:
            raise ForbiddenError("n8n.read_only")
        if not rehearsal.available:
            raise ForbiddenError("n8n.mcp_token_missing")
        operations: Any = read_operations(body.patch)
        result = await rehearsal.rehearse(workflow_id, operations, body.execution, body.run_for_real)
        record("n8n.rehearse_change", workflow_id)
        return _shown(result)


def _shown(result: Result) -> Rehearsed:
    text, plan, found = summary(result), result.plan, result.comparison
    return Rehearsed(
        outcome=result.outcome,
        summary=str(text),
        summary_code=text.code,
        summary_params=text.json_params(),
        execution=str(result.execution["id"]),
        version_id=result.version_id,
        would_run_for_real={node["name"]: short_type(node["type"]) for node in plan.ask},
        failed_before=found.failed_before,
        fails_now=found.fails_now,
        differences=found.differences[:MAX_DIFFERENCES],
        ran_now=found.ran_now,
        pinned=list(plan.pins),
        ran_for_real=plan.run_for_real,
        not_run=plan.stop,
        notes=[str(note) for note in result.notes],
        notes_code=[note.code for note in result.notes],
        notes_params=[note.json_params() for note in result.notes],
    )
