"""An execution as a recording: what came out of each node then, under the names that the nodes have now."""

from dataclasses import dataclass

from chie.n8n.execution_data import run_data
from chie.n8n.graph import is_trigger
from chie.n8n.models import Execution, Json, Node, Workflow

Items = list[Json]


@dataclass(frozen=True)
class Recording:
    """`runs` has the runs of each node, in the order in which the nodes ran first; `trigger` started the execution."""

    runs: dict[str, list[Json]]
    failed: str | None
    trigger: str | None

    def succeeded(self, name: str) -> bool:
        return name in self.runs and not any(run.get("error") for run in self.runs[name])

    def items(self, name: str) -> Items | None:
        """The items of the first run if a pin can replace them: a pin has one output, and is the same in every run."""
        if not self.succeeded(name) or not self.runs[name]:
            return None
        outputs = ((self.runs[name][0].get("data") or {}).get("main")) or []
        if not outputs or any(outputs[1:]):
            return None
        return [item for item in outputs[0] or [] if isinstance(item, dict)]

    def repeats(self, name: str) -> bool:
        """Whether the node ran more than once, with different items."""
        return any(run.get("data") != self.runs[name][0].get("data") for run in self.runs[name][1:])


def read_recording(execution: Execution, failed: str | None, now: Workflow) -> Recording:
    """The recording of an execution for the workflow `now`, in which nodes may have been renamed since."""
    old: list[Node] = (execution.get("workflowData") or {}).get("nodes") or []
    names = _names_now(old, now["nodes"])
    runs = {names.get(name, name): found for name, found in run_data(execution).items() if found}
    ordered = dict(sorted(runs.items(), key=lambda entry: _index(entry[1])))
    triggers = {names.get(node["name"], node["name"]) for node in old if "name" in node and is_trigger(node)}
    trigger = next((name for name in ordered if name in triggers), None)
    return Recording(ordered, names.get(failed, failed) if failed else None, trigger)


def _names_now(old: list[Node], now: list[Node]) -> dict[str, str]:
    by_id = {node["id"]: node["name"] for node in now if node.get("id") and "name" in node}
    return {node["name"]: by_id[node["id"]] for node in old if "name" in node and node.get("id") in by_id}


def _index(runs: list[Json]) -> tuple[int, int]:
    first = runs[0] if runs else {}
    return int(first.get("startTime") or 0), int(first.get("executionIndex") or 0)
