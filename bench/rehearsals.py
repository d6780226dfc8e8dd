"""On a real n8n, which `make real` installs: the time of `rehearse_change` beyond n8n's own run, the copies that it
leaves behind, and the time that a change waits for the validation of its nodes.
"""

import json
import os
import statistics
import time
from contextlib import closing
from itertools import count
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any
from uuid import uuid4

import httpx2
from tests.app.processes import StdioServer
from tests.real.n8n_server import RealN8n, installed, running

from bench import node_validation
from bench.figure import Figure
from bench.table import table

REHEARSALS = int(os.environ.get("REHEARSALS", "100"))
KILL_EVERY = 4
ROUNDS = 10
AIM_SECONDS, AIM_COPIES = 3, 0
Json = dict[str, Any]


class Api:
    """n8n's API and its MCP server, without Chie."""

    def __init__(self, n8n: RealN8n) -> None:
        self._http = httpx2.Client(base_url=n8n.url, timeout=60, trust_env=False)
        self._n8n = n8n

    def close(self) -> None:
        self._http.close()

    def call(self, method: str, path: str, **more: Any) -> Any:
        answer = self._http.request(method, f"/api/v1{path}", headers={"X-N8N-API-KEY": self._n8n.key}, **more)
        answer.raise_for_status()
        return answer.json()

    def copies(self) -> int:
        rows = self.call("GET", "/workflows", params={"limit": 250})["data"]
        return sum(row["name"].startswith("chie-rehearsal") for row in rows)

    def test(self, workflow_id: str, pins: Json) -> float:
        arguments = {"workflowId": workflow_id, "pinData": pins, "triggerNodeName": "Hook"}
        params = {"name": "test_workflow", "arguments": arguments}
        headers = {"Authorization": f"Bearer {self._n8n.mcp_token}", "Accept": "application/json, text/event-stream"}
        start = time.perf_counter()
        body = {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params}
        self._http.post("/mcp-server/http", json=body, headers=headers).raise_for_status()
        return time.perf_counter() - start


def flow(path: str) -> Json:
    def node(name: str, kind: str, version: float, parameters: Json) -> Json:
        found = {"name": name, "type": f"n8n-nodes-base.{kind}", "typeVersion": version, "position": [0, 0]}
        return {**found, "id": str(uuid4()), "parameters": parameters}

    rows = [{"id": "1", "name": "合計", "value": "={{ $json.body['顧客'] }}", "type": "number"}]
    nodes = [
        node("Hook", "webhook", 2, {"path": path, "httpMethod": "POST"}) | {"webhookId": str(uuid4())},
        node("Total", "set", 3.4, {"assignments": {"assignments": rows}, "options": {}}),
    ]
    links = {"Hook": {"main": [[{"node": "Total", "type": "main", "index": 0}]]}}
    return {"name": path, "nodes": nodes, "connections": links, "settings": {"executionOrder": "v1"}}


def fail(api: Api, n8n: RealN8n) -> tuple[str, list[Json]]:
    """A published workflow that has failed, and the data that started it."""
    workflow = api.call("POST", "/workflows", json=flow(uuid4().hex))
    api.call("POST", f"/workflows/{workflow['id']}/publish", json={})
    with httpx2.Client(base_url=n8n.url, trust_env=False) as http:
        while http.post(f"/webhook/{workflow['name']}", json={"顧客": "山田"}).status_code == 404:
            time.sleep(0.1)
    query = {"workflowId": workflow["id"], "status": "error"}
    while not (rows := api.call("GET", "/executions", params=query)["data"]):
        time.sleep(0.1)
    execution = api.call("GET", f"/executions/{rows[0]['id']}", params={"includeData": "true"})
    return workflow["id"], execution["data"]["resultData"]["runData"]["Hook"][0]["data"]["main"][0]


def arguments_for(workflow_id: str) -> Json:
    value = "={{ $json.body['顧客'].length }}"
    path = "parameters.assignments.assignments[0].value"
    return {"id": workflow_id, "patch": [{"op": "setField", "node": "Total", "path": path, "value": value}]}


def measure_time(api: Api, workflow_id: str, items: list[Json]) -> Figure:
    """Median of alternating runs of the same workflow."""
    stored = api.call("GET", f"/workflows/{workflow_id}")
    body = {key: stored[key] for key in ("nodes", "connections")} | {"name": "plain copy"}
    plain = api.call("POST", "/workflows", json={**body, "settings": {"availableInMCP": True}})["id"]
    ours, theirs = [], []
    with StdioServer("n8n-mcp-server") as server:
        for _ in range(ROUNDS + 1):  # the first is not counted
            theirs.append(api.test(plain, {"Hook": items}))
            start = time.perf_counter()
            answer = json.loads(server.call("rehearse_change", **arguments_for(workflow_id))["content"][0]["text"])
            ours.append(time.perf_counter() - start)
            if answer["outcome"] != "fixed":
                raise RuntimeError(answer)
    seconds = statistics.median(ours[1:]) - statistics.median(theirs[1:])
    return Figure("a rehearsal, beyond n8n's own run", "Chie", seconds, "s", AIM_SECONDS)


def measure_copies(api: Api, home: Path, workflow_id: str) -> list[Figure]:
    """Every fourth process is killed, alternately when it has reserved a name and when n8n has made the copy."""
    killed, numbers = 0, count(100)
    server = StdioServer("n8n-mcp-server").__enter__()
    for number in range(1, REHEARSALS + 1):
        params = {"name": "rehearse_change", "arguments": arguments_for(workflow_id)}
        server.send({"jsonrpc": "2.0", "id": next(numbers), "method": "tools/call", "params": params})
        if number % KILL_EVERY:
            answer = json.loads(server.receive()["result"]["content"][0]["text"])
            if answer["outcome"] != "fixed":
                raise RuntimeError(answer)
            continue
        while not list(home.rglob("*.lock")) if killed % 2 else not api.copies():
            if server.process.poll() is not None:
                raise RuntimeError("the server ended by itself")
        server.process.kill()
        server.__exit__(None, None, None)
        killed += 1
        server = StdioServer("n8n-mcp-server").__enter__()
    end = time.monotonic() + 30
    while (api.copies() or list(home.rglob("*.lock"))) and time.monotonic() < end:
        time.sleep(0.1)
    server.__exit__(None, None, None)
    name = f"copies left after {REHEARSALS} rehearsals, {killed} of them killed"
    return [Figure(name, "Chie", api.copies(), "", AIM_COPIES)]


def main() -> list[Figure]:
    if not installed():
        raise RuntimeError("n8n is not installed: run `make real`")
    with TemporaryDirectory() as folder, running(Path(folder)) as n8n:
        home = Path(folder) / "home"
        values = {"N8N_URL": n8n.url, "N8N_API_KEY": n8n.key, "N8N_MCP_TOKEN": n8n.mcp_token, "CHIE_HOME": str(home)}
        os.environ.update(values)
        with closing(Api(n8n)) as api:
            workflow_id, items = fail(api, n8n)
            figures = [measure_time(api, workflow_id, items), *measure_copies(api, home, workflow_id)]
            return [*figures, *node_validation.measure(n8n)]


if __name__ == "__main__":
    print(table(main()))
