"""Summaries of executions: which nodes ran, how often, with how many items, and what failed."""

from collections.abc import Iterator
from datetime import datetime
from typing import Any

from chie.messages.catalogue import Message
from chie.n8n.errors import NotFoundError
from chie.n8n.execution_data import run_data, shown_item
from chie.n8n.execution_failure import failure
from chie.n8n.models import Execution, Json
from chie.n8n.workflow_summary import short_type

MAX_NAMED_NODES = 40


def row(execution: Execution) -> Json:
    """The execution as a row of a list."""
    shown: Json = {"id": str(execution["id"]), "workflowId": str(execution.get("workflowId", ""))}
    for key in ("status", "mode", "startedAt"):
        if execution.get(key) is not None:
            shown[key] = execution[key]
    if (milliseconds := duration(execution)) is not None:
        shown["durationMs"] = milliseconds
    if execution.get("retryOf"):
        shown["retryOf"] = str(execution["retryOf"])
    return shown


def summary(execution: Execution) -> Json:
    runs = run_data(execution)
    shown = row(execution)
    shown["stoppedAt"] = execution.get("stoppedAt")
    if name := (execution.get("workflowData") or {}).get("name"):
        shown["workflowName"] = name
    if failed := failure(execution):
        shown["failed"] = failed
    if note := missing_data_note(execution):
        shown["note"] = str(note)
        return shown
    nodes = [_node(name, node_runs, _types(execution)) for name, node_runs in runs.items()]
    shown["executedNodes"] = len(nodes)
    shown["totalItems"] = sum(node["items"] for node in nodes)
    shown["nodes"] = nodes
    return shown


def missing_data_note(execution: Execution) -> Message | None:
    """Set if n8n has no run data of this execution."""
    return None if run_data(execution) else Message("n8n.execution_data_missing")


def node_runs(execution: Execution, name: str, limit: int) -> Json:
    """All runs of one node, with the first items of each of its outputs."""
    runs = run_data(execution)
    found = name if name in runs else _name_of(execution, name)
    if found not in runs:
        raise NotFoundError("n8n.node_not_executed", nodes=list(runs)[:MAX_NAMED_NODES])
    return {
        "node": found,
        "type": _types(execution).get(found),
        "runs": [_run(run, limit) for run in runs[found]],
    }


def items_of(execution: Execution, limit: int) -> Json:
    """The first items of every node's outputs."""
    return {name: [_outputs(run, limit) for run in runs] for name, runs in run_data(execution).items()}


def duration(execution: Execution) -> int | None:
    try:
        start = datetime.fromisoformat(execution["startedAt"])
        stop = datetime.fromisoformat(execution["stoppedAt"])
        return round((stop - start).total_seconds() * 1000)
    except (KeyError, TypeError, ValueError):
        return None


def _node(name: str, runs: list[Json], types: dict[str, str]) -> Json:
    shown: Json = {"node": name}
    if name in types:
        shown["type"] = types[name]
    if len(runs) > 1:
        shown["runs"] = len(runs)
    shown["items"] = sum(len(items) for run in runs for _, items in _outputs_of(run))
    shown["ms"] = sum(run.get("executionTime") or 0 for run in runs)
    states = {run.get("executionStatus", "success") for run in runs} - {"success"}
    if any(run.get("error") for run in runs):
        states.add("error")
    if states:
        shown["status"] = ", ".join(sorted(states))
    return shown


def _run(run: Json, limit: int) -> Json:
    shown: Json = {"status": "error" if run.get("error") else run.get("executionStatus", "success")}
    shown["ms"] = run.get("executionTime")
    if sources := [source.get("previousNode") for source in run.get("source") or [] if source]:
        shown["inputFrom"] = sources
    if error := run.get("error"):
        details = error if isinstance(error, dict) else {"message": str(error)}
        shown["error"] = {key: details.get(key) for key in ("message", "description") if details.get(key)}
    shown["outputs"] = _outputs(run, limit)
    return shown


def _outputs(run: Json, limit: int) -> Json:
    return {
        name: {"count": len(items), "items": [shown_item(item) for item in items[:limit]]}
        for name, items in _outputs_of(run)
    }


def _outputs_of(run: Json) -> Iterator[tuple[str, list[Any]]]:
    """`main`, `main[1]`, `ai_tool` … with the items of each output; empty outputs are null."""
    for kind, outputs in (run.get("data") or {}).items():
        for number, items in enumerate(outputs or []):
            yield (f"{kind}[{number}]" if number else kind), items or []


def _types(execution: Execution) -> dict[str, str]:
    nodes = (execution.get("workflowData") or {}).get("nodes") or []
    return {node["name"]: short_type(node["type"]) for node in nodes if "name" in node and "type" in node}


def _name_of(execution: Execution, node_id: str) -> str:
    nodes = (execution.get("workflowData") or {}).get("nodes") or []
    return next((str(node["name"]) for node in nodes if node.get("id") == node_id), node_id)
