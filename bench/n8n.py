"""Size and latency of our answers, against n8n's own API for the same question."""

import asyncio
import json
import statistics
import time
from collections.abc import Awaitable, Callable
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import httpx2
import tiktoken
from pydantic import SecretStr
from tests.fakes.n8n import KEY, FakeN8n
from tests.fakes.n8n_mcp import TOKEN

from bench.figure import Figure
from bench.table import table
from chie.n8n.registry import ToolRegistry, create_registry
from chie.n8n.server import create_client, create_context
from chie.n8n.settings import N8nSettings

NODES, WORKFLOWS, ITEMS = 40, 100, 200
ROUNDS = 60
OWN_TOOLS_SIZE = 134_189
API, CHIE = "n8n's API", "Chie"
Json = dict[str, Any]

CODE = """\
// 注文ごとに税込の合計を計算する
const rows = $input.all();
const totals = {};
for (const row of rows) {
  const order = row.json.order ?? {};
  const price = Number(order.price ?? 0) * Number(order.quantity ?? 1);
  totals[order.customer] = (totals[order.customer] ?? 0) + Math.round(price * 1.1);
}
return Object.entries(totals).map(([customer, total]) => ({ json: { customer, total } }));
"""


def node(number: int) -> Json:
    """In the editor's format: a third each of Code, HTTP Request and Set."""
    name, base = f"Step {number} 処理", {"id": f"{number:032x}", "typeVersion": 2, "position": [number * 220, 300]}
    match number % 3:
        case 0:
            return {**base, "name": name, "type": "n8n-nodes-base.code", "parameters": {"jsCode": CODE}}
        case 1:
            headers = {"parameters": [{"name": "Accept", "value": "application/json"}]}
            parameters = {
                "method": "POST",
                "url": "={{ $json.base }}/v2/orders/{{ $json.order.id }}/lines",
                "sendHeaders": True,
                "headerParameters": headers,
                "sendBody": True,
                "jsonBody": "={{ JSON.stringify($json.order.lines.map(l => ({sku: l.sku, qty: l.quantity}))) }}",
                "options": {"timeout": 10000, "response": {"response": {"neverError": True}}},
            }
            credentials = {"httpHeaderAuth": {"id": "Zx81aBcD", "name": "Shop API"}}
            kind = "n8n-nodes-base.httpRequest"
            return {**base, "name": name, "type": kind, "parameters": parameters, "credentials": credentials}
        case _:
            rows = [
                {"id": f"{row}", "name": f"field{row}", "value": f"={{{{ $('Step 1 処理').item.json.f{row} }}}}"}
                for row in range(6)
            ]
            return {**base, "name": name, "type": "n8n-nodes-base.set", "parameters": {"assignments": rows}}


def flow(name: str, size: int) -> Json:
    nodes = [{**node(0), "name": "Webhook", "type": "n8n-nodes-base.webhook", "parameters": {"path": name}}]
    nodes += [node(number) for number in range(1, size)]
    ends = [[[{"node": after["name"], "type": "main", "index": 0}]] for after in nodes[1:]]
    links = {before["name"]: {"main": end} for before, end in zip(nodes[:-1], ends, strict=True)}
    return {"name": name, "nodes": nodes, "connections": links, "settings": {"executionOrder": "v1"}}


def failed_execution(workflow: Json) -> Json:
    item = {"json": {"id": 1, "顧客": "株式会社サンプル", "sku": "AB-1002", "price": 1280, "note": "至急"}}
    runs: Json = {
        own["name"]: [
            {"startTime": 1, "executionTime": 12, "executionStatus": "success", "data": {"main": [[item] * ITEMS]}}
        ]
        for own in workflow["nodes"][:6]
    }
    last = workflow["nodes"][6]["name"]
    error = {"message": "The service refused the connection", "node": {"name": last}, "stack": "at x\n" * 40}
    runs[last] = [{"startTime": 2, "executionTime": 3, "executionStatus": "error", "error": error}]
    result = {"runData": runs, "error": error, "lastNodeExecuted": last}
    return {"status": "error", "workflowId": workflow["id"], "data": {"resultData": result}, "workflowData": workflow}


def prepare(n8n: FakeN8n) -> dict[str, tuple[str, Json, str]]:
    """A question, our tool call for it, and n8n's path for the same data."""
    big = n8n.add_workflow(**flow("大きな注文フロー", NODES), active=True)
    for number in range(WORKFLOWS - 1):
        n8n.add_workflow(**flow(f"Flow {number}", 8), active=number % 2 == 0)
    n8n.add_execution(**failed_execution(big))
    return {
        f"a workflow of {NODES} nodes": ("get_workflow", {"id": big["id"]}, f"/workflows/{big['id']}"),
        f"a list of {WORKFLOWS} workflows": ("list_workflows", {"limit": WORKFLOWS}, f"/workflows?limit={WORKFLOWS}"),
        f"a failed execution of {ITEMS} items": ("get_execution", {"id": "1"}, "/executions/1?includeData=true"),
    }


async def seconds(act: Callable[[], Awaitable[object]]) -> float:
    start = time.perf_counter()
    await act()
    return time.perf_counter() - start


async def compare(n8n: FakeN8n, registry: ToolRegistry) -> list[Figure]:
    count = tiktoken.get_encoding("o200k_base").encode if _has_tokens() else None
    unit = "tokens" if count else "characters"
    figures = []
    async with httpx2.AsyncClient(base_url=f"{n8n.url}/api/v1", headers={"X-N8N-API-KEY": KEY}, verify=False) as http:
        for question, (tool, arguments, path) in prepare(n8n).items():

            async def ask(tool: str = tool, arguments: Json = arguments) -> str:
                return (await registry.get(tool).handler(arguments))["content"][0]["text"]

            async def fetch(path: str = path) -> str:
                text = (await http.get(path)).text
                json.loads(text)  # a caller of the API has to parse its JSON too
                return text

            sizes = [len(count(text) if count else text) for text in (await fetch(), await ask())]
            times: tuple[list[float], list[float]] = ([], [])
            for _ in range(ROUNDS):  # alternately, so that load affects both
                times[0].append(await seconds(fetch))
                times[1].append(await seconds(ask))
            theirs, ours = (statistics.median(own) * 1000 for own in times)
            figures += [
                *(Figure(f"{question}, size", who, size, unit) for who, size in zip((API, CHIE), sizes, strict=True)),
                Figure(f"{question}, share", CHIE, 100 * sizes[1] / sizes[0], "%", 5),
                *(Figure(question, who, ms, "ms") for who, ms in ((API, theirs), (CHIE, ours))),
                Figure(f"{question}, ratio", CHIE, ours / theirs, "×", 1.2),
            ]
    return figures


def tools_size(registry: ToolRegistry) -> list[Figure]:
    """What a model reads of all tools, whatever it asks; n8n's own MCP server was measured on 2.41.1."""
    shown = [(one.name, one.description, one.input_schema) for one in registry.definitions()]
    rows = [{"name": name, "description": text, "parameters": schema} for name, text, schema in shown]
    size = sum(len(json.dumps(row, ensure_ascii=False, separators=(",", ":"))) for row in rows)
    what = "tools/list for a model"
    return [
        Figure(what, "n8n's MCP server, 50 tools", OWN_TOOLS_SIZE, "characters"),
        Figure(what, f"Chie, {len(rows)} tools", size, "characters", 12_000),
    ]


def _has_tokens() -> bool:
    """tiktoken fetches its table once; without a network, characters are counted."""
    try:
        tiktoken.get_encoding("o200k_base")
    except Exception:  # noqa: BLE001 - any reason that the table is missing
        return False
    return True


def main() -> list[Figure]:
    """Median of alternating calls, both over loopback to the same fake n8n."""
    with FakeN8n() as n8n, TemporaryDirectory() as folder:
        token = SecretStr(TOKEN)
        chosen = N8nSettings(url=n8n.url, api_key=SecretStr(KEY), mcp_token=token, backup_dir=Path(folder))

        async def run() -> list[Figure]:
            client = create_client(chosen)
            registry = create_registry(create_context(chosen, client))
            try:
                return [*tools_size(registry), *await compare(n8n, registry)]
            finally:
                await client.aclose()

        return asyncio.run(run())


if __name__ == "__main__":
    print(table(main()))
