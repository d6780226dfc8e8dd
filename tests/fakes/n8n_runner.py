"""Runs workflows of the fake n8n, with nodes whose parameters say what they do.

    {"fail": "message"}   the node fails with this message
    {"set": {…}}          every item gets these fields
    {"output": 1}         the items leave through this output

`={{ $env.NAME }}` is read from `environment`, and `={{ $node["B"].parameter.x }}` evaluates that of another node.
Nodes without these parameters pass their items on. `ran` has the names of the nodes that were not pinned.
"""

import re
import threading
from copy import deepcopy
from typing import Any

from tests.fakes.n8n_mcp import NOT_FOUND
from tests.fakes.n8n_store import Store

Json = dict[str, Any]

_ENVIRONMENT = re.compile(r"=\{\{ \$env\.(\w+) \}\}")
_PARAMETER = re.compile(r'=\{\{ \$node\["(\w+)"\]\.parameter\.(\w+) \}\}')


class Runner:
    def __init__(self, store: Store) -> None:
        self._store = store
        self.environment: dict[str, str] = {}
        self.ran: list[str] = []
        self.reached = threading.Event()  # set when a test run starts
        self.proceed = threading.Event()  # a test run waits for it
        self.proceed.set()

    def test_workflow(self, arguments: Json) -> Json:
        workflow = self._store.workflows.get(arguments["workflowId"])
        if workflow is None or not workflow["settings"].get("availableInMCP"):
            return {"executionId": None, "status": "error", "error": NOT_FOUND}
        unknown = set(arguments["pinData"]) - {node["name"] for node in workflow["nodes"]}
        if unknown:
            message = f"Pin data contains unknown node names: {', '.join(unknown)}. Check for typos."
            return {"executionId": None, "status": "error", "error": message}
        self.reached.set()
        self.proceed.wait(30)
        execution = self.run(workflow, arguments["triggerNodeName"], arguments["pinData"], mode="manual")
        failed = (
            {"error": execution["data"]["resultData"]["error"]["message"]} if execution["status"] == "error" else {}
        )
        return {"executionId": execution["id"], "status": execution["status"], **failed}

    def run(self, workflow: Json, trigger: str, pins: Json, *, mode: str = "webhook") -> Json:
        """The execution of the workflow, stored."""
        nodes = {node["name"]: node for node in workflow["nodes"]}
        runs: Json = {}
        result: Json = {"runData": runs}
        waiting: list[tuple[str, list[Json], list[Json]]] = [(trigger, [{"json": {}}], [])]
        while waiting and "error" not in result:
            name, items, source = waiting.pop(0)
            run: Json = {"startTime": len(runs), "executionIndex": len(runs), "executionTime": 1, "source": source}
            runs.setdefault(name, []).append(run)
            result["lastNodeExecuted"] = name
            outputs = self._outputs(nodes[name], items, pins, run, result, nodes)
            ends = (workflow["connections"].get(name) or {}).get("main") or []
            for number, (slot, found) in enumerate(zip(ends, outputs, strict=False)):
                source = [{"previousNode": name, "previousNodeOutput": number}]
                waiting += [(end["node"], found, source) for end in (slot or []) if found]
        status = "error" if "error" in result else "success"
        return self._store.add_execution(
            workflowId=workflow["id"],
            status=status,
            mode=mode,
            finished=status == "success",
            workflowVersionId=workflow["versionId"],
            data={"resultData": result},
            workflowData=deepcopy({key: workflow[key] for key in ("id", "name", "nodes", "connections")}),
        )

    def _outputs(
        self, node: Json, items: list[Json], pins: Json, run: Json, result: Json, nodes: Json
    ) -> list[list[Json]]:
        name, parameters = node["name"], node["parameters"]
        if name in pins:
            outputs = [pins[name]]
        else:
            self.ran.append(name)
            if "fail" in parameters:
                run["error"] = result["error"] = {"message": parameters["fail"], "node": {"name": name}}
                run["executionStatus"] = "error"
                return []
            given = {key: self._evaluated(value, nodes) for key, value in parameters.get("set", {}).items()}
            made = [{**item, "json": {**item["json"], **given}} for item in items]
            outputs = [[] for _ in range(parameters.get("output", 0))] + [made]
        run |= {"executionStatus": "success", "data": {"main": outputs}}
        return outputs

    def _evaluated(self, value: Any, nodes: Json) -> Any:
        if not isinstance(value, str):
            return value
        if found := _ENVIRONMENT.fullmatch(value):
            return self.environment.get(found[1])
        if found := _PARAMETER.fullmatch(value):
            return self._evaluated(nodes[found[1]]["parameters"].get(found[2]), nodes)
        return value
