"""The HTTP route that saves a change, for the web page, and how the routes report changes."""

from typing import Any

from fastapi import APIRouter
from pydantic import BaseModel, Field

from chie.access.audit import record
from chie.errors import ForbiddenError
from chie.http.openapi_errors import errors
from chie.messages.catalogue import Message
from chie.n8n.arguments import WorkflowId
from chie.n8n.models import Json
from chie.n8n.saving import Report
from chie.n8n.tool_context import ToolContext
from chie.n8n.tools.patch_workflow import PatchWorkflowArguments, PatchWorkflowTool


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


def declare_changes(router: APIRouter, context: ToolContext, *, read_only: bool) -> None:
    @router.patch("/workflows/{workflow_id}", responses=errors(400, 403, 404, 409))
    async def change_workflow(workflow_id: WorkflowId, body: ChangeRequest) -> Changed:
        """Save a change, like patch_workflow: backed up, validated, saved and read back."""
        if read_only:
            raise ForbiddenError("n8n.read_only")
        given = {"id": workflow_id, "operations": body.patch, "versionId": body.version_id}
        report = await PatchWorkflowTool(context).execute_core(PatchWorkflowArguments.model_validate(given))
        record("n8n.patch_workflow", workflow_id)
        return Changed.of(report)


def _coded(name: str, messages: list[Message]) -> dict[str, Any]:
    return {
        name: [str(message) for message in messages],
        f"{name}_code": [message.code for message in messages],
        f"{name}_params": [message.json_params() for message in messages],
    }
