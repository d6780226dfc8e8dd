"""The result of a rehearsal for a model: small, the outcome first."""

from chie.messages.catalogue import Message
from chie.n8n.graph import quoted
from chie.n8n.models import Json
from chie.n8n.rehearsal.comparison import Difference
from chie.n8n.rehearsal.rehearsal import Result
from chie.n8n.workflow_summary import short_type

MAX_DIFFERENCES = 10
MAX_NAMES = 20


def shown(result: Result) -> Json:
    found, plan = result.comparison, result.plan
    answer: Json = {"outcome": result.outcome, "summary": str(summary(result))}
    if plan.ask:
        answer["wouldRunForReal"] = {node["name"]: short_type(node["type"]) for node in plan.ask}
    answer["execution"] = str(result.execution["id"])
    if found.failed_before:  # get_execution has the rest
        answer["failedBefore"] = {key: found.failed_before.get(key) for key in ("node", "message")}
    answer |= {"failsNow": found.fails_now} if found.fails_now else {}
    if found.differences:
        answer["differences"] = [_difference(one) for one in found.differences[:MAX_DIFFERENCES]]
    if more := len(found.differences) - MAX_DIFFERENCES:
        answer |= {"moreDifferences": more} if more > 0 else {}
    if found.ran_now:
        answer["ranNow"] = dict(list(found.ran_now.items())[:MAX_NAMES])
    for key, names in (("pinned", list(plan.pins)), ("ranForReal", plan.run_for_real), ("notRun", plan.stop)):
        if names and not plan.ask:
            answer[key] = names[:MAX_NAMES]
    if result.notes:
        answer["notes"] = [str(note) for note in result.notes]
    return answer


def summary(result: Result) -> Message:
    """One sentence what came out, one what to do next."""
    found, plan = result.comparison, result.plan
    match result.outcome:
        case "needs_permission":
            return Message("n8n.rehearsal_needs_permission", nodes=[quoted(node["name"]) for node in plan.ask])
        case "still_failing" | "newly_failing":
            node, words = _where(found.fails_now)
            code = "n8n.rehearsal_still_failing" if result.outcome == "still_failing" else "n8n.rehearsal_newly_failing"
            return Message(code, node=node, message=words)
        case "different":
            return Message("n8n.rehearsal_different", count=len(found.differences))
        case "not_proven":
            return Message("n8n.rehearsal_not_proven")
        case "same":
            return Message("n8n.rehearsal_same")
    return Message("n8n.rehearsal_fixed", node=_where(found.failed_before)[0])


def _where(failed: Json | None) -> tuple[str, str]:
    found = failed or {}
    return quoted(str(found.get("node") or "?")), str(found.get("message") or "?").rstrip(".")


def _difference(one: Difference) -> Json:
    if not one.at:
        return {"node": one.node, "ran": "then, not now"}
    return {"node": one.node, "at": one.at, "then": one.before, "now": one.after}
