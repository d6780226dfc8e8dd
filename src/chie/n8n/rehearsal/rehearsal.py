"""Tries a change on the data of an execution, on a copy that is removed afterwards. Nothing is saved or published."""

import asyncio
import logging
from collections.abc import Sequence
from dataclasses import dataclass, field
from uuid import uuid4

from chie.errors import ChieError
from chie.messages.catalogue import Message
from chie.n8n.client import N8nApiClient
from chie.n8n.errors import ApiError, ApiErrorContext, NotFoundError, ValidationError, ValidationErrorContext
from chie.n8n.execution_failure import failure
from chie.n8n.graph import each_connection, quoted, quoted_names
from chie.n8n.instance.client import InstanceClient
from chie.n8n.instance.errors import one_line
from chie.n8n.merge import explicit_settings
from chie.n8n.models import Execution, Json, Node, Workflow
from chie.n8n.patch import Operation, apply_all
from chie.n8n.rehearsal.comparison import Comparison, Outcome, compare
from chie.n8n.rehearsal.copies import Copies
from chie.n8n.rehearsal.environment import without_environment
from chie.n8n.rehearsal.plan import Plan, make_plan, stops_before, touched_nodes
from chie.n8n.rehearsal.recording import Recording, read_recording
from chie.n8n.validation import validate

logger = logging.getLogger(__name__)

RUN_SECONDS = 60
RESPONSE_SECONDS = RUN_SECONDS + 15.0
READ_ATTEMPTS = 40
READ_PAUSE_SECONDS = 0.05
FINISHED = frozenset({"success", "error", "crashed", "canceled", "waiting"})
FAILED = frozenset({"error", "crashed"})

# Keys that concern the original alone: its error workflow must not be called, its callers not be admitted.
ORIGINAL_SETTINGS = frozenset({"errorWorkflow", "callerPolicy", "callerIds"})
COPY_SETTINGS: Json = {
    "availableInMCP": True,
    "executionTimeout": RUN_SECONDS,
    "saveManualExecutions": True,
    "saveDataErrorExecution": "all",
    "saveDataSuccessExecution": "all",
}


@dataclass
class Result:
    outcome: Outcome
    execution: Execution
    plan: Plan
    comparison: Comparison
    version_id: str | None  # of the stored workflow that the change was applied to
    notes: list[Message] = field(default_factory=list)


class Rehearsal:
    def __init__(self, client: N8nApiClient, instance: InstanceClient, copies: Copies) -> None:
        self._client = client
        self._instance = instance
        self._copies = copies
        self._swept = False

    @property
    def available(self) -> bool:
        return self._instance.configured

    async def rehearse(
        self, workflow_id: str, patch: Sequence[Operation], execution_id: str | None, run_for_real: Sequence[str]
    ) -> Result:
        self._instance.require_token()
        stored, execution = await asyncio.gather(
            self._client.get_workflow(workflow_id), self._execution(workflow_id, execution_id)
        )
        changed = _changed(stored, patch)
        failed = failure(execution)
        then = read_recording(execution, (failed or {}).get("node"), changed)
        _require_recording(then, changed, execution)
        _require_known(run_for_real, changed)
        plan = make_plan(changed, then, touched_nodes(stored, changed), run_for_real)
        notes = _notes(stored, execution, plan)
        result = Result("needs_permission", execution, plan, Comparison(failed), stored.get("versionId"), notes)
        if not plan.ask:
            await self._run(changed, then, result)
        return result

    async def clean_up(self) -> None:
        """Remove the copies of processes that were killed; runs at every start."""
        try:
            if count := await self._copies.remove_abandoned():
                logger.warning("[rehearse_change] Removed %d copies of rehearsals that were interrupted", count)
        except (ChieError, OSError) as error:
            logger.warning("[rehearse_change] Copies of interrupted rehearsals are removed later: %s", error)

    async def _execution(self, workflow_id: str, execution_id: str | None) -> Execution:
        if execution_id is None:
            query = {"workflowId": workflow_id, "status": "error", "limit": "1"}
            rows = (await self._client.list_executions(query)).rows
            if not rows:
                raise NotFoundError("n8n.no_failed_execution")
            execution_id = str(rows[0]["id"])
        execution = await self._client.get_execution(execution_id, include_data=True)
        if str(execution.get("workflowId")) != workflow_id:
            raise ValidationError("n8n.execution_of_other_workflow", ValidationErrorContext(field="execution"))
        return execution

    async def _run(self, changed: Workflow, then: Recording, result: Result) -> None:
        if not self._swept:
            await self._copies.remove_abandoned()
            await self._copies.remove_old()
            self._swept = True
        async with self._copies.copy(_copy(changed, result.plan), result.notes) as copy_id:
            execution = await self._test(copy_id, result.plan)
        now = read_recording(execution, None, changed)
        before = result.comparison.failed_before
        result.comparison = compare(then, execution, now, set(result.plan.pins))
        result.comparison.failed_before = before
        result.outcome = _outcome(changed, then, now, execution, result)

    async def _test(self, copy_id: str, plan: Plan) -> Execution:
        arguments = {
            "workflowId": copy_id,
            "pinData": plan.pins,
            "triggerNodeName": plan.trigger,
            "timeout": RUN_SECONDS,
        }
        answer = await self._instance.call("test_workflow", arguments, reads=False, seconds=RESPONSE_SECONDS)
        if not answer.get("executionId"):
            sentence = one_line(str(answer.get("error") or "")).rstrip(".")
            reason = Message("n8n.with_reason", sentence=sentence) if sentence else Message("n8n.without_reason")
            context = ApiErrorContext(operation="test_workflow", error_details=sentence or None)
            raise ApiError("n8n.rehearsal_not_started", context=context, reason=reason)
        return await self._finished(str(answer["executionId"]))

    async def _finished(self, execution_id: str) -> Execution:
        """n8n answers when the run has ended, which may be a moment before its data is saved."""
        for _ in range(READ_ATTEMPTS):
            execution = await self._client.get_execution(execution_id, include_data=True)
            if execution.get("status") in FINISHED:
                break
            await asyncio.sleep(READ_PAUSE_SECONDS)
        return execution


def _changed(stored: Workflow, patch: Sequence[Operation]) -> Workflow:
    changed = apply_all(stored, patch)
    validate(changed["nodes"], changed["connections"]).raise_errors()
    return changed


def _require_recording(then: Recording, changed: Workflow, execution: Execution) -> None:
    if not then.runs:
        raise ValidationError("n8n.rehearsal_without_data", ValidationErrorContext(field="execution"))
    enabled = {node["name"] for node in changed["nodes"] if not node.get("disabled")}
    if then.trigger is None or then.trigger not in enabled:
        context = ValidationErrorContext(field="execution", constraint="started by a trigger")
        raise ValidationError("n8n.rehearsal_without_trigger", context, execution=str(execution["id"]))


def _require_known(names: Sequence[str], workflow: Workflow) -> None:
    known = {node["name"] for node in workflow["nodes"]}
    if unknown := [quoted(name) for name in names if name not in known]:
        context = ValidationErrorContext(field="run_for_real")
        raise ValidationError("n8n.nodes_unknown", context, unknown=unknown, nodes=quoted_names(workflow["nodes"]))


def _copy(workflow: Workflow, plan: Plan) -> Json:
    """The body of the copy: without connections to nodes that must not run, and without their credentials and
    expressions that others could use."""
    stopped, real = set(plan.stop), set(plan.run_for_real)
    real |= _sub_nodes(workflow, real)
    connections: Json = {}
    for source, kind, output, target in each_connection(workflow["connections"]):
        if target["node"] not in stopped:
            slots = connections.setdefault(source, {}).setdefault(kind, [])
            slots += [[] for _ in range(output + 1 - len(slots))]
            slots[output].append(target)
    kept = explicit_settings({k: v for k, v in (workflow.get("settings") or {}).items() if k not in ORIGINAL_SETTINGS})
    return {
        "nodes": [_copied(node, for_real=node["name"] in real) for node in workflow["nodes"]],
        "connections": connections,
        "settings": {**kept, **COPY_SETTINGS},
    }


def _sub_nodes(workflow: Workflow, names: set[str]) -> set[str]:
    """The sub-nodes of these nodes, such as the model of an agent."""
    return {
        source
        for source, kind, _, target in each_connection(workflow["connections"])
        if kind != "main" and target["node"] in names
    }


def _copied(node: Node, *, for_real: bool) -> Node:
    copied = dict(node)
    if not for_real:
        copied.pop("credentials", None)
        copied["parameters"] = without_environment(node.get("parameters") or {})
    return {**copied, "webhookId": str(uuid4())} if "webhookId" in copied else copied


def _notes(stored: Workflow, execution: Execution, plan: Plan) -> list[Message]:
    notes = []
    version = execution.get("workflowVersionId")
    if version and stored.get("versionId") and version != stored["versionId"]:
        notes.append(Message("n8n.rehearsal_workflow_changed"))
    for code, names in (
        ("n8n.rehearsal_change_pinned", plan.unproven),
        ("n8n.rehearsal_pin_repeated", plan.repeated),
        ("n8n.rehearsal_stops_before", plan.stop),
    ):
        if names:
            notes.append(Message(code, nodes=[quoted(name) for name in names]))
    return notes


def _outcome(changed: Workflow, then: Recording, now: Recording, execution: Execution, result: Result) -> Outcome:
    failed, status = then.failed, str(execution.get("status"))
    if status in FAILED:
        return "still_failing" if result.comparison.failed_before else "newly_failing"
    if status != "success":
        result.notes.append(Message("n8n.rehearsal_not_finished", status=status))
        return "not_proven"
    if failed and not now.succeeded(failed) and stops_before(changed, result.plan, failed):
        return "not_proven"
    if failed and failed not in now.runs:  # intended if another branch is right, but not if the node was cut off
        result.notes.append(Message("n8n.rehearsal_failed_node_not_run", node=quoted(failed)))
    expected = result.plan.touched if result.comparison.failed_before else set()
    if any(difference.node not in expected for difference in result.comparison.differences):
        return "different"
    return "fixed" if result.comparison.failed_before else "same"
